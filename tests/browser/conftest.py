"""A browser for each module, and the demo's journal served by a real process.

Playwright keeps an event loop in this thread while it is open, so it is not kept for other modules' tests.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browser.served import Site, copy_demo, serve_folder
from browser.windows import open_browser
from chromium import need_chromium
from demo_run import Played


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser(need_chromium()) as opened:
        yield opened


@pytest.fixture(scope="session")
def demo_site(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Read by many tests, changed by none."""
    need_chromium()
    folder: Path = tmp_path_factory.mktemp("site")
    with serve_folder(copy_demo(played[1], folder)) as site:
        yield site
