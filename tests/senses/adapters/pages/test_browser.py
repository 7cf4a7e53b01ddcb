"""Pages as a real browser shows them: what is read, what is not seen, and that nothing gets past the guard."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from chromium import need_chromium
from senses.adapters.pages import browser_pages as made
from senses.adapters.pages.tls_servers import (
    LOOPBACK,
    PATIENT,
    Network,
    Site,
    page,
    reading,
    redirect,
    serve_site,
    watching_sockets,
)
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.browser.process import (
    CONFINED,
    check_confinement,
    list_descendants,
    unprivileged_options,
)
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings, load_pages
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.ports.page import Page

BROWSER = need_chromium()
LIMITS = replace(PATIENT, read_seconds=20.0, connect_seconds=2.0)
RENDERING = RenderLimits(browsers=2, seconds=15.0, memory_bytes=600 << 20)
HOST = "https://www.example.org"
INNER = {
    "inner.example.org": ["10.0.0.7"],
    "meta.example.org": ["169.254.169.254"],
    "mixed.example.org": [LOOPBACK, "::1"],
}


def why_not() -> str:
    try:
        check_confinement()
    except WeighbeamError as fault:
        return fault.message
    return ""


pytestmark = [pytest.mark.alone, pytest.mark.skipif(why_not() != "", reason=why_not() or "there is one")]


@dataclass
class Trap:
    """A listener that nobody may ever reach."""

    port: int
    caught: int = 0


@pytest.fixture(scope="module")
def trap() -> Iterator[Trap]:
    with socket.create_server((LOOPBACK, 0)) as listener:
        listener.settimeout(0.1)
        trap, stop = Trap(listener.getsockname()[1]), threading.Event()

        def listen() -> None:
            while not stop.is_set():
                try:
                    listener.accept()[0].close()
                    trap.caught += 1
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield trap
        stop.set()
        thread.join()


@pytest.fixture(scope="module")
def site(trap: Trap) -> Iterator[Site]:
    cookie = "Set-Cookie: server=1; Path=/"
    script, sheet, anyone = "Content-Type: text/javascript", "Content-Type: text/css", "Access-Control-Allow-Origin: *"
    paths = {
        "/written": page(made.WRITTEN),
        "/hide.css": page(made.SHEET, sheet, cookie),
        "/late.mjs": page(made.MODULE, script),
        "/data.json": page('{"text": "A sentence that a script wrote."}', "Content-Type: application/json"),
        "/social": page(made.SOCIAL, cookie),
        "/sw.js": page("self.addEventListener('fetch', () => {})", script),
        "/secret": page("secret"),
        "/shared": page("Shared by another site.", anyone),
        "/moved": redirect("/moved/here"),
        "/moved/here": page("Moved and followed."),
        "/elsewhere": page("<p>elsewhere"),
        "/escapes": page(made.ESCAPES.replace("PORT", str(trap.port))),
        "/to-inner": redirect("https://inner.example.org/x"),
        "/to-http": redirect(f"http://127.0.0.1:{trap.port}/"),
        "/hog": page(made.HOG),
        "/spin": page(made.SPIN),
        "/flood": page(made.FLOOD),
        "/leaves": page(made.LEAVES),
        "/sheets": page(made.SHEETS),
        "/plain": page("just text", "Content-Type: text/plain"),
    }
    with serve_site(paths) as running:
        yield running


@pytest.fixture(scope="module")
def network(site: Site) -> Network:
    return Network(site.port, INNER)


@pytest.fixture(scope="module")
def live(network: Network, parsers: ParserPool) -> Iterator[LivePages]:
    with reading(network, parsers, LIMITS, browser=BROWSER, rendering=RENDERING) as reader:
        yield reader


@pytest.fixture(scope="module")
def shown(live: LivePages, site: Site) -> dict[str, Page]:
    """Pages that behave, read side by side; all but the last two need a browser."""
    names = ("written", "social", "escapes", "leaves", "plain", "none")
    with watching_sockets() as watch:
        read = dict(zip(names, live.read_all([f"{HOST}/{name}" for name in names]), strict=True))
    assert set(watch.connected) == {(LOOPBACK, site.port)}
    return read


def test_what_scripts_write_is_read(shown: dict[str, Page]) -> None:
    written = shown["written"]
    assert (written.outcome, written.fault) == ("read", None)
    lines = written.text.split("\n")
    assert "A sentence that a script wrote." in lines
    assert {"Shown after all.", "one", "two", "Behind a fold.", "In a shadow.", "In its slot."} <= set(lines)
    assert (written.title, written.headings, written.search_box) == ("Light", ("Light",), True)
    begin, end = written.user_spans[0]
    assert written.text[begin:end].strip() == "A sentence that a script wrote."
    assert written.seconds.keys() == {"fetch", "render", "parse"}


def test_what_a_style_sheet_hides_is_not_seen_but_known(shown: dict[str, Page]) -> None:
    written = shown["written"]
    hidden = (
        "This sentence is hidden by a style sheet.",
        "So is this one.",
        "And this, beyond the edge.",
        "And this, in a box of one pixel.",
        "And this, of clear ink.",
        "covered",
        "a form that names itself",
        "plain <b> text",
    )
    assert [sentence for sentence in hidden if sentence in written.text] == []
    assert [sentence for sentence in hidden if sentence not in written.full] == []
    assert "but this shows" in written.text


def test_the_plain_reader_sees_neither_scripts_nor_style_sheets(site: Site, parsers: ParserPool) -> None:
    with reading(Network(site.port), parsers, LIMITS) as plain:
        read = plain.read(f"{HOST}/written")
        assert plain.id == "live"
    assert "hidden by a style sheet" in read.text
    assert "a script wrote" not in read.text


def test_a_page_has_no_dialogs_windows_downloads_workers_or_other_sites(shown: dict[str, Page], site: Site) -> None:
    lines = shown["social"].text.split("\n")
    assert {"It began.", "It stayed.", "web security is on", "not posted", "denied"} <= set(lines)
    # The browser's refusal may come after the page was read; a worker that it allowed would have asked for its script.
    assert "a worker serves" not in lines
    assert {"Shared by another site.", "Moved and followed."} <= set(lines)
    asked = {request.target for request in site.requests}
    assert asked.isdisjoint({"/popup", "/popup2", "/sw.js", "/elsewhere", "/post"})
    assert {"/moved", "/moved/here"} <= asked
    assert shown["social"].url == f"{HOST}/social"


def test_nothing_of_one_read_is_left_for_the_next(shown: dict[str, Page], live: LivePages, site: Site) -> None:
    again = live.read(f"{HOST}/social")
    for read in (shown["social"], again):
        assert "cookie store empty online true" in read.text
    assert all("cookie" not in request.headers for request in site.requests)


def test_no_request_of_a_page_gets_out_but_through_the_guard(
    shown: dict[str, Page], trap: Trap, network: Network
) -> None:
    assert "Nothing gets out." in shown["escapes"].text
    assert "0 of 15 were read" in shown["escapes"].text
    assert trap.caught == 0
    assert set(network.dialled) == {LOOPBACK}
    assert {"inner.example.org", "meta.example.org", "mixed.example.org"} <= set(network.asked)


def test_where_the_browser_runs_there_is_no_way_out(trap: Trap) -> None:
    """Beside the browser, in the same confinement: neither loopback nor any other address can be had."""
    code = f"""
