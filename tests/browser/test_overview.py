"""The first page on a demo's data: who earns what, whether anybody is there, what was stopped; all in one screen."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from browser.served import STORE, Site, copy_demo, serve_folder
from browser.windows import Window, open_window
from chromium import need_chromium
from demo_run import Played
from weighbeam.demo.cast import HONEST, HOSTILE, MECHANISMS, MINERS, VALIDATORS
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.support.lock import HotkeyLock

pytestmark = pytest.mark.paired
SCREEN = {"width": 1440, "height": 900}
SOON_MS = 30_000
INFERENCE = MECHANISMS.index("inference")


@pytest.fixture
def window(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url, viewport=SCREEN) as opened:
        yield opened
        opened.check()


def read_shares(site: Site, mechanism: str) -> dict[str, float]:
    """The last confirmed vector, by a reader of its own: hotkey to share."""
    with closing(sqlite3.connect(site.folder / STORE)) as connection:
        import json

        row, plan = connection.execute(
            "SELECT row, plan FROM submissions WHERE mechanism = ? AND state = 'confirmed' ORDER BY id DESC",
            (mechanism,),
        ).fetchone()
    values, holders = json.loads(row), json.loads(plan)["holders"]
    total = sum(value for _, value in values)
    return {holder[0]: value / total for (_, value), holder in zip(values, holders, strict=True)}


def test_what_matters_is_in_one_screen(window: Window) -> None:
    window.go("/")
    window.see_charts()
    for place in ("#lead", "#mechanisms", "#alerts h2", "#stopped h2"):
        box = window.page.locator(place).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= SCREEN["height"], place
    expect(window.page.locator("#mechanisms article")).to_have_count(len(MECHANISMS))
    window.audit()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_largest_earner_is_named_with_its_share(window: Window, demo_site: Site, mechanism: str) -> None:
    shares = read_shares(demo_site, mechanism)
    names = {part.hotkey.address: part.acts[mechanism].name for part in MINERS}
    largest = max(shares.values())
    best = {names.get(hotkey, "owner") for hotkey, share in shares.items() if share == largest}
    window.go("/")
    card = window.page.locator("#mechanisms article", has=window.page.get_by_role("link", name=mechanism, exact=True))
    first = card.locator(".legend li").first
    assert first.locator("bdi").inner_text() in best
    assert first.locator(".number").inner_text() == f"{100 * largest:.1f} %"
    hostile = {part.hotkey.address for part in MINERS if part.role == "hostile"}
    earned = sum(share for hotkey, share in shares.items() if hotkey in hostile)
    shown = card.locator(".roles").inner_text().split("hostile")[1].split("%")[0].strip()
    assert shown in (f"{100 * earned:.1f}", "0" if earned == 0 else "<0.1")


def test_an_ended_demo_says_that_nobody_runs(window: Window) -> None:
    window.go("/")
    expect(window.page.locator("#lead")).to_contain_text("No validator is running.")
    expect(window.page.locator("#lead")).to_contain_text("24 times as fast")
    expect(window.page.locator(".countdown")).to_have_count(0)


def test_attacks_that_were_stopped_are_named_with_what_they_would_have_earned(window: Window) -> None:
    window.go("/")
    rows = window.page.locator("#stopped tbody tr")
    assert rows.count() >= 4
    told = [float(one.split("%")[0]) for one in rows.locator("td:nth-child(3)").all_inner_texts()]
    assert all(0 < one < 100 for one in told)
    assert told == sorted(told, reverse=True)
    liars = {acts[INFERENCE].name for acts in HOSTILE}
    flagged = window.page.locator("#stopped tr", has_text="in inference").locator("bdi").all_inner_texts()
    assert liars & set(flagged)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_leaderboard_says_who_is_hostile_and_how(window: Window, mechanism: str) -> None:
    place = MECHANISMS.index(mechanism)
    window.go(f"/mechanisms/{mechanism}")
    told = {
        row.locator(".miner bdi").inner_text(): row.locator(".role").inner_text()
        for row in window.page.locator("#ranks tbody tr").all()
    }
    for role, acts in (("honest", HONEST), ("hostile", HOSTILE)):
        for one in acts:
            if one[place].name in told:
                assert told[one[place].name] == f"{role} {one[place].about}"
    assert len(told) >= len(HONEST)
    window.see_charts()
    window.audit()


@pytest.mark.parametrize("given", ["climb", "5", "uid 5"])
def test_a_miner_is_found_by_name_or_uid(window: Window, given: str) -> None:
    window.go(f"/miners/{given}?mechanism=chunking")
    name = window.page.locator("h1 bdi").inner_text()
    assert name == "climb" if given == "climb" else name
    uid = next(part for part in window.page.locator(".lead").first.inner_text().split() if part.isdigit())
    assert uid == "5" or given == "climb"
    expect(window.page.get_by_text("In this demo it is")).to_be_visible()
    window.see_charts()
    window.audit()


def test_a_name_that_two_miners_have_is_refused_with_both(demo_site: Site) -> None:
    """One copies in inference, another in novelty."""
    reply = httpx2.get(f"{demo_site.url}/v1/miners/copycat")
    assert (reply.status_code, reply.json()["error"]) == (400, "ambiguous_miner")
    assert "2 miners" in reply.json()["message"]
    found = httpx2.get(f"{demo_site.url}/v1/miners/copycat?mechanism=inference").json()
    copier = next(part for part in MINERS if part.acts["inference"].name == "copycat")
    assert found["hotkey"] == copier.hotkey.address


def test_a_countdown_ends_with_the_validator(
    browser: Browser, played: Played, tmp_path_factory: pytest.TempPathFactory
) -> None:
    need_chromium()
    folder: Path = copy_demo(played[1], tmp_path_factory.mktemp("counted"))
    with serve_folder(folder) as site, open_window(browser, site.url, viewport=SCREEN) as window:
        store = site.open_store()
        lock = HotkeyLock(store, VALIDATORS[0].hotkey.address)
        lock.take()
        window.go("/")
        lead, counted = window.page.locator("#lead"), window.page.locator(".countdown").first
        expect(lead).to_contain_text("A validator runs 4 mechanisms")
        before = counted.inner_text()
        expect(counted).not_to_have_text(before, timeout=SOON_MS)
        assert before.startswith("in ")
        lock.release()
        Alerts(store, time.time).tell("clock_skew", "warning", "a reason to look again")
        expect(lead).to_contain_text("No validator is running.", timeout=SOON_MS)
        expect(window.page.locator(".countdown")).to_have_count(0)
        window.see_charts()
        window.audit()
        window.check()
        store.close()
