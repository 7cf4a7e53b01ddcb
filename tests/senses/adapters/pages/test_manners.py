"""What a read says, and what it keeps to itself: no cookie, no proxy, no trust without a certificate."""

import asyncio
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest
import trustme

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
from weighbeam.senses.adapters.pages.live import LivePages
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.adapters.pages.web.guard import trust_system

URL = "https://www.example.org/"


@pytest.fixture
def site() -> Iterator[Site]:
    cookie = "Set-Cookie: id=1; Domain=example.org; Path=/"
    with serve_site({"/": page("<p>fine</p>", cookie), "/to": redirect("/", 302, cookie)}) as running:
        yield running


def test_a_cookie_of_one_read_is_absent_from_the_next(site: Site, parsers: ParserPool) -> None:
    with reading(Network(site.port), parsers) as live:
        for path in ("", "to", ""):
            assert live.read(URL + path).outcome == "read"
    assert len(site.requests) == 4
    assert all(
        request.headers.keys() <= {"host", "user-agent", "accept", "accept-encoding", "connection"}
        for request in site.requests
    )


def test_the_environment_names_no_proxy(site: Site, parsers: ParserPool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    with watching_sockets() as watch, reading(Network(site.port), parsers) as live:
        assert live.read(URL).outcome == "read"
    assert watch.connected == [(LOOPBACK, site.port)]


def test_the_environment_names_no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "own.pem")
    plain = len(trust_system().get_ca_certs())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    context = trust_system()
    assert len(context.get_ca_certs()) == plain
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_the_user_agent_is_settable(site: Site, parsers: ParserPool) -> None:
    with reading(Network(site.port), parsers, user_agent="reader/9") as live:
        live.read(URL)
    assert site.requests[-1].headers["user-agent"] == "reader/9"


@pytest.mark.parametrize("case", ["stranger", "other name", "expired"])
def test_a_certificate_that_does_not_convince_is_unreachable(case: str, parsers: ParserPool) -> None:
    from datetime import UTC, datetime

    from senses.adapters.pages.tls_servers import AUTHORITY

    certificates = {
        "stranger": lambda: trustme.CA().issue_cert("www.example.org"),
        "other name": lambda: AUTHORITY.issue_cert("www.example.com"),
        "expired": lambda: AUTHORITY.issue_cert("www.example.org", not_after=datetime(2020, 1, 1, tzinfo=UTC)),
    }
    with serve_site({"/": page("<p>x")}, certificates[case]()) as site, reading(Network(site.port), parsers) as live:
        read = live.read(URL)
    assert (read.outcome, read.fault) == ("unreachable", "tls")
    assert site.requests == []


def test_nobody_there_is_unreachable_after_trying_every_address(parsers: ParserPool) -> None:
    from network.loopback import free_port

    network = Network(free_port(), {"www.example.org": [LOOPBACK, LOOPBACK, LOOPBACK, LOOPBACK]})
    with reading(network, parsers) as live:
        assert live.read(URL).outcome == "unreachable"
    assert network.dialled == [LOOPBACK] * 3


def test_a_failure_is_ours_only_if_known_addresses_fail_too(site: Site, parsers: ParserPool) -> None:
    network = Network(site.port, {"dead.example.org": [], "known.example.org": []})
    for known, outcome in (("https://known.example.org/", "fault"), ("https://alive.example.org/", "unreachable")):
        with reading(network, parsers, probe_urls=(known,)) as live:
            read = live.read("https://dead.example.org/")
            assert read.outcome == outcome
            assert live.read("https://www.example.org/nothing-here").outcome == "gone"
        assert read.fault == ("network" if outcome == "fault" else "name")


def test_any_answer_of_any_known_address_will_do(site: Site, parsers: ParserPool) -> None:
    network = Network(site.port, {"dead.example.org": [], "known.example.org": []})
    probes = ("https://known.example.org/", "https://alive.example.org/404")
    with reading(network, parsers, PATIENT, probe_urls=probes) as live:
        assert live.read("https://dead.example.org/").outcome == "unreachable"


def test_a_full_disk_is_our_fault_and_a_surprise_is_the_page_s(
    site: Site, parsers: ParserPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(_: object) -> None:
        raise OSError(28, "no space")

    with reading(Network(site.port), parsers, keep=fill) as live:
        read = live.read(URL)
        assert (read.outcome, read.fault) == ("fault", "disk")
        monkeypatch.setattr(live._fetcher, "fetch", None)
        read = live.read(URL)
        assert (read.outcome, read.fault) == ("unreadable", "TypeError")


def test_whoever_waits_is_told_when_the_reader_is_closed(parsers: ParserPool) -> None:
    async def stay_silent(*_: object) -> None:
        await asyncio.sleep(30)

    ends: list[type[BaseException]] = []

    def wait(live: LivePages) -> None:
        try:
            live.read(URL)
        except BaseException as end:
            ends.append(type(end))

    with serve_site({"/": stay_silent}) as site:
        with reading(Network(site.port), parsers) as live:
            waiting = threading.Thread(target=wait, args=(live,))
            waiting.start()
            while not site.requests:
                time.sleep(0.01)
        waiting.join(5)
    assert not waiting.is_alive()
    assert ends == [CancelledError]


def test_the_way_is_told_with_status_and_address(site: Site, parsers: ParserPool) -> None:
    with reading(Network(site.port), parsers) as live:
        read = live.read(URL + "to?x=ä#y")
    assert [(hop.url, hop.status, hop.address) for hop in read.hops] == [
        (URL + "to?x=ä#y", 302, LOOPBACK),
        (URL, 200, LOOPBACK),
    ]
    assert read.url == URL
    assert site.requests[0].target == "/to?x=%C3%A4"
