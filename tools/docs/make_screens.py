"""Take the pictures of the dashboard anew, from where a demo serves it, or that of the lab's report.

weighbeam demo --rounds 24 --folder FOLDER --stay
python tools/docs/make_screens.py http://127.0.0.1:PORT
python tools/docs/make_screens.py build/attacks.html
"""

import json
import shutil
import sys
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).parents[2] / "docs/images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
DESK, PHONE = (1200, 780), (390, 780)


def find_round(address: str, mechanism: str) -> str:
    with urllib.request.urlopen(f"{address}/v1/rounds?mechanism={mechanism}&limit=1") as reply:
        found: str = json.load(reply)["rounds"][0]["id"]
    return found


def shoot(browser: Browser, name: str, url: str, size: tuple[int, int], theme: str) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    page = context.new_page()
    page.goto(url)
    for number in range(page.locator("figure.chart").count()):
        page.locator("figure.chart.drawn").nth(number).wait_for(timeout=60_000)
    page.wait_for_timeout(300)
    page.screenshot(path=IMAGES / f"{name}.png")
    context.close()


def look_at_service(browser: Browser, address: str) -> None:
    shoot(browser, "overview", f"{address}/", DESK, "light")
    shoot(browser, "leaderboard", f"{address}/mechanisms/evidence", DESK, "light")
    shoot(browser, "round", f"{address}/rounds/{find_round(address, 'inference')}", DESK, "light")
    shoot(browser, "weights", f"{address}/weights?mechanism=chunking", DESK, "light")
    shoot(browser, "phone", f"{address}/mechanisms/chunking", PHONE, "dark")


def main(place: str) -> None:
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        if place.endswith(".html"):
            shoot(browser, "attacks", Path(place).resolve().as_uri(), DESK, "light")
        else:
            look_at_service(browser, place)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
