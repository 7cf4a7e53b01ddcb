"""Take the dashboard's pictures anew, of a folder that `weighbeam demo --folder` or a validator of `--write` left.

    python docs/make_screens.py FOLDER
    python docs/make_screens.py build/attacks.html

It serves that folder's first validator and looks at it with Chromium; or it looks at the lab's report.
"""

import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).parent / "images"
ADDRESS = "http://127.0.0.1:8080"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
DESK, PHONE = (1200, 780), (390, 780)


@contextmanager
def serve(folder: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "weighbeam", "serve", "--config", str(folder / "validator-1.toml")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            while "served on" not in (line := server.stderr.readline()):
                assert line, "it did not start"
            yield
        finally:
            server.terminate()


def find_round(mechanism: str) -> str:
    with urllib.request.urlopen(f"{ADDRESS}/v1/rounds?mechanism={mechanism}&limit=1") as reply:
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


def look_at_service(browser: Browser, folder: Path) -> None:
    with serve(folder):
        shoot(browser, "overview", f"{ADDRESS}/", DESK, "light")
        shoot(browser, "leaderboard", f"{ADDRESS}/mechanisms/inference", DESK, "dark")
        shoot(browser, "round", f"{ADDRESS}/rounds/{find_round('inference')}", DESK, "light")
        shoot(browser, "weights", f"{ADDRESS}/weights?mechanism=chunking", DESK, "light")
        shoot(browser, "phone", f"{ADDRESS}/mechanisms/chunking", PHONE, "light")


def main(place: Path) -> None:
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        if place.suffix == ".html":
            shoot(browser, "attacks", place.resolve().as_uri(), DESK, "light")
        else:
            look_at_service(browser, place)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