import socket
for address in (("127.0.0.1", {trap.port}), ("1.1.1.1", 53), ("169.254.169.254", 80)):
    try:
        socket.create_connection(address, 2)
    except OSError as fault:
        print(fault.errno)
"""
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    done = subprocess.run(
        [*CONFINED, python, "-c", code], capture_output=True, text=True, cwd="/", **unprivileged_options()
    )
    assert done.stdout.split() == ["101", "101", "101"], done.stderr
    assert trap.caught == 0


def test_a_page_that_goes_elsewhere_by_itself_is_not_read_as_what_it_was(shown: dict[str, Page]) -> None:
    assert (shown["leaves"].outcome, shown["leaves"].fault) == ("unreadable", "left")


def test_what_needs_no_browser_has_none(shown: dict[str, Page]) -> None:
    assert (shown["plain"].outcome, shown["plain"].text) == ("read", "just text")
    assert shown["none"].outcome == "gone"
    assert all("render" not in shown[name].seconds for name in ("plain", "none"))


def test_pages_that_take_too_much_are_cut_off(live: LivePages, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hog, a flood of requests, more style sheets than are read."""
    monkeypatch.setattr(live._renderer, "limits", replace(RENDERING, events=300))
    hog, flood, sheets = live.read_all([f"{HOST}/{name}" for name in ("hog", "flood", "sheets")])
    assert (hog.outcome, hog.fault) in {("too_large", "memory"), ("unreadable", "crash")}
    assert (flood.outcome, flood.fault) == ("too_large", "events")
    assert (sheets.outcome, sheets.fault) == ("too_large", "stylesheets")
    assert sum(request.target.startswith("/f") for request in site.requests) <= RENDERING.requests + 1


