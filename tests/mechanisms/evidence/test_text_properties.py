"""What holds for any URL, page and excerpt."""

import contextlib
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.excerpt.forms import classify_form
from weighbeam.mechanisms.evidence.excerpt.match import match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import Tokens, tokenise
from weighbeam.mechanisms.evidence.excerpt.text import clean_text
from weighbeam.mechanisms.evidence.excerpt.tokens import find_tokens
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT
from weighbeam.mechanisms.evidence.url.parse import Url, parse_url

ANYTHING = st.text(st.characters(), max_size=40)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANYTHING,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANYTHING, inner, max_size=4),
    max_leaves=8,
)
HOSTS = st.sampled_from(["example.org", "a.b.co.uk", "münchen.de", "x.github.io", "sub.example.com"])
PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters="\\#"), max_size=30)
PARTS = st.lists(
    st.tuples(st.text(string.ascii_letters, min_size=1, max_size=4), st.text("abc%2Fé+", max_size=5)), max_size=4
)
WORDS = st.sampled_from(
    "the moon is made of green cheese near river bank co operation cooperation it's 3.5 12,000 %".split()
)
PAGES = st.lists(WORDS | st.text(string.ascii_lowercase, min_size=1, max_size=7), min_size=6, max_size=60)
KEYS = (
    "url hops excerpt blacklist approved extra_suffixes params page full user_spans statement snippet similarity"
    " age_days match second_read made_for_task relevance nli nli_context assessment seed responses"
).split()


def parse(text: str) -> Url:
    url = parse_url(text)
    assume(isinstance(url, Url))
    assert isinstance(url, Url)
    return url


@given(HOSTS, PATHS, st.sampled_from(["", ":443", ":8443"]))
def test_the_canonical_url_is_its_own(host: str, path: str, port: str) -> None:
    once = parse(f"https://{host}{port}/{path}")
    again = parse(once.text)
    assert (again.text, again.page_key, again.host) == (once.text, once.page_key, once.host)


@given(
    HOSTS, st.text("ab/.%2e", max_size=12), PARTS, st.sampled_from(["utm_source=x", "gclid=1", "fbclid", "ref_src=t"])
)
def test_the_page_key_ignores_tracking_order_and_www(
    host: str, path: str, parts: list[tuple[str, str]], tracking: str
) -> None:
    pairs = ["=".join(part) for part in parts]
    plain = parse(f"https://{host}/{path}?{'&'.join(pairs)}")
    other = parse(f"HTTPS://WWW.{host}:443/{path}?{'&'.join([tracking, *reversed(pairs)])}#top")
    assert plain.page_key == other.page_key


@given(st.text(st.characters(), max_size=80))
def test_no_text_breaks_parsing(text: str) -> None:
    parse_url(text)
    parse_url(f"https://{text}")


@given(st.text(st.characters(), max_size=60))
def test_cleaning_happens_once(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)


@given(st.text(st.characters(), min_size=1, max_size=200), st.data())
def test_a_verbatim_slice_on_word_bounds_is_found(text: str, data: st.DataObject) -> None:
    page = clean_text(text)
    spans = find_tokens(page)
    assume(spans)
    first = data.draw(st.integers(0, len(spans) - 1))
    last = data.draw(st.integers(first, len(spans) - 1))
    start, end = spans[first][0], spans[last][1]
    tokens = tokenise(page)
    assume(tokenise(page[start:end]).forms == cut(tokens, start, end))
    assume(not tokens.cuts[:-1][tokens.starts == start].any() and not tokens.cuts[1:][tokens.ends == end].any())
    assert match_excerpt(page[start:end], tokens).found


@given(PAGES, st.data())
def test_a_slice_of_plain_words_is_found(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    page = tokenise(", ".join(words))
    found = match_excerpt(" – ".join(words[first : last + 1]).upper(), page)
    assert found.found
    assert found.typos == 0
    assert found.span is not None
    assert found.text == page.text[slice(*found.span)]
    assert found.context is not None
    assert found.text in found.context


@given(PAGES, st.data(), st.sampled_from(["not", "never", "without", "n't"]))
def test_a_dropped_negation_is_never_found(words: list[str], data: st.DataObject, negation: str) -> None:
    at = data.draw(st.integers(1, len(words) - 1))
    negated = [*words[:at], "do" + negation, *words[at:]] if negation == "n't" else [*words[:at], negation, *words[at:]]
    dropped = [*words[:at], "do", *words[at:]] if negation == "n't" else words
    found = match_excerpt(" ".join(dropped), tokenise(" ".join(negated)))
    assert not found.found
    assert found.altered == "meaning" or len(tokenise(" ".join(dropped))) < 5


@given(PAGES, st.data(), st.integers(0, 99_999), st.integers(0, 99_999))
def test_a_changed_number_is_never_found(words: list[str], data: st.DataObject, one: int, other: int) -> None:
    assume(one != other)
    at = data.draw(st.integers(0, len(words)))
    page = tokenise(" ".join([*words[:at], str(one), *words[at:]]))
    assert not match_excerpt(" ".join([*words[:at], str(other), *words[at:]]), page).found


@given(PAGES)
def test_forms_have_a_kind_and_tokens_are_in_order(words: list[str]) -> None:
    tokens = tokenise(" ".join(words))
    assert (tokens.ends > tokens.starts).all()
    assert all(classify_form(form) in ("number", "negation", "quantifier", "word") for form in tokens.forms)


@pytest.mark.parametrize("stage", sorted(STAGES_TEXT))
@given(st.dictionaries(st.sampled_from(KEYS), JUNK))
def test_junk_is_judged_or_refused(stage: str, junk: dict[str, object]) -> None:
    with contextlib.suppress(WeighbeamError):
        STAGES_TEXT[stage](junk)


@given(ANYTHING, ANYTHING, ANYTHING)
def test_any_text_is_judged(url: str, excerpt: str, page: str) -> None:
    STAGES_TEXT["evidence.url"]({"url": f"https://a.com/{url}", "excerpt": excerpt, "hops": [url]})
    STAGES_TEXT["evidence.match"]({"excerpt": excerpt, "page": page, "full": url})
    snippet = {"url": "https://a.com/", "excerpt": excerpt}
    STAGES_TEXT["evidence.snippet"]({"statement": page, "snippet": snippet})
    responses = [{"hotkey": "a", "seconds": 1, "value": 1, "snippets": [{**snippet, "accepted": True}]}]
    STAGES_TEXT["evidence.duplicates"]({"seed": url, "responses": responses})


def cut(tokens: Tokens, start: int, end: int) -> list[str]:
    """The forms of a page between two offsets; a dash at the cut may read otherwise alone."""
    inside = (tokens.starts >= start) & (tokens.ends <= end)
    return [form for form, held in zip(tokens.forms, inside.tolist(), strict=True) if held]
