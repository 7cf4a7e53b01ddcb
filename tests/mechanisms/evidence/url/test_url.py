"""Checks 1 to 5 where the vectors are silent."""

from typing import Any

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT
from weighbeam.mechanisms.evidence.url.known_hosts import ANSWER_ENGINES, REDIRECTORS, SEARCH_ENGINES
from weighbeam.mechanisms.evidence.url.lists import Lists
from weighbeam.mechanisms.evidence.url.verdict import UrlVerdict, judge_url

ARCHIVE = "https://web.archive.org/web/2020"


def judge(url: object, **given: Any) -> dict[str, Any]:
    return STAGES_TEXT["evidence.url"]({"url": url, **given})


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (None, "malformed_url"),
        (7, "malformed_url"),
        ("https://a.com/" + "x" * 2_050, "malformed_url"),
        ("https://a.com/x y", "malformed_url"),
        ("https://a.com/\u00a0", "malformed_url"),
        ("https://a.com\\@evil.org/", "malformed_url"),
        ("https://a.com/\ud800", "malformed_url"),
        ("https://a.com:0/", "malformed_url"),
        ("https://a.com:65536/", "malformed_url"),
        ("https://a.com:x/", "malformed_url"),
        ("https:/a.com/", "malformed_url"),
        ("https://a..com/", "malformed_url"),
        ("https://a_b.com/", "malformed_url"),
        ("https://[::1/", "malformed_url"),
        ("https://[::g]/", "malformed_url"),
        ("//a.com/", "non_https"),
        ("javascript:alert(1)", "non_https"),
        ("https://127.1/", "forbidden_target"),
        ("https://0x7f.0x1/", "forbidden_target"),
        ("https://０x7f000001/", "forbidden_target"),
        ("https://[fe80::1]/", "forbidden_target"),
        ("https://co.uk/", "forbidden_target"),
        ("https://abc.onion/", "forbidden_target"),
        ("https://www.perplexity.ai/page/x", "search_url"),
        ("https://a.com/wiki/Special:Search", "search_url"),
        ("https://a.com/%73earch/", "search_url"),
        ("https://a.com/x?Q=moon", "search_url"),
        ("https://a.com/blog/index.php?s=moon", "search_url"),
        ("https://www.amazon.de/s?k=moon", "search_url"),
        ("https://yandex.ru/?text=moon", "search_url"),
        ("https://a.com/x?text=moon", None),
        ("https://a.com/x?s=moon", None),
        ("https://a.com/x?q=17", None),
        ("  https://a.com/  ", None),
        ("https://a.com:/", None),
    ],
)
def test_reasons(url: object, reason: str | None) -> None:
    assert judge(url)["reason"] == reason


def test_a_redirector_is_no_search_and_never_approved() -> None:
    verdict = judge("https://www.google.co.uk/url?q=https://nature.com", approved=["google.co.uk"])
    assert (verdict["ok"], verdict["kind"], verdict["approved"]) == (True, "redirector", False)


def test_escapes_and_dots_cannot_make_two_pages_of_one() -> None:
    assert judge("https://a.com/x/%2e%2e/%%34%31é?")["url"] == "https://a.com/%2541%C3%A9"


@pytest.mark.parametrize(
    ("inner", "reason", "domain", "kind"),
    [
        ("http://www.example.org/a", None, "example.org", "archive"),
        ("example.org/a", None, "example.org", "archive"),
        ("https://münchen.de/a", None, "xn--mnchen-3ya.de", "archive"),
        ("ftp://example.org/a", "non_https", None, None),
        ("https://user@example.org/", "malformed_url", None, None),
        ("https://bad.com/", "blacklisted_domain", "bad.com", "archive"),
        ("https://bad.com/?q=moon", "blacklisted_domain", "bad.com", "archive"),
        ("https://web.archive.org/web/2021/https://bad.com/", "blacklisted_domain", "bad.com", "archive"),
        ("https://127.0.0.1/", "forbidden_target", None, "archive"),
        ("https://example.org/?q=moon", "search_url", "example.org", "search"),
    ],
)
def test_archives_are_judged_by_what_they_hold(inner: str, reason: str, domain: str, kind: str) -> None:
    verdict = judge(f"{ARCHIVE}/{inner}", blacklist=["bad.com"], approved=["example.org", "archive.org"])
    assert (verdict["reason"], verdict["domain"], verdict["kind"]) == (reason, domain, kind)
    assert verdict["host"] == "web.archive.org"
    assert not verdict["approved"]


def test_an_archive_path_that_leads_elsewhere_is_no_copy() -> None:
    verdict = judge(f"{ARCHIVE}/https://good.org/../../../../../details/x")
    assert (verdict["kind"], verdict["domain"]) == ("page", "archive.org")


@pytest.mark.parametrize(
    ("url", "entries", "approved"),
    [
        ("https://a.gov/", ["gov"], False),
        ("https://a.gov/", [".gov"], True),
        ("https://a.gov/", [".gov", "!a.gov"], False),
        ("https://x.github.io/a/b", ["github.io/a"], False),
        ("https://x.github.io/a/b", ["x.github.io/a"], True),
        ("https://x.github.io/A/b", ["x.github.io/a"], False),
        ("https://news.bbc.co.uk/", [{"match": "BBC.co.uk", "reason": "r", "added": "2026-01-01"}], True),
        ("https://bbc.co.uk/", ["news.bbc.co.uk"], False),
        ("https://github.io/", ["github.io"], True),
    ],
)
def test_approval(url: str, entries: list[Any], approved: bool) -> None:
    assert judge(url, approved=entries)["approved"] is approved


def test_a_blacklisted_address_matches_exactly() -> None:
    assert judge("https://1.2.3.4/", blacklist=["1.2.3.4"])["reason"] == "blacklisted_domain"
    assert judge("https://9.1.2.3.4/", blacklist=["1.2.3.4"])["reason"] == "forbidden_target"


@pytest.mark.parametrize("entry", [None, 7, {}, "", "!", "https://a.com", ".github.io", ".", "a b", "a.com/\ud800"])
def test_a_broken_entry_is_refused(entry: object) -> None:
    with pytest.raises(WeighbeamError, match="bad_entry"):
        judge("https://a.com/", blacklist=[entry])


def test_a_verdict_can_be_recorded() -> None:
    verdict = judge_url("https://a.com/x", ["https://b.org/"], None, Lists(), EvidenceParams())
    assert verdict.redirected
    assert UrlVerdict(**verdict.as_json()) == verdict


def test_known_hosts_say_which_they_are() -> None:
    for known in (SEARCH_ENGINES, ANSWER_ENGINES, REDIRECTORS):
        assert known.version >= 1
        assert len(known.sha256) == 64
