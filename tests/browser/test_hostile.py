"""Whatever miners, contributors and callers write stays text: nothing of it runs, leads anywhere or bends a page."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from browser import hostile_journal as hostile
from browser.served import Site, serve_folder
from browser.windows import DESKTOP, PHONE, Window, open_window
from chromium import need_chromium

pytestmark = pytest.mark.paired
SAID = "() => document.body.innerText"
PATHS = tuple(hostile.list_paths(lambda text: quote(text, safe="")))
TRIED = "() => [window.pwned, document.querySelectorAll('main img, main b, main script:not([type])').length]"


@pytest.fixture(scope="module")
def site(cache, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    need_chromium()
    folder = tmp_path_factory.mktemp("hostile")
    hostile.fill_folder(folder)
    with serve_folder(folder) as served:
        yield served


@pytest.fixture(scope="module")
def window(browser: Browser, site: Site) -> Iterator[Window]:
    with open_window(browser, site.url) as opened:
        yield opened


@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_attacks_is_a_page_of_text(window: Window, path: str) -> None:
    window.go(path)
    window.see_charts()
    assert window.run(TRIED) == [None, 0]
    window.audit()
    for size in (PHONE, DESKTOP):
        window.page.set_viewport_size(size)
        window.check_width()
    window.check()


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", hostile.SCRIPT),
        ("/attacks", hostile.CLOSING),
        ("/novelty", "contributors"),
        (f"/rounds/{quote(hostile.name_round('chunking'), safe='')}", hostile.CLOSING),
        (f"/rounds/{quote(hostile.name_round('inference'), safe='')}", hostile.IMAGE),
        (f"/rounds/{quote(hostile.name_round('inference'), safe='')}/{quote(hostile.HOTKEYS[5])}", hostile.SCRIPT),
    ],
)
def test_attacks_are_shown_as_they_were_written(window: Window, path: str, words: str) -> None:
    window.go(path)
    assert words in window.run(SAID)


def test_a_users_question_is_shown_to_nobody_else(window: Window) -> None:
    window.go("/rounds/chunking-2")
    said = window.run("() => document.querySelector('#task').innerText")
    assert "An organic request" in said
    assert "window.pwned" not in said
    assert "They said" not in window.run(SAID)
