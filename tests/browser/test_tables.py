"""What a page does when it is used: sort, find, unfold, choose a theme."""

import csv
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.served import Site
from browser.windows import Window, open_window

pytestmark = pytest.mark.paired


@pytest.fixture
def window(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url) as opened:
        yield opened
        opened.check()


@pytest.fixture
def plain(browser: Browser, demo_site: Site) -> Iterator[Window]:
    """Without JavaScript."""
    with open_window(browser, demo_site.url, java_script_enabled=False) as opened:
        yield opened


def read_numbers(page: Page, table: str, column: int) -> list[float | None]:
    cells = page.locator(f"#{table} tbody tr").all()
    texts = [row.locator("td, th").nth(column).inner_text().strip() for row in cells]
    return [None if text == "–" else float(text.replace("−", "-").replace(",", "")) for text in texts]


def check_order(values: list[float | None], falls: bool) -> None:
    known = [one for one in values if one is not None]
    assert len(known) >= 5
    assert known == sorted(known, reverse=falls)
    assert values[: len(known)] == known, "who has no standing comes last, whichever way"


def test_a_table_is_sorted_by_its_headers(window: Window) -> None:
    window.go("/mechanisms/chunking")
    window.run("() => { window.marker = 1; }")
    head = window.page.locator("#ranks thead th", has_text="standing")
    head.get_by_role("link").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    check_order(read_numbers(window.page, "ranks", 2), True)
    expect(head.get_by_role("link")).to_be_focused()
    head.get_by_role("link").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    check_order(read_numbers(window.page, "ranks", 2), False)
    other = window.page.locator("#ranks thead th", has_text="place")
    other.get_by_role("link").click()
    expect(other).to_have_attribute("aria-sort", "ascending")
    assert head.get_attribute("aria-sort") is None
    assert window.page.url.endswith("?sort=place")
    window.page.go_back()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert window.run("() => window.marker === 1"), "the page was never left"


def test_a_link_shows_somebody_else_the_same(window: Window, browser: Browser, demo_site: Site) -> None:
    window.go("/rounds")
    window.page.get_by_role("combobox", name="Mechanism").select_option("inference")
    expect(window.page).to_have_url(f"{demo_site.url}/rounds?mechanism=inference")
    window.page.locator("thead th", has_text="valid").get_by_role("link").click()
    expect(window.page).to_have_url(f"{demo_site.url}/rounds?mechanism=inference&sort=-valid_share")
    expect(window.page.locator("thead th", has_text="valid")).to_have_attribute("aria-sort", "descending")
    shown = window.page.locator("#list tbody th").all_inner_texts()
    assert shown
    assert all("inference" in one for one in shown)
    with open_window(browser, demo_site.url) as other:
        other.go(window.page.url.removeprefix(demo_site.url))
        assert other.page.locator("#list tbody th").all_inner_texts() == shown
        assert other.page.get_by_role("combobox", name="Mechanism").input_value() == "inference"


def test_a_table_sorts_filters_and_turns_without_scripts(plain: Window) -> None:
    page = plain.page
    plain.go("/mechanisms/chunking")
    page.locator("#ranks thead th", has_text="standing").get_by_role("link").click()
    check_order(read_numbers(page, "ranks", 2), True)
    page.get_by_role("searchbox", name="Reason").fill("no_chunks")
    page.get_by_role("button", name="Filter").click()
    assert "sort=-standing" in page.url
    rows = page.locator("#ranks tbody tr")
    assert rows.count() in (1, 2), "the silent one, and on a busy machine the slow one too"
    assert all("no_chunks" in row for row in rows.all_inner_texts())
    page.get_by_role("searchbox", name="Miner").fill("nobody at all")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#board")).to_contain_text("No miner matches this filter.")
    page.get_by_role("link", name="Clear the filter").click()
    check_order(read_numbers(page, "ranks", 2), True)


def test_a_miner_is_found_by_uid_or_hotkey(window: Window) -> None:
    window.go("/mechanisms/inference")
    rows = window.page.locator("#ranks tbody tr")
    every = rows.count()
    title = rows.nth(3).locator(".miner a").get_attribute("title")
    assert title is not None
    field = window.page.get_by_role("searchbox", name="Miner")
    field.press_sequentially(title[:9].lower())
    expect(rows).to_have_count(1)
    expect(field).to_be_focused()
    field.fill("nobody at all")
    expect(window.page.locator("#board")).to_contain_text("No miner matches this filter.")
    expect(rows).to_have_count(0)
    window.see_charts()
    window.audit()
    window.page.get_by_role("link", name="Clear the filter").click()
    expect(rows).to_have_count(every)
    expect(field).to_have_value("")
    uid = re.search(r"uid (\d+)", rows.nth(2).inner_text())
    assert uid is not None
    field.fill(uid[1])
    expect(rows).to_have_count(1)


def test_what_is_shown_is_saved(window: Window) -> None:
    window.go("/rounds?mechanism=chunking&sort=block")
    shown = [one.split()[0] for one in window.page.locator("#list tbody th").all_inner_texts()]
    with window.page.expect_download() as waiting:
        window.page.get_by_role("link", name="CSV").click()
    saved = list(csv.DictReader(waiting.value.path().open(newline="")))
    assert waiting.value.suggested_filename == "weighbeam-rounds.csv"
    assert [row["round"] for row in saved] == shown


def test_live_updates_are_paused_and_a_hotkey_is_copied(browser: Browser, demo_site: Site) -> None:
    with open_window(browser, demo_site.url, permissions=["clipboard-read", "clipboard-write"]) as window:
        window.go("/mechanisms/chunking")
        window.page.locator("#ranks .miner a").first.click()
        hotkey = window.page.url.split("/miners/")[1].split("?")[0]
        window.page.get_by_role("button", name="copy").first.click()
        assert window.run("() => navigator.clipboard.readText()") == hotkey
        expect(window.page.locator("#liveness")).to_have_text("live")
        window.page.get_by_role("button", name="pause").click()
        expect(window.page.locator("#liveness")).to_have_text("paused")
        window.page.get_by_role("button", name="go on").click()
        expect(window.page.locator("#liveness")).not_to_have_text("paused")
        window.check()


def test_the_theme_is_chosen_by_hand_and_kept(window: Window) -> None:
    window.go("/")
    window.see_charts()
    read = "() => getComputedStyle(document.documentElement).colorScheme"
    assert window.run(read) == "light"
    window.page.get_by_role("button", name="Switch between light and dark").click()
    assert window.run(read) == "dark"
    window.audit()
    window.go("/rounds")
    assert window.run(read) == "dark"
    window.page.get_by_role("button", name="Switch between light and dark").click()
    window.go("/attacks")
    assert window.run(read) == "light"


def test_links_lead_from_the_overview_to_why_an_answer_got_its_score(window: Window) -> None:
    window.go("/")
    window.page.locator("#newest a.key").first.click()
    window.page.locator("#answers tbody tr a", has_text="explain").first.click()
    expect(window.page.get_by_role("heading", name="How the score came about")).to_be_visible()
    assert window.page.locator(".tree summary").count() > 0
    window.page.go_back()
    expect(window.page.locator("#answers")).to_be_visible()
