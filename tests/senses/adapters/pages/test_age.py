"""Ages from registries: through the guard, remembered for days, and None whatever goes wrong."""

import json
from collections.abc import Iterator

import pytest

from senses.adapters.pages.tls_servers import (
    PATIENT,
    Network,
    Request,
    Site,
    page,
    redirect,
    say,
    serve_site,
    watching_sockets,
)
from weighbeam.senses.adapters.pages.domain_age import AgeSettings, RdapAges, Registration

NOW = 1_700_000_000.0
DAY = 86_400
RDAP = "Content-Type: application/rdap+json"


def answer(date: object = "2023-11-04T22:13:20Z", action: object = "registration"):
    events = [{"eventAction": "last changed", "eventDate": "2020-01-01"}, {"eventAction": action, "eventDate": date}]
    return page(json.dumps({"events": events}), RDAP)


BOOTSTRAP = {
    "services": [[["org", "co.net"], ["http://x.example.net/", "https://registry.example.net/rdap"]], "noise", [[], []]]
}


@pytest.fixture
def site() -> Iterator[Site]:
    paths = {
        "/domain/ten.org": answer(),
        "/domain/dated.org": answer("2023-11-04"),
        "/domain/shouted.org": answer(action="Registration"),
        "/domain/moved.org": redirect("https://other.example.net/domain/ten.org"),
        "/domain/inside.org": redirect("https://10.0.0.1/"),
        "/domain/future.org": answer("2033-01-01"),
        "/domain/undated.org": answer(None),
        "/domain/odd.org": answer("yesterday"),
        "/domain/none.org": answer(action="expiration"),
        "/domain/list.org": page("[]", RDAP),
        "/domain/events.org": page('{"events": 1}', RDAP),
        "/domain/broken.org": page("{", RDAP),
        "/domain/deep.org": page("[" * 100_000, RDAP),
        "/domain/html.org": page(json.dumps({"events": []})),
        "/domain/large.org": page(b" " * 600_000, RDAP),
        "/domain/error.org": page(b"{}", RDAP, status=500),
        "/dns.json": page(json.dumps(BOOTSTRAP), "Content-Type: application/json"),
        "/rdap/domain/ten.org": answer(),
        "/rdap/domain/ten.co.net": answer(),
    }
    with serve_site(paths) as running:
        yield running


class Kept(dict):
    """Registrations kept in a dictionary."""

    recall = dict.get
    keep = dict.__setitem__


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def ages_of(
    site: Site, clock: Clock | None = None, kept: Kept | None = None, base: str | None = "https://rdap.example.org/"
):
    settings = AgeSettings(base, "https://www.example.org/dns.json", limits=PATIENT)
    return RdapAges(settings, Network(site.port).guard(), kept, clock or Clock())


def test_an_age_is_a_real_number_of_days(site: Site) -> None:
    ages = ages_of(site)
    found = ages.age_days_of(["ten.org", "TEN.ORG", "shouted.org", "moved.org", "dated.org"])
    assert found[:4] == [10.0] * 4
    assert found[4] == pytest.approx(10.926, abs=0.001)
    ages.close()


FAILING = "inside future undated odd none list events broken deep html large error missing".split()


@pytest.mark.parametrize("name", [f"{name}.org" for name in FAILING])
def test_whatever_goes_wrong_the_age_is_unknown(name: str, site: Site) -> None:
    ages = ages_of(site)
    with watching_sockets() as watch:
        assert ages.age_days(name) is None
    assert {address[0] for address in watch.connected} == {"127.0.0.1"}
    ages.close()


@pytest.mark.parametrize(
    "name", ["", "org", "a b.org", "a/../x.org", "127.0.0.1/x", "-a.org", "a" * 300 + ".org", "é.org", "x.org?q"]
)
def test_what_is_no_domain_is_not_asked_for(name: str, site: Site) -> None:
    ages = ages_of(site)
    with watching_sockets() as watch:
        assert ages.age_days(name) is None
    assert watch.connected == []
    ages.close()


def test_answers_are_kept_for_days_and_failures_for_an_hour(site: Site) -> None:
    clock, kept = Clock(), Kept()
    ages = ages_of(site, clock, kept)
    steps = [(0, 2), (1_800, 2), (1_801, 3), (2 * DAY, 4), (8 * DAY, 6)]
    for seconds, requests in steps:
        clock.now = NOW + seconds
        assert ages.age_days("ten.org") == pytest.approx(10 + seconds / DAY)
        assert ages.age_days("missing.org") is None
        if seconds == 1_801:
            clock.now += 3_600
            ages.age_days("missing.org")
        assert len(site.requests) == requests
    assert set(kept) == {"ten.org", "missing.org"}
    ages.close()


def test_what_was_kept_between_runs_is_not_asked_again(site: Site) -> None:
    kept = Kept({"ten.org": Registration(NOW - 3 * DAY, NOW - DAY), "stale.org": Registration(NOW, NOW - 30 * DAY)})
    ages = ages_of(site, kept=kept)
    assert ages.age_days("ten.org") == 3.0
    assert site.requests == []
    assert ages.age_days("stale.org") is None
    assert len(site.requests) == 1
    ages.close()


def test_the_registry_is_found_by_the_bootstrap_file_once(site: Site) -> None:
    ages = ages_of(site, base=None)
    assert ages.age_days_of(["ten.org", "ten.co.net", "ten.com", "missing.org"]) == [10.0, 10.0, None, None]
    asked = [(request.host, request.target) for request in site.requests]
    assert asked[0] == ("www.example.org", "/dns.json")
    assert set(asked[1:]) == {
        ("registry.example.net", f"/rdap/domain/{name}") for name in ("ten.org", "ten.co.net", "missing.org")
    }
    ages.close()


def test_a_bootstrap_file_that_fails_leaves_ages_unknown(site: Site) -> None:
    async def break_down(_: Request, writer) -> None:
        await say(writer, 500, b"")

    site.paths["/dns.json"] = break_down
    ages = ages_of(site, base=None)
    assert ages.age_days_of(["ten.org", "missing.org"]) == [None, None]
    assert [request.target for request in site.requests] == ["/dns.json"]
    ages.close()
