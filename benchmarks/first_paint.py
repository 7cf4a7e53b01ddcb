"""When a browser first paints each page: `first-contentful-paint` of headless Chromium, cold and warm."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

BROWSER, FLAGS = "/usr/bin/chromium", ["--no-sandbox", "--disable-gpu"]
WARM, PATIENCE_MS = 3, 30_000
PAINT = """() => new Promise(done => {
    const look = () => {
        const found = performance.getEntriesByName('first-contentful-paint')[0];
        found ? done(found.startTime) : setTimeout(look, 10);
    };
    look();
})"""


@dataclass(frozen=True, slots=True)
class Painted:
    """Milliseconds until the first paint: with nothing kept by the browser, and the median of later visits."""

    page: str
    cold: float
    warm: float


def paint_pages(port: int, pages: Mapping[str, str], headers: Mapping[str, str]) -> list[Painted]:
    """Each page by its name, in a browser that has never seen it and again in the same one."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=FLAGS)
        for name, path in pages.items():
            context = browser.new_context(extra_http_headers=dict(headers))
            page, address = context.new_page(), f"http://127.0.0.1:{port}{path}"
            visits = [_visit(page, address) for _ in range(1 + WARM)]
            found.append(Painted(name, visits[0], statistics.median(visits[1:])))
            context.close()
        browser.close()
    return found


def _visit(page: Any, address: str) -> float:
    page.goto(address, wait_until="commit", timeout=PATIENCE_MS)
    painted = float(page.evaluate(PAINT))
    with suppress(Exception):
        page.wait_for_load_state("load", timeout=PATIENCE_MS)
    return painted


def show_painted(painted: Sequence[Painted]) -> str:
    """The slowest first."""
    ordered = sorted(painted, key=lambda one: -one.cold)
    return ", ".join(f"{one.page} {one.cold:.0f} / {one.warm:.0f}" for one in ordered) + " ms cold / warm"
