"""An open page keeps itself current: what happens shows up within seconds, and nothing the reader did is undone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.served import Site, serve_folder
from browser.windows import Window, open_window
from chromium import need_chromium
from engine.small_subnet import Observed, observe_example, play
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet_files import save_validator_settings
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

pytestmark = pytest.mark.paired
SOON_MS = 20_000
RESTART_MS = 60_000
MARK, MARKED = "() => { window.marker = 1; }", "() => window.marker === 1"


@pytest.fixture(scope="module")
def observed(senses: LocalSenses) -> Observed:
    return observe_example(senses)


@pytest.fixture(scope="module")
def site(observed: Observed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    need_chromium()
    folder: Path = tmp_path_factory.mktemp("live")
    save_validator_settings(folder, VALIDATORS[0])
    with serve_folder(folder) as served:
        yield served


@pytest.fixture(scope="module")
def store(site: Site) -> Iterator[Store]:
    opened = site.open_store()
    yield opened
    opened.close()


@pytest.fixture
def window(browser: Browser, site: Site) -> Iterator[Window]:
    with open_window(browser, site.url) as opened:
        yield opened


def await_live(window: Window) -> None:
    expect(window.page.locator("#liveness")).to_have_text("live", timeout=SOON_MS)
    window.run(MARK)


def test_a_round_and_an_alert_show_up_by_themselves(window: Window, store: Store, observed: Observed) -> None:
    play(Journal(store), observed, "chunking-before", time.time())
    window.go("/")
    await_live(window)
    play(Journal(store), observed, "chunking-live", time.time())
    expect(window.page.locator("#newest")).to_contain_text("chunking-live", timeout=SOON_MS)
    expect(window.page.locator("#mechanisms a[href='/rounds/chunking-live']")).to_be_visible(timeout=SOON_MS)
    Alerts(store, time.time).tell("clock_skew", "warning", "the clock is <i>late</i>")
    expect(window.page.locator("#alerts")).to_contain_text("the clock is <i>late</i>", timeout=SOON_MS)
    assert window.run(MARKED), "the page was never left"
    window.see_charts()
    window.audit()
    window.check()


def test_what_the_reader_did_outlives_an_update(window: Window, store: Store, observed: Observed) -> None:
    play(Journal(store), observed, "chunking-one", time.time())
    window.go("/mechanisms/chunking")
    page = window.page
    await_live(window)
    page.locator("#params summary").click()
    every = page.locator("#ranks tbody tr").count()
    page.get_by_role("searchbox", name="Miner").fill("pa")
    expect(page.locator("#ranks tbody tr")).not_to_have_count(every)
    kept = page.locator("#ranks tbody tr").count()
    button = page.locator("#ranks thead th", has_text="standing").get_by_role("link")
    button.click()
    play(Journal(store), observed, "chunking-two", time.time())
    expect(page.locator("#newest")).to_contain_text("chunking-two", timeout=SOON_MS)
    counted = page.locator("#ranks tbody tr:visible td").filter(has_text="of").last
    expect(counted).to_be_visible()
    assert page.locator("#params").get_attribute("open") is not None
    assert page.get_by_role("searchbox", name="Miner").input_value() == "pa"
    expect(page.locator("#ranks tbody tr")).to_have_count(kept)
    expect(page.locator("#ranks thead th", has_text="standing")).to_have_attribute("aria-sort", "descending")
    expect(button).to_be_focused()
    assert window.run(MARKED)
    window.check()


def test_a_page_finds_its_server_again(window: Window, site: Site, store: Store, observed: Observed) -> None:
    window.go("/rounds")
    await_live(window)
    site.stop()
    expect(window.page.locator("#liveness")).to_have_text("reconnecting", timeout=SOON_MS)
    play(Journal(store), observed, "chunking-meanwhile", time.time())
    site.start()
    expect(window.page.locator("#list")).to_contain_text("chunking-meanwhile", timeout=RESTART_MS)
    play(Journal(store), observed, "chunking-after", time.time())
    expect(window.page.locator("#list")).to_contain_text("chunking-after", timeout=SOON_MS)
    assert window.run(MARKED)
    assert [fault for fault in window.faults if "/v1/events" not in fault] == []
