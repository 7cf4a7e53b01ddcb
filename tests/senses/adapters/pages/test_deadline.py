"""Everything that is asked for at once is done within one deadline, however slow the pages and registries are."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from threading import Event

import pytest

from senses.adapters.pages.tls_servers import QUICK, Network, Request, Site, page, reading, serve_site
from weighbeam.senses.adapters.pages.domain_age import AgeSettings, RdapAges
from weighbeam.senses.adapters.pages.parsing.parse import ParsedPage
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool

SLOW = [f"https://www.example.org/slow?{number}" for number in range(25)]
FINE = "https://www.example.net/fine"
LIMITS = replace(QUICK, read_seconds=2.5, per_domain=2, all_seconds=4.0)


async def hang(_: Request, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve_site({"/slow": hang, "/fine": page("<p>fine</p>"), "/domain/slow.org": hang}) as running:
        yield running


def test_pages_of_one_slow_domain_end_together_and_hold_up_nobody(site: Site, parsers: ParserPool) -> None:
    """25 reads, two at a time, of 2.5 seconds each would take 32 seconds; by default 250 of 300."""
    with reading(Network(site.port), parsers, LIMITS) as live:
        live.read(FINE)
        began = time.monotonic()
        read = live.read_all([*SLOW, FINE])
        assert time.monotonic() - began < 15.0
        assert read[-1].outcome == "read"
        assert {one.outcome for one in read[:-1]} == {"unreachable"}
        assert [one.fault for one in read[:-1]] == ["timeout"] * 2 + ["deadline"] * 23
        assert [one.url for one in read] == [*SLOW, FINE]
        assert live.read(FINE).outcome == "read", "nothing is left that takes up a place"


def test_a_deadline_missed_while_the_network_is_down_is_our_fault(site: Site, parsers: ParserPool) -> None:
    network = Network(site.port, {"cut.example.org": []})
    with reading(network, parsers, LIMITS, probe_urls=("https://cut.example.org/",)) as live:
        assert {one.outcome for one in live.read_all(SLOW[:6])} == {"fault"}


def test_a_registry_that_hangs_costs_one_deadline_for_all_domains(site: Site) -> None:
    limits = replace(LIMITS, read_seconds=30.0)
    ages = RdapAges(AgeSettings("https://www.example.org/slow/..", limits=limits), Network(site.port).guard())
    began = time.monotonic()
    assert ages.age_days_of(["slow.org"] * 25) == [None] * 25
    assert time.monotonic() - began < 15.0
    ages.close()


def test_nothing_to_read_is_read_at_once(site: Site, parsers: ParserPool) -> None:
    with reading(Network(site.port), parsers, LIMITS) as live:
        assert live.read_all([]) == []


def test_a_page_that_only_waited_for_our_parsers_is_our_fault(site: Site) -> None:
    free = Event()

    class Busy(ParserPool):
        def parse(self, body: bytes, content_type: str, robots: str = "") -> ParsedPage:
            free.wait(60.0)
            return super().parse(body, content_type, robots)

    busy = Busy(workers=1)
    with reading(Network(site.port), busy, replace(LIMITS, all_seconds=6.0)) as live:
        read = live.read_all([f"{FINE}?{number}" for number in range(3)])
        free.set()
    assert sorted(one.outcome for one in read) == ["fault", "fault", "unreachable"]
    assert {one.fault for one in read} == {"deadline"}
    busy.close()
