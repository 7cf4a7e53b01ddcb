"""Every page in a real browser with the demo's data: whole, quiet, usable by all, and with its own server alone."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser

from browser.served import Site
from browser.windows import PHONE, Window, open_window

pytestmark = pytest.mark.paired
MECHANISMS = ("chunking", "inference", "evidence", "novelty")


@pytest.fixture(scope="module")
def desktop(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url) as window:
        yield window


@pytest.fixture(scope="module")
def phone(browser: Browser, demo_site: Site) -> Iterator[Window]:
    with open_window(browser, demo_site.url, dark=True, viewport=PHONE, is_mobile=True, has_touch=True) as window:
        yield window


@pytest.fixture(scope="module")
def paths(demo_site: Site) -> dict[str, str]:
    return list_paths(demo_site)


def list_paths(site: Site) -> dict[str, str]:
    """One page of every kind under every mechanism."""
    found = {"overview": "/", "rounds": "/rounds?mechanism=chunking"}
    found |= {name: f"/{name}" for name in ("novelty", "attacks", "ask")}
    for name in MECHANISMS:
        first = httpx2.get(f"{site.url}/v1/rounds", params={"mechanism": name, "limit": 1}).json()["rounds"][0]
        round_id = first["id"]
        answers = httpx2.get(f"{site.url}/v1/rounds/{round_id}").json()["answers"]
        hotkey = next(one["hotkey"] for one in answers if one["status"] == "valid")
        found |= {
            f"{name} board": f"/mechanisms/{name}",
            f"{name} round": f"/rounds/{round_id}",
            f"{name} answer": f"/rounds/{round_id}/{hotkey}",
            f"{name} miner": f"/miners/{hotkey}?mechanism={name}",
            f"{name} weights": f"/weights?mechanism={name}",
        }
    return found


KINDS = ["overview", "rounds", "novelty", "attacks", "ask"] + [
    f"{name} {kind}" for name in MECHANISMS for kind in ("board", "round", "answer", "miner", "weights")
]
CHARTS = re.compile(r"overview|novelty$|.* (board|miner|weights)|inference round|chunking answer")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_a_page_is_whole_in_both_themes(device: str, kind: str, paths: dict[str, str], request) -> None:
    window: Window = request.getfixturevalue(device)
    response = window.go(paths[kind])
    assert "default-src 'none'" in response.headers["content-security-policy"]
    charts = window.see_charts()
    assert bool(charts) == bool(CHARTS.fullmatch(kind)), kind
    assert window.page.title().endswith("· Weighbeam")
    for scheme in ("dark", "light"):
        window.page.emulate_media(color_scheme=scheme)
        window.see_charts()
        window.check_width()
        window.audit()
    window.check()


def test_what_is_not_there_is_told_on_a_page(browser: Browser, demo_site: Site) -> None:
    for path in ("/rounds/nothing", "/miners/nobody", "/nothing/at/all?x=1"):
        with open_window(browser, demo_site.url, viewport=PHONE) as window:
            response = window.go(path, 404)
            assert "default-src 'none'" in response.headers["content-security-policy"]
            assert window.page.locator("h1").inner_text() == "Not found"
            assert window.page.get_by_role("searchbox").is_visible()
            window.check_width()
            window.audit()
            assert [fault for fault in window.faults if "404" not in fault] == []
