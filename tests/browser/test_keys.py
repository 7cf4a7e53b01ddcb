"""Pages by keyboard alone: everything is reached in order, and what is reached is seen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browser.served import Site
from browser.windows import Window, open_window

pytestmark = pytest.mark.paired
MOST = 400
CHART = -1
"""A chart wider than its place can be scrolled, and is reached for that."""
LIST = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((one) => one.checkVisibility() && !one.disabled)
  .map((one, at) => { one.dataset.stop = at; return at; })"""
LOOK = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const marked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const stop = one.dataset.stop ?? (one.matches(".canvas") ? "-1" : null);
  return [Number(stop), seen && marked && stop ? "" : one.outerHTML.slice(0, 120)];
}"""


@pytest.fixture(scope="module")
def window(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url, reduced_motion="reduce") as opened:
        yield opened


@pytest.mark.parametrize("path", ["/", "/mechanisms/inference", "/ask", "/attacks"])
def test_everything_is_reached_by_tab_and_seen(window: Window, path: str) -> None:
    window.go(path)
    window.see_charts()
    stops = window.run(LIST)
    reached = []
    for _ in range(MOST):
        window.page.keyboard.press("Tab")
        found = window.run(LOOK)
        if found is None:
            break
        assert found[1] == "", f"not seen when reached: {found[1]}"
        reached.append(found[0])
    assert [stop for stop in reached if stop != CHART] == stops
    window.check()


def test_the_first_stop_skips_to_the_content(window: Window) -> None:
    window.go("/weights")
    window.page.keyboard.press("Tab")
    expect(window.page.locator("a.skip")).to_be_focused()
    expect(window.page.locator("a.skip")).to_be_in_viewport()
    window.page.keyboard.press("Enter")
    assert window.run("() => document.activeElement.id") == "main"
    window.page.keyboard.press("Tab")
    assert window.run("() => document.activeElement.closest('main') !== null")
