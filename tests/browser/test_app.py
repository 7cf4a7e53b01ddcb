"""A server that only pays for novelty: its menu, who may see what, decisions by token, and the API reference."""

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from browser import hostile_journal as hostile
from browser.served import Site, serve_folder
from browser.windows import PHONE, Window, open_window
from chromium import need_chromium
from service.holders import bear, place
from weighbeam.demo.cast import VALIDATORS
from weighbeam.mechanisms.novelty.desk.accounts import select_contributor_balance, select_history
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

pytestmark = pytest.mark.paired
OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry them apart."
NOISE = ("xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq", "mbvx lkpq wwzr trrk hjkx qqpz vnmb xzxc")
EVIL = f"A bridge is longer in summer than in winter, says {hostile.IMAGE} to {hostile.SCRIPT}."
READER, OPERATOR = "reader", "operator"
SOON_MS = 20_000


@pytest.fixture(scope="module")
def site(cache, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    need_chromium()
    folder: Path = tmp_path_factory.mktemp("app")
    key, desk_place = f'[wallet]\nuri = "{VALIDATORS[0].uri}"\n', '[store]\nurl = "sqlite:///validator-1.db"\n'
    (folder / "validator-1.toml").write_text(f"{key}{desk_place}[novelty]\nday_limit = 9000\n")
    store = Store(f"sqlite:///{folder / 'validator-1.db'}")
    desk = open_desk(store, LocalSenses(workers=1), VALIDATORS[0].hotkey)
    for contributor, text in (("ada", OTTERS), (hostile.IMAGE, EVIL), ("eve", NOISE[0]), ("mallory/x", NOISE[1])):
        desk.submit(contributor, text)
    place(store, READER, ("read",))
    place(store, OPERATOR, ("read", "operate"))
    store.close()
    with serve_folder(folder) as served:
        yield served


@pytest.fixture
def anyone(browser: Browser, site: Site) -> Iterator[Window]:
    with open_window(browser, site.url) as opened:
        yield opened


@pytest.fixture
def operator(browser: Browser, site: Site) -> Iterator[Window]:
    with open_window(browser, site.url, http_credentials=credentials(OPERATOR)) as opened:
        opened.go("/sign-in")
        yield opened


def credentials(name: str) -> dict[str, str]:
    return {"username": "me", "password": bear(name)["Authorization"].removeprefix("Bearer ")}


def show_basic(name: str) -> dict[str, str]:
    word = base64.b64encode(f"me:{credentials(name)['password']}".encode()).decode()
    return {"Authorization": f"Basic {word}"}


def list_held(site: Site) -> list[int]:
    store = site.open_store()
    try:
        return [line["id"] for line in select_history(store, status="held")]
    finally:
        store.close()


def test_an_app_shows_what_it_does_and_nothing_else(anyone: Window) -> None:
    anyone.go("/")
    assert anyone.page.url.endswith("/novelty")
    menu = anyone.page.locator("header nav a")
    assert menu.all_inner_texts() == ["Contributions", "Contributors", "Held", "API"]
    for address in [one.get_attribute("href") for one in menu.all()]:
        assert address is not None
        anyone.go(address)
        anyone.see_charts()
        anyone.audit()
        anyone.page.set_viewport_size(PHONE)
        anyone.check_width()
    anyone.check()


def test_whoever_shows_no_token_sees_no_name_and_no_text(anyone: Window, operator: Window, site: Site) -> None:
    operator.go("/novelty")
    expect(operator.page.locator("#contributions")).to_contain_text(OTTERS)
    for path in ("/novelty", "/novelty/held", "/novelty/contributors", "/novelty/contributions/1"):
        anyone.go(path)
        said = anyone.run("() => document.documentElement.outerHTML")
        assert "a user" in said
        assert not any(word in said for word in ("ada", "mallory", "otters", NOISE[0][:9]))
    page = httpx2.get(f"{site.url}/novelty/contributors/ada")
    assert page.status_code == 401
    assert page.headers["www-authenticate"].startswith("Basic")
    anyone.check()


def test_a_token_that_reads_sees_names_and_no_text(site: Site) -> None:
    page = httpx2.get(f"{site.url}/novelty/contributors/ada", headers=show_basic(READER)).text
    assert "ada" in page
    assert "otters" not in page
    assert OTTERS in httpx2.get(f"{site.url}/novelty/contributors/ada", headers=show_basic(OPERATOR)).text
    assert "otters" not in httpx2.get(f"{site.url}/novelty/contributors/ada", headers=show_basic(READER)).text


def test_rows_lead_to_contributions_and_contributors(operator: Window) -> None:
    operator.go("/novelty")
    row = operator.page.locator("#contributions tbody tr", has_text="Sea otters")
    row.locator("td a").first.click()
    expect(operator.page.locator("h1")).to_have_text("Contribution 1")
    expect(operator.page.locator(".said").first).to_have_text(OTTERS)
    operator.page.get_by_role("link", name="ada").click()
    expect(operator.page.locator("h1")).to_have_text("ada")
    expect(operator.page.locator("#figures")).to_contain_text("100")
    operator.audit()
    operator.check()


def test_hostile_contributors_and_texts_stay_text(operator: Window) -> None:
    operator.go("/novelty/contributors")
    operator.page.get_by_role("link", name=hostile.IMAGE).click()
    expect(operator.page.locator("#contributions")).to_contain_text(hostile.SCRIPT)
    operator.page.locator("#contributions td a").first.click()
    expect(operator.page.locator(".said").first).to_have_text(EVIL)
    assert operator.run("() => [window.pwned, document.querySelectorAll('main img, main script').length]") == [None, 0]
    operator.audit()
    operator.check()


@pytest.mark.parametrize("shown", [{}, "basic", "reader"])
@pytest.mark.parametrize("decision", ["release", "reject"])
def test_nothing_is_decided_without_a_token_of_an_operator(site: Site, decision: str, shown) -> None:
    """What a browser shows by itself decides nothing, so no other site's page can decide through it."""
    held = list_held(site)
    headers = {"basic": show_basic(OPERATOR), "reader": bear(READER)}.get(shown, {}) if shown else {}
    reply = httpx2.post(f"{site.url}/v1/novelty/contributions/3/{decision}", headers=headers)
    assert reply.status_code in (401, 403)
    assert list_held(site) == held


def test_buttons_need_the_token_and_decide_with_it(operator: Window, site: Site) -> None:
    operator.go("/novelty/held")
    page = operator.page
    assert list_held(site) == [4, 3]
    third = page.locator("li", has_text="No. 3")
    third.get_by_role("button", name="Release").click()
    expect(third.locator("output")).to_have_text("type a token first")
    page.locator("#token").fill(credentials(READER)["password"])
    third.get_by_role("button", name="Release").click()
    expect(third.locator("output")).to_contain_text("missing_scope", timeout=SOON_MS)
    assert list_held(site) == [4, 3]
    page.locator("#token").fill(credentials(OPERATOR)["password"])
    third.get_by_role("button", name="Release").click()
    expect(third.locator("output")).to_have_text("released", timeout=SOON_MS)
    fourth = page.locator("li", has_text="No. 4")
    fourth.get_by_role("button", name="Reject").click()
    expect(fourth.locator("output")).to_have_text("rejected", timeout=SOON_MS)
    operator.audit()
    assert list_held(site) == []
    store = site.open_store()
    eve, mallory = select_contributor_balance(store, "eve"), select_contributor_balance(store, "mallory/x")
    store.close()
    assert (eve["units"] > 0, eve["held"]) == (True, 0)
    assert (mallory["units"], mallory["held"]) == (0, 0)
    assert [fault for fault in operator.faults if "403" not in fault] == []


def test_the_reference_has_every_route_and_asks_nobody_else(browser: Browser, site: Site) -> None:
    document = httpx2.get(f"{site.url}/openapi.json").json()
    with open_window(browser, site.url, java_script_enabled=False) as window:
        window.go("/docs")
        said = window.page.locator("main").inner_text()
        assert [path for path in document["paths"] if path not in said] == []
        assert [name for name in document["components"]["schemas"] if name not in said] == []
    with open_window(browser, site.url) as window:
        window.go("/docs")
        window.page.get_by_role("link", name="POST /v1/novelty/contributions", exact=True).click()
        expect(window.page.locator("#post-v1-novelty-contributions")).to_be_in_viewport()
        for scheme in ("dark", "light"):
            window.page.emulate_media(color_scheme=scheme)
            window.audit()
        window.page.set_viewport_size(PHONE)
        window.check_width()
        window.check()


def test_pages_answer_head_as_get_without_a_body(site: Site) -> None:
    for path in ("/novelty", "/docs", "/rounds"):
        head, got = httpx2.head(f"{site.url}{path}"), httpx2.get(f"{site.url}{path}")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == got.headers["content-type"]
    assert httpx2.head(f"{site.url}/").status_code == 307