def test_what_a_page_holds_is_looked_at_once_more_when_it_is_done(
    live: LivePages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have taken all between two looks, and been refused more by the kernel."""
    monkeypatch.setattr("weighbeam.senses.adapters.pages.browser.process.PAUSE_SECONDS", 60.0)
    hog = live.read(f"{HOST}/hog")
    assert (hog.outcome, hog.fault) in {("too_large", "memory"), ("unreadable", "crash")}


def test_an_endless_script_ends_in_time_and_leaves_nothing(live: LivePages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live._renderer, "limits", replace(RENDERING, seconds=4.0))
    folders = set(Path(tempfile.gettempdir()).glob("weighbeam-browser-*"))
    spin = live.read(f"{HOST}/spin")
    assert (spin.outcome, spin.fault) == ("unreadable", "render")
    assert 4.0 <= spin.seconds["render"] < 9.0
    assert _browsers() == []
    assert set(Path(tempfile.gettempdir()).glob("weighbeam-browser-*")) == folders


def test_a_browser_that_shows_nothing_any_more_is_our_fault(live: LivePages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live._renderer, "_program", "/nowhere/chromium")
    monkeypatch.setattr(live._renderer._probe, "_found", None)
    read = live.read(f"{HOST}/written")
    assert (read.outcome, read.fault) == ("fault", "browser")


def test_rendering_is_told_in_what_the_reader_is_called(live: LivePages, site: Site, parsers: ParserPool) -> None:
    with reading(Network(site.port), parsers, LIMITS) as plain:
        assert (plain.id, live.id) == ("live", "live-rendered")
        assert plain.digest != live.digest


BROKEN = {
    "no_browser": ("/nowhere/chromium", None),
    "browser_fault": ('#!/bin/sh\necho "Broken 1.0"\n', None),
    "no_namespaces": (BROWSER, "#!/bin/sh\necho unshare: not permitted >&2\nexit 1\n"),
}


@pytest.mark.parametrize("code", BROKEN)
def test_a_reader_that_cannot_render_is_not_built(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never a browser that is not confined, and never a plain reading where a rendered one was asked for."""
    program, unshare = BROKEN[code]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        if program.startswith("#!"):
            program = write_program(Path(folder) / "browser", program)
        if unshare is not None:
            write_program(Path(folder) / "unshare", unshare)
            monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        with pytest.raises(WeighbeamError) as refusal:
            load_pages("live", LiveSettings(browser=program))
    assert refusal.value.code == code
    assert "turn rendering off" in refusal.value.remedy


def write_program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def _browsers() -> list[str]:
    commands = [Path(f"/proc/{pid}/cmdline") for pid in list_descendants(os.getpid())[1:]]
    told = [path.read_bytes().replace(b"\0", b" ").decode() for path in commands if path.exists()]
    return [command for command in told if "chrom" in command or "unshare" in command]
