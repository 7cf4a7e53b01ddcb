"""Two readers of URLs, one grammar: what evidence judges is what is asked for, and what it refuses is not."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from tests_root import ROOT
from weighbeam.mechanisms.evidence.url.parse import Url, parse_url
from weighbeam.senses.adapters.pages.outcome import ReadRefused
from weighbeam.senses.adapters.pages.web.url import NUMBER_LABEL, PRIVATE_SUFFIXES, parse_page_url

CASES = json.loads((ROOT / "vectors/evidence.url.json").read_text("utf-8"))["cases"]
LISTED = [url for case in CASES for url in (case["input"].get("url"), *case["input"].get("hops", ()))]

SPACES = st.sampled_from(["", " ", "\t\r\n", "\x0c\x0b", "\xa0", "\u2003", "\x00", "\ufeff"])
SCHEMES = st.sampled_from(["https:", "HTTPS:", "hTTps:", "http:", "ftp:", "", "https", "https::", "x-https:", "１:"])
SLASHES = st.sampled_from(["//", "//", "//", "/", "", "///", "\\\\", "/\\"])
LABEL = st.one_of(
    st.sampled_from(["example", "EXAMPLE", "ｗｗｗ", "münchen", "xn--mnchen-3ya", "xn--", "a_b", "-a", "127", "0x7f"]),
    st.sampled_from(["", "[::1]", "[::ffff:127.0.0.1]", "[", "]", "%65", "a@b", "ß", "faß", "א", "①", "\u200d"]),
    st.text(min_size=1, max_size=8),
)
DOT = st.sampled_from([".", ".", ".", "。", "．", "｡", ".."])
LAST = st.sampled_from(["org", "co.uk", "ORG.", "org..", "1", "0x1", "0x", "local", "onion", "", "COM", "ｃｏｍ"])
PORTS = st.sampled_from(
    ["", "", "", ":", ":443", ":0443", f":{'0' * 40}443", ":80", ":0", ":65536", ":４４３", ":x", ":1:2"]
)
PIECES = [
    "/",
    "//",
    ".",
    "..",
    "%2e",
    "%2E%2e",
    "%2f",
    "%41",
    "%7E",
    "%",
    "%zz",
    "%25",
    "a",
    "é",
    "[",
    "'",
    '"',
    "\\",
    " ",
]
PATHS = st.one_of(
    st.just(""),
    st.lists(st.sampled_from(PIECES), max_size=8).map(lambda parts: "/" + "".join(parts)),
    st.text(max_size=8).map("/".__add__),
)
TAILS = st.lists(st.sampled_from(["?", "#", "&", "=", "q", "%3f", "é", "%", "@", ":", "/../"]), max_size=5).map("".join)


@st.composite
def urls(draw: st.DrawFn) -> str:
    labels = draw(st.lists(LABEL, min_size=0, max_size=3))
    host = "".join(label + draw(DOT) for label in labels) + draw(LAST)
    front, behind = draw(SPACES), draw(SPACES)
    return front + draw(SCHEMES) + draw(SLASHES) + host + draw(PORTS) + draw(PATHS) + draw(TAILS) + behind


def place_of(url: str) -> str | None:
    try:
        return parse_page_url(url).url
    except ReadRefused:
        return None


def may_be_asked(url: Url) -> bool:
    """By its form alone; whether anybody can register it, the list of suffixes knows better than the guard."""
    last = url.host.name.rpartition(".")[2]
    somebody = "." in url.host.name and last not in PRIVATE_SUFFIXES and not NUMBER_LABEL.fullmatch(last)
    return not url.host.address and url.port is None and somebody


def check(url: str) -> None:
    judged = parse_url(url)
    if isinstance(judged, str) or not may_be_asked(judged):
        assert place_of(url) is None
        return
    assert place_of(url) == judged.text
    assert parse_page_url(url).host == judged.host.name
    assert place_of(judged.text) == judged.text, "the canonical form is its own"


def test_both_read_the_urls_of_the_vectors_alike() -> None:
    texts = [url for url in LISTED if isinstance(url, str)]
    assert len(texts) > 40
    for url in texts:
        check(url)


@given(urls())
@example("https://example.org:0000000443/")
@example("https://example.org/open/../closed")
@example("https://example.org/open/%2e%2E/closed?")
@example("https://example.org?a=%7e'[#x")
@example("https://example.0x/")
def test_what_is_judged_is_what_is_asked_for(url: str) -> None:
    check(url)


@given(st.text(max_size=40).map("https://".__add__))
def test_no_text_is_read_in_two_ways(url: str) -> None:
    check(url)
