"""Comparison pages with the demo's data: two miners, two rounds, two validators."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from browser.served import Site, copy_demo, serve_folder
from browser.windows import PHONE, Window, open_window
from chromium import need_chromium
from demo_run import Played, copy_database

pytestmark = pytest.mark.paired
OTHER = "validator-2.db"


@pytest.fixture(scope="module")
def site(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Beside the journal of another validator."""
    need_chromium()
    folder: Path = copy_demo(played[1], tmp_path_factory.mktemp("compared"))
    copy_database(played[1] / OTHER, folder / OTHER)
    with serve_folder(folder, WEIGHBEAM_SERVICE__JOURNALS=json.dumps([str(folder / OTHER)])) as served:
        yield served


@pytest.fixture
def window(browser: Browser, site: Site) -> Iterator[Window]:
    with open_window(browser, site.url) as opened:
        yield opened
        for scheme in ("dark", "light"):
            opened.page.emulate_media(color_scheme=scheme)
            opened.see_charts()
            opened.audit()
        opened.page.set_viewport_size(PHONE)
        opened.check_width()
        opened.check()


def test_two_miners_are_compared_by_uid_and_hotkey(window: Window, site: Site) -> None:
    board = httpx2.get(f"{site.url}/v1/mechanisms/chunking/standings").json()["standings"]
    best, worst = board[0], board[-1]
    window.go("/compare/miners")
    window.page.get_by_role("combobox", name="Mechanism").select_option("chunking")
    window.page.get_by_role("searchbox", name="First miner").fill(best["hotkey"][:10])
    window.page.get_by_role("searchbox", name="Second miner").fill(str(worst["uid"]))
    window.page.get_by_role("button", name="Compare").click()
    expect(window.page.locator("#facts")).to_contain_text("weight share")
    rows = window.page.locator("#shared tbody tr")
    assert rows.count() == best["rounds"]
    expect(rows.first).to_contain_text(f"second: {worst['last_reason'].split(', ')[0]}")
    rows.first.locator("td a").first.click()
    expect(window.page.get_by_role("heading", name="What it said")).to_be_visible()


def test_a_round_is_compared_with_the_one_before(window: Window) -> None:
    window.go("/rounds?mechanism=inference")
    ids = [one.split()[0] for one in window.page.locator("#list tbody th").all_inner_texts()]
    window.page.locator("#list tbody tr").first.get_by_role("link", name="compare").click()
    heads = window.page.locator("#facts thead th").all_inner_texts()
    assert heads[1:] == [ids[1], ids[0]]
    expect(window.page.locator("#facts")).to_contain_text("the same")
    assert window.page.locator("#pairs tbody tr").count() >= 10


def test_two_validators_are_compared_by_weights_and_scores(window: Window) -> None:
    window.go("/weights?mechanism=inference")
    window.page.get_by_role("link", name="Compare our weights").click()
    expect(window.page.locator("#pairs thead")).to_contain_text("validator-2")
    own = window.page.locator("#figures .figure", has_text="our vtrust").locator("dd").inner_text()
    assert 0 < float(own.split()[0]) <= 1
    rows = window.page.locator("#pairs tbody tr")
    assert rows.count() >= 5
    name = rows.nth(2).locator("a").first.get_attribute("title")
    rows.nth(2).get_by_role("link", name="scores").click()
    expect(window.page.locator("#scores h2 a").first).to_have_attribute("title", name or "")
    tables = window.page.locator("#scores table")
    assert tables.count() == 2
    assert tables.nth(0).locator("tbody th").all_inner_texts() != tables.nth(1).locator("tbody th").all_inner_texts()


def test_a_miner_that_means_two_is_told(browser: Browser, site: Site) -> None:
    with open_window(browser, site.url) as window:
        window.go("/compare/validators?mechanism=inference&with=elsewhere", 400)
        expect(window.page.locator("main")).to_contain_text("There is no journal of this name")
        window.go("/compare/miners?mechanism=chunking&a=nobody&b=no-one", 404)
        window.audit()
