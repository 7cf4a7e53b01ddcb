"""The form that asks: a question goes to real miners and its answer comes back; the token is kept nowhere."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.served import Site, serve_folder
from browser.windows import Window, open_window
from chromium import need_chromium
from engine.subnet import HONEST, open_subnet
from service.holders import place, show
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet_files import save_validator_settings
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.senses.local import LocalSenses

pytestmark = pytest.mark.paired
DOCUMENT = generate_document("asked in a browser", 2500).text
STORES = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])"
ANSWER_MS = 45_000


@pytest.fixture(scope="module")
def runner(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MechanismRunner]:
    need_chromium()
    with open_subnet(tmp_path_factory.mktemp("asked"), senses) as subnet:
        yield subnet.runner(only=HONEST)


@pytest.fixture(scope="module")
def site(runner: MechanismRunner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    store = runner.round_context.journal.store
    place(store, "app", ("ask",))
    place(store, "reader", ("read",))
    folder: Path = tmp_path_factory.mktemp("asking")
    save_validator_settings(folder, VALIDATORS[0])
    with serve_folder(folder, WEIGHBEAM_STORE__URL=str(store.engine.url)) as served:
        yield served


@pytest.fixture
def window(browser: Browser, site: Site) -> Iterator[Window]:
    with open_window(browser, site.url) as opened:
        opened.go("/ask")
        yield opened


def ask(page: Page, token: str, text: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_label("What").select_option("chunking")
    page.get_by_label("Text").fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()


def list_traces(window: Window) -> str:
    """All that is left of a visit: addresses, storages, cookies, what the page says."""
    cookies: Any = window.page.context.cookies()
    return json.dumps([window.asked, window.page.url, window.run(STORES), cookies, window.page.content()])


def test_the_best_answer_comes_back(window: Window, runner: MechanismRunner) -> None:
    page = window.page
    ask(page, show("app"), DOCUMENT)
    expect(page.locator("#progress")).to_contain_text("waiting", timeout=ANSWER_MS)
    playing = threading.Thread(target=lambda: asyncio.run(runner.play_round()))
    playing.start()
    expect(page.locator("#result")).to_be_visible(timeout=ANSWER_MS)
    playing.join(30)
    for said in ("taken in as", "answered by"):
        expect(page.locator("#progress")).to_contain_text(said)
    chunks = page.locator("#said .piece").all_text_contents()
    assert " ".join(chunks).split() == DOCUMENT.split()
    assert page.locator("#tree summary").count() > 0
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert show("app") not in list_traces(window)
    assert DOCUMENT[:40] not in json.dumps(window.asked)
    window.check_width()
    window.audit()
    window.check()


@pytest.mark.parametrize(
    ("token", "told"),
    [("wb_0000_wrong", "bad_token"), ("no token", "bad_token"), (show("reader"), "missing_scope")],
)
def test_a_token_that_is_none_is_told(window: Window, token: str, told: str) -> None:
    ask(window.page, token, DOCUMENT)
    expect(window.page.locator("#progress")).to_contain_text(told, timeout=ANSWER_MS)
    expect(window.page.locator("#progress .badge.bad")).to_be_visible()
    expect(window.page.locator("#result")).to_be_hidden()
    expect(window.page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert token not in list_traces(window)
    assert all("/v1/chunking/requests" in fault for fault in window.faults)


def test_what_cannot_be_asked_is_told(window: Window) -> None:
    ask(window.page, show("app"), " ")
    expect(window.page.locator("#progress .badge.bad")).to_be_visible(timeout=ANSWER_MS)
