"""The seven context signals of the default assessor, and the sense behind one of them."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests_root import ROOT
from weighbeam.core.canonical import digest_text
from weighbeam.mechanism.checks import watch_calls
from weighbeam.mechanisms.evidence.judge.signals import (
    RANGES,
    OtherSnippet,
    SignalPassage,
    SignalSource,
    find_names,
    fit_signal,
    load_signal_words,
    measure_signals,
    rate_source,
)
from weighbeam.senses.adapters.text.sentiment import VaderSentiment

WORDS = load_signal_words()
FILE = ROOT / "src/weighbeam/mechanisms/evidence/word_lists/signal_words.json"
SOURCE = SignalSource("example.com", "example.com")


def measure(context: str, name: str, statement: str = "A claim.", **facts: Any) -> float | None:
    passage = SignalPassage(statement, context, "supports", **facts)
    return measure_signals(passage, SOURCE, (), WORDS)[name]


@pytest.mark.parametrize(
    ("context", "value"),
    [
        ("The cat sat.", 0.5),
        ("It is certainly proven and confirmed.", 0.95),
        ("It was CONFIRMED, without anything else.", 0.65),
        ("It may be, might be, allegedly is, and suggests so.", 0.0),
        ("Proven, but perhaps not.", 0.5),
        ("There is no doubt.", 0.65),
        ("proven " * 50, 1.0),
        ("", 0.5),
    ],
)
def test_conviction(context: str, value: float) -> None:
    assert measure(context, "conviction") == pytest.approx(value)


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({}, 0.5),
        ({"approved": True}, 0.9),
        ({"approved": True, "age_days": 364.9}, 0.2),
        ({"approved": True, "age_days": 365.0}, 0.9),
        ({"approved": True, "user_content": True}, 0.3),
        ({"site": "foo.example.com", "age_days": 3.0}, 0.3),
        ({"domain": "nasa.gov", "site": "nasa.gov"}, 0.75),
        ({"domain": "army.mil", "site": "army.mil"}, 0.75),
        ({"domain": "who.int", "site": "who.int"}, 0.75),
        ({"domain": "mit.edu", "site": "mit.edu"}, 0.75),
        ({"domain": "www.gov.uk", "site": "www.gov.uk"}, 0.75),
        ({"domain": "ox.ac.uk", "site": "ox.ac.uk"}, 0.75),
        ({"domain": "anu.edu.au", "site": "anu.edu.au"}, 0.75),
        ({"domain": "gov.tk", "site": "gov.tk"}, 0.5),
        ({"domain": "mygov.com", "site": "mygov.com"}, 0.5),
        ({"domain": "a.gov.info", "site": "a.gov.info"}, 0.5),
    ],
)
def test_source_credibility_is_the_first_rule_that_applies(change: dict[str, Any], value: float) -> None:
    assert rate_source(replace(SOURCE, **change)) == value


def test_narrative_momentum_counts_other_domains_only() -> None:
    passage = SignalPassage("A claim.", "A context.", "supports")
    others = [
        OtherSnippet("example.com", "refutes"),
        OtherSnippet("b.com", "supports"),
        OtherSnippet("c.com", "neutral"),
    ]
    assert measure_signals(passage, SOURCE, others, WORDS)["narrative_momentum"] == 0.5
    assert measure_signals(passage, SOURCE, others[:2], WORDS)["narrative_momentum"] == 1.0
    assert measure_signals(passage, SOURCE, others[:1], WORDS)["narrative_momentum"] == 0.5
    assert measure_signals(passage, SOURCE, others[2:], WORDS)["narrative_momentum"] == 0.0


@pytest.mark.parametrize(
    ("context", "value"),
    [("Nothing.", 0.5), ("Profit and growth.", 0.75), ("A crisis, a loss, a risk.", 0.2), ("Gain and loss.", 0.5)],
)
def test_risk_reward(context: str, value: float) -> None:
    assert measure(context, "risk_reward") == value


@pytest.mark.parametrize(
    ("context", "days", "value"),
    [
        ("nothing new here", None, 0.0),
        ("nothing new here", 7.0, 0.4),
        ("nothing new here", 0.0, 0.4),
        ("nothing new here", 7.1, 0.0),
        ("nothing new here", -0.1, 0.0),
        ("it was announced", None, 0.3),
        ("there were 42 of them", None, 0.3),
        ("we met Paris there", None, 0.0),
        ("we met Berlin there", None, 0.3),
        ("Berlin is there", None, 0.0),
        ("The court ruled in Berlin on 42 cases", 1.0, 1.0),
    ],
)
def test_catalyst(context: str, days: float | None, value: float) -> None:
    assert measure(context, "catalyst", "Paris has a tower.", days_before_task=days) == pytest.approx(value)


@pytest.mark.parametrize(
    ("context", "value"),
    [
        ("A wealth tax.", 0.0),
        ("A wealth tax and a living wage.", -1.0),
        ("Gun rights and law and order.", 1.0),
        ("Gun rights, gun control.", 0.0),
        ("Workers’ rights, gun control, gun rights, social justice", -0.5),
    ],
)
def test_political_leaning(context: str, value: float) -> None:
    assert measure(context, "political_leaning") == value


@pytest.mark.parametrize("value", [None, "0.3", float("nan"), True, [0.3]])
def test_a_sentiment_that_is_no_number_is_null(value: Any) -> None:
    assert measure("x", "sentiment", sentiment=value) is None


@given(st.text(), st.text(), st.floats(), st.floats())
def test_signals_keep_their_ranges_and_touch_nothing(context: str, statement: str, tone: float, days: float) -> None:
    passage = SignalPassage(statement, context, "neutral", tone, days)
    with watch_calls() as caught:
        signals = measure_signals(passage, SOURCE, [OtherSnippet("b.org", "neutral")], WORDS)
    assert caught == []
    assert list(signals) == list(RANGES)
    for name, value in signals.items():
        least, limit = RANGES[name]
        assert value is None or least <= value <= limit
        assert value is None or value == round(value, 6)
    assert signals == measure_signals(passage, SOURCE, [OtherSnippet("b.org", "neutral")], WORDS)
    json.dumps(signals, allow_nan=False)


@pytest.mark.parametrize(("value", "fitted"), [(2, 1.0), (-3, -1.0), (10**400, None), (-0.0000001, 0.0)])
def test_a_signal_is_clamped(value: Any, fitted: float | None) -> None:
    assert fit_signal("sentiment", value) == fitted


def test_names_are_written_with_a_capital_inside_a_sentence() -> None:
    assert find_names("The Eiffel Tower is in Paris. It opened in May.\nNew line") == [
        "eiffel",
        "tower",
        "paris",
        "may",
    ]


def test_the_word_lists_are_known_by_version_and_digest() -> None:
    data = json.loads(FILE.read_text())
    assert (WORDS.version, WORDS.digest) == (data["version"], digest_text(FILE.read_text()))
    lists = [name for name, terms in data.items() if isinstance(terms, list)]
    assert all(data[name] == sorted(set(data[name])) for name in lists)
    for one, other in [("boosters", "hedges"), ("gains", "losses"), ("left", "right")]:
        assert not set(data[one]) & set(data[other])


def test_sentiment_is_named_and_bounded_in_time() -> None:
    vader = VaderSentiment()
    assert vader.id == "vader"
    assert len(vader.digest) == 64
    assert vader.digest == VaderSentiment().digest
    start = time.perf_counter()
    for text in (
        "but GOOD " * 100_000,
        "😀" * 100_000,
        "!?" * 100_000,
        "a" * 1_000_000,
        "\ud800\x00 not never " * 10_000,
    ):
        assert -1 <= vader.feel(text) <= 1
    assert time.perf_counter() - start < 5
