"""The lookup in the public suffix list, against a library that reads the same list."""

import itertools

import pytest
import tldextract

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.suffixes import LIST, SUFFIXES, parse_suffixes


def list_hosts() -> list[str]:
    """Every rule of the list as a host, with one and with two labels before it."""
    rules = sorted(SUFFIXES.every.plain | SUFFIXES.every.wild | SUFFIXES.every.spared)
    return [prefix + rule for rule, prefix in itertools.product(rules, ("", "foo.", "bar.foo.", "www.bar.foo."))]


@pytest.fixture(scope="module")
def extract() -> tldextract.TLDExtract:
    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=(LIST.as_uri(),), fallback_to_snapshot=False)


# A rule for what is below it makes the library forget the wildcard that covers it.
FORGOTTEN = "sub.wc.psl.hrsn.dev"


def test_domains_and_sites_are_those_of_the_library(extract: tldextract.TLDExtract) -> None:
    hosts = [host for host in list_hosts() if host.rpartition(".")[2] not in ("onion", "arpa")]
    assert len(hosts) > 30_000
    for host in hosts:
        domain = extract(host, include_psl_private_domains=False).top_domain_under_public_suffix or None
        tenant = extract(host, include_psl_private_domains=True).top_domain_under_public_suffix or None
        assert SUFFIXES.find_domain(host) == domain, host
        assert host == FORGOTTEN or SUFFIXES.find_site(host) == (domain and (tenant or domain)), host


@pytest.mark.parametrize(
    "host", ["localhost", "foo.bar.invalidtld", "com", "co.uk", "foo.onion", "1.0.0.127.in-addr.arpa"]
)
def test_no_registered_domain(host: str) -> None:
    assert SUFFIXES.find_domain(host) is None
    assert SUFFIXES.find_site(host) is None


def test_wildcards_and_their_exceptions() -> None:
    assert SUFFIXES.find_domain("a.b.ck") == "a.b.ck"
    assert SUFFIXES.find_domain("b.ck") is None
    assert SUFFIXES.find_domain("a.www.ck") == "www.ck"


def test_further_suffixes_serve_demos() -> None:
    more = SUFFIXES.add(["example"])
    assert more.find_domain("a.news.example") == more.find_site("a.news.example") == "news.example"
    assert SUFFIXES.find_domain("a.news.example") is None


def test_the_list_says_which_it_is() -> None:
    assert SUFFIXES.version >= "2025-04-07"
    assert len(SUFFIXES.sha256) == 64


def test_a_damaged_list_is_refused() -> None:
    with pytest.raises(WeighbeamError, match="bad_suffix_list"):
        parse_suffixes("com\norg\n")
