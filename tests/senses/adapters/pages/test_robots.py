"""robots.txt, when it is respected: fetched like a page, obeyed at every hop, and never a way around the guard."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from senses.adapters.pages.tls_servers import PATIENT, Network, Site, Talk, page, reading, redirect, serve_site
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.adapters.pages.web.robots import find_token, keep_own_groups

URL = "https://www.example.org/"
RULES = """User-agent: other
Disallow: /

User-agent: *
Disallow: /closed
Disallow: /*.part$
Allow: /closed/open
"""


def robots(text: str | bytes, **said) -> Talk:
    return page(text, "Content-Type: text/plain", **said)


@pytest.fixture
def site() -> Iterator[Site]:
    paths = {path: page(f"<p>{path}") for path in ("/", "/closed", "/closed/open", "/a.part", "/a.partly")}
    with serve_site({**paths, "/robots.txt": robots(RULES), "/to": redirect("/closed")}) as running:
        yield running


def read(site: Site, parsers: ParserPool, *paths: str, names=None, **settings) -> list[tuple[str, str | None]]:
    settings = {"robots": "respect", **settings}
    with reading(Network(site.port, names or {}), parsers, **settings) as live:
        pages = live.read_all([URL + path for path in paths])
    return [(one.outcome, one.fault) for one in pages]


def count_asked(site: Site) -> Counter[str]:
    return Counter(request.target for request in site.requests)


def test_what_is_disallowed_is_blocked_and_never_asked_for(site: Site, parsers: ParserPool) -> None:
    found = read(site, parsers, "", "closed", "closed/open", "a.part", "a.partly", "to")
    no = ("blocked", "robots")
    assert found == [("read", None), no, ("read", None), no, ("read", None), no]
    asked = count_asked(site)
    assert (asked["/closed"], asked["/a.part"], asked["/robots.txt"]) == (0, 0, 1)


def test_by_default_robots_is_not_even_asked_for(site: Site, parsers: ParserPool) -> None:
    assert read(site, parsers, "closed", robots="ignore") == [("read", None)]
    assert count_asked(site)["/robots.txt"] == 0


def test_the_group_of_our_own_name_is_ours(site: Site, parsers: ParserPool) -> None:
    assert read(site, parsers, "", user_agent="Other/3.1") == [("blocked", "robots")]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (page("no", status=404), ("read", None)),
        (page("no", status=403), ("read", None)),
        (page("later", status=503), ("blocked", "robots")),
        (robots("User-agent: *\nDisallow: /" + "#" * (600 << 10)), ("blocked", "robots")),
        (robots(b"\xff\xfe\x00garbage"), ("read", None)),
        (page(b"{}", "Content-Type: application/json"), ("read", None)),
        (redirect("/robots.txt"), ("read", None)),
        (redirect("http://www.example.org/robots.txt"), ("blocked", "robots")),
        (redirect("https://else.example.org/rules"), ("blocked", "robots")),
    ],
)
def test_what_the_file_comes_to(said: Talk, outcome: tuple[str, str | None], site: Site, parsers: ParserPool) -> None:
    site.paths |= {"/robots.txt": said, "/rules": robots("User-agent: *\nDisallow: /")}
    assert read(site, parsers, "") == [outcome]


def test_a_host_that_cannot_be_asked_is_not_read(site: Site, parsers: ParserPool) -> None:
    async def hang_up(_: object, writer) -> None:
        writer.close()

    site.paths["/robots.txt"] = hang_up
    assert read(site, parsers, "") == [("unreachable", "robots")]
    assert count_asked(site)["/"] == 0


def test_our_own_lost_network_is_told_as_ours(site: Site, parsers: ParserPool) -> None:
    names = {"www.example.org": [], "probe.example.org": []}
    assert read(site, parsers, "", names=names, probe_urls=("https://probe.example.org/",)) == [("fault", "network")]


def test_an_inner_address_stays_refused(site: Site, parsers: ParserPool) -> None:
    """Else a miner could have a forbidden target counted as a page that is merely closed."""
    network = Network(site.port, {"www.example.org": ["10.0.0.1"]})
    with reading(network, parsers, robots="respect") as live:
        found = live.read(URL)
    assert (found.outcome, found.fault, network.dialled) == ("refused", "address", [])


def test_it_is_in_the_digest(parsers: ParserPool) -> None:
    with reading(Network(1), parsers) as plain, reading(Network(1), parsers, robots="respect") as polite:
        assert plain.digest != polite.digest


def test_a_thousand_groups_cost_no_more_than_our_own() -> None:
    """Rules times agents would be a hundred million."""
    text = "\n".join([f"User-agent: a{n}" for n in range(15_000)] + ["User-agent: me", "Disallow: /*x*x*x*y"] * 10_000)
    began = time.process_time()
    kept = keep_own_groups(text, "me")
    from protego import Protego

    assert Protego.parse(kept).can_fetch(f"https://www.example.org/{'x' * 2000}", "me")
    assert time.process_time() - began < 2
    assert "a1" not in kept


def test_groups_and_tokens() -> None:
    text = (
        "Disallow: /lost\nUser-agent: ME\nSitemap: x\nUser-agent: *\n\nDisallow: /a # why\nUser-agent: you\nAllow: /b"
    )
    assert keep_own_groups(text, "me") == "User-agent: me\nUser-agent: *\nDisallow: /a"
    assert find_token("+++") == "*"


def test_two_hosts_under_one_public_suffix_are_two_domains(parsers: ParserPool) -> None:
    """At most one read per domain at once: of a.co.uk and b.co.uk two, of two hosts of a.co.uk one."""
    import asyncio

    from senses.adapters.pages.tls_servers import AUTHORITY
    from weighbeam.app.senses import make_live_settings

    now, limit, together = 0, Counter[str](), asyncio.Event()
    patience = {"/one": 0.15, "/two": 10.0}

    async def linger(request, writer) -> None:
        nonlocal now
        now += 1
        limit[request.target] = max(limit[request.target], now)
        if now == 2:
            together.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(together.wait(), patience[request.target])
        now -= 1
        await page("<p>x")(request, writer)

    certificate = AUTHORITY.issue_cert("a.co.uk", "www.a.co.uk", "b.co.uk")
    limits = replace(PATIENT, per_domain=1)
    with (
        serve_site({"/one": linger, "/two": linger}, certificate) as site,
        reading(Network(site.port), parsers, limits, domain_of=make_live_settings().domain_of) as live,
    ):
        live.read_all(["https://a.co.uk/one", "https://www.a.co.uk/one"])
        live.read_all(["https://a.co.uk/two", "https://b.co.uk/two"])
    assert (limit["/one"], limit["/two"]) == (1, 2)
