"""How pages look in the dark and on a phone: names are legible, nothing glares, nothing is cut without a sign."""

from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser

from browser.served import Site
from browser.windows import PHONE, Window, open_window

pytestmark = pytest.mark.paired
MENU = ("/", "/mechanisms/chunking", "/mechanisms/evidence", "/novelty", "/rounds", "/weights", "/attacks", "/ask")
IN_VIEW = """() => {
  const box = document.querySelector("nav [aria-current]").getBoundingClientRect();
  return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
}"""
SCROLLED = """() => [...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => getComputedStyle(one).backgroundImage.split("linear-gradient").length - 1)"""
LIGHTNESS = """(id) => {
  const canvas = document.querySelector(`#${id} canvas`);
  const { width, height } = canvas;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  let bright = 0, names = 0;
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) {
    const at = 4 * (y * width + x);
    if (data[at + 3] < 200) continue;
    const least = Math.min(data[at], data[at + 1], data[at + 2]);
    if (least > 235) bright += 1;
    if (least > 170 && x < width / 5) names += 1;
  }
  return [bright / (width * height), names];
}"""
WIDTHS = """() => [...document.querySelectorAll("figure.chart")].map((one) =>
  [one.id, one.querySelector("canvas").clientWidth, one.querySelector(".canvas").clientWidth])"""


@pytest.fixture(scope="module")
def heatmap_path(demo_site: Site) -> str:
    found = httpx2.get(f"{demo_site.url}/v1/rounds", params={"mechanism": "inference", "limit": 1}).json()
    return f"/rounds/{found['rounds'][0]['id']}"


@pytest.fixture(scope="module")
def phone(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url, dark=True, viewport=PHONE, is_mobile=True, has_touch=True) as window:
        yield window


@pytest.fixture(scope="module")
def dark(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url, dark=True) as window:
        yield window


def test_names_of_the_heatmap_are_legible_in_the_dark(dark: Window, heatmap_path: str) -> None:
    dark.go(heatmap_path)
    dark.see_charts()
    _, names = dark.run(LIGHTNESS, "heatmap")
    assert names > 300, "the labels left of the cells are light"


def test_no_chart_of_novelty_glares_in_the_dark(dark: Window) -> None:
    dark.go("/novelty")
    dark.see_charts()
    glaring, _ = dark.run(LIGHTNESS, "curve")
    assert glaring < 0.02


@pytest.mark.parametrize("path", MENU)
def test_the_active_tab_is_in_view_on_a_phone(phone: Window, path: str) -> None:
    phone.go(path)
    assert phone.run(IN_VIEW)


def test_a_table_that_goes_on_shows_an_edge(phone: Window) -> None:
    phone.go("/mechanisms/chunking")
    phone.see_charts()
    edges = phone.run(SCROLLED)
    assert edges, "on a phone the leaderboard is wider than its place"
    assert set(edges) == {4}
    phone.check_width()


@pytest.mark.parametrize("place", ["round", "/mechanisms/chunking", "/novelty", "/weights"])
def test_charts_fit_a_phone(phone: Window, place: str, heatmap_path: str) -> None:
    phone.go(heatmap_path if place == "round" else place)
    phone.see_charts()
    assert [one for one in phone.run(WIDTHS) if one[1] > one[2] + 1] == []


def test_the_course_of_a_miner_fills_its_card(dark: Window, demo_site: Site) -> None:
    board = httpx2.get(f"{demo_site.url}/v1/mechanisms/chunking/standings").json()["standings"]
    dark.go(f"/miners/{board[1]['hotkey']}?mechanism=chunking")
    dark.see_charts()
    ((name, drawn, place),) = dark.run(WIDTHS)
    assert name == "course"
    assert drawn > 0.97 * place


def test_times_are_the_readers_and_utc_is_beside(browser: Browser, demo_site: Site, heatmap_path: str) -> None:
    with open_window(browser, demo_site.url, timezone_id="Asia/Tokyo", locale="en-US") as window:
        window.go(heatmap_path)
        stamp = window.page.locator(".lead time.stamp")
        assert "Asia/Tokyo" in (stamp.get_attribute("title") or "")
        assert "UTC" in (stamp.get_attribute("title") or "")
        at = stamp.get_attribute("datetime") or ""
        hour = (int(at[11:13]) + 9) % 12 or 12
        assert f"{hour}:{at[14:16]}" in stamp.inner_text()
        window.check()
