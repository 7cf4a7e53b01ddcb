"""What a page does when it is used: sort, find, unfold, choose a theme."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browser.served import Site
from browser.windows import Window, open_window

pytestmark = pytest.mark.paired
READ_COLUMN = """([table, column]) => [...document.getElementById(table).tBodies[0].rows]
  .map((row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim())"""


@pytest.fixture
def window(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url) as opened:
        yield opened
        opened.check()


def test_a_table_is_sorted_by_its_headers(window: Window) -> None:
    window.go("/mechanisms/chunking")
    head = window.page.locator("#ranks thead th", has_text="standing")
    column = 2
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    numbers = [float(one) for one in window.run(READ_COLUMN, ["ranks", column]) if one]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) >= 5
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    values = window.run(READ_COLUMN, ["ranks", column])
    numbers = [float(one) for one in values if one]
    assert numbers == sorted(numbers)
    assert all(values[: len(numbers)]), "who has no standing comes last, whichever way"
    other = window.page.locator("#ranks thead th", has_text="place")
    other.get_by_role("button").click()
    assert head.get_attribute("aria-sort") is None
    expect(other).to_have_attribute("aria-sort", "descending")


def test_a_miner_is_found_by_uid_or_hotkey(window: Window) -> None:
    window.go("/mechanisms/inference")
    rows = window.page.locator("#ranks tbody tr")
    every = rows.count()
    title = rows.nth(3).locator("a.key").get_attribute("title")
    assert title is not None
    field = window.page.get_by_label("Find a miner")
    field.fill(title.lower())
    expect(window.page.locator("#ranks tbody tr:visible")).to_have_count(1)
    field.fill("nobody at all")
    expect(window.page.locator("#ranks tbody tr:visible")).to_have_count(0)
    field.fill("")
    expect(window.page.locator("#ranks tbody tr:visible")).to_have_count(every)


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
