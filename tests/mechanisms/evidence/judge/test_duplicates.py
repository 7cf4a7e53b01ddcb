"""Copies where the vectors are silent."""

from typing import Any

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT

WORDS = "the bridge was opened in may 1932 by the mayor"


def quote(excerpt: object = WORDS, url: object = "https://a.com/1", accepted: bool = True) -> dict[str, Any]:
    return {"url": url, "excerpt": excerpt, "accepted": accepted}


def compare(*answers: list[dict[str, Any]], **given: Any) -> list[dict[str, Any]]:
    rows = [
        {"hotkey": f"h{i}", "seconds": float(i), "value": 2.0, "snippets": snippets}
        for i, snippets in enumerate(answers)
    ]
    result: list[dict[str, Any]] = STAGES_TEXT["evidence.duplicates"]({"seed": "s", "responses": rows, **given})[
        "responses"
    ]
    return result


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (quote(), quote(WORDS + " and his wife with much applause from all sides"), True),
        (quote(), quote("bridge was opened in may 1932"), True),
        (quote(), quote("the bridge was opened in june 1932 by the mayor"), True),
        (quote(), quote("the bridge fell down in june 1941 with the mayor"), False),
        (quote(), quote(url="https://b.com/1"), False),
        (quote(), quote("in may 1932 by the mayor of the town who spoke"), True),
        (quote(), quote("by the mayor of the town who spoke for long"), False),
        (quote(), quote(accepted=False), False),
        (quote(""), quote(), False),
        (quote(None), quote(), False),
        (quote(url="http://a.com/1"), quote(url="http://a.com/1"), False),
        (quote(url="https://web.archive.org/web/2020/https://a.com/1"), quote(), True),
    ],
)
def test_when_two_snippets_are_the_same(first: dict[str, Any], second: dict[str, Any], same: bool) -> None:
    assert compare([first], [second])[1]["copy_of"] == ("h0" if same else None)


def test_a_shared_quote_pays_the_first_and_the_rest_of_the_answer_stands() -> None:
    own = quote("some engineers doubted that the arch would hold", "https://c.net/3")
    first, second = compare([quote()], [own, quote()])
    assert (first["copy_of"], first["snippets"]) == (None, [None])
    assert (second["copy_of"], second["share"], second["value"], second["reason"]) == (None, 0.5, 2.0, None)
    assert second["snippets"] == [None, {"hotkey": "h0", "snippet": 1}]
    whole = compare([quote()], [own, quote()], params={"copies": "answer"})[1]
    assert (whole["copy_of"], whole["value"], whole["snippets"]) == ("h0", 0.0, [None, None])


def test_a_snippet_that_repeats_an_own_one_is_a_copy_and_the_answer_is_none() -> None:
    (told,) = compare([quote(), quote(), quote("bridge was opened in may 1932")])
    assert told["snippets"] == [None, *[{"hotkey": "h0", "snippet": 1}] * 2]
    assert (told["copy_of"], told["share"], told["reason"]) == (None, 0.0, None)


def test_only_what_is_paid_makes_copies() -> None:
    """Else a forged or copied snippet of a quick miner would take the pay of an honest one."""
    wide = quote("the crowd saw how " + WORDS)
    part = quote("the crowd saw how the bridge", accepted=True)
    assert compare([quote(accepted=False)], [quote()])[1]["copy_of"] is None
    assert compare([quote(accepted=False)], [quote()], params={"copies": "answer"})[1]["copy_of"] == "h0"
    assert [row["copy_of"] for row in compare([quote()], [wide], [part])] == [None, "h0", None]


def test_a_whole_copy_names_the_answer_that_has_most_of_it_and_of_equals_the_earliest() -> None:
    others = [quote(f"{word} was said of it by many people at once", "https://b.org/1") for word in ("this", "that")]
    one, two = quote(), quote("some engineers doubted that the arch would hold", "https://c.net/1")
    assert compare([one], [two], [two, one])[2]["copy_of"] == "h0"
    assert compare([others[0]], [one, two], [others[0], two, one])[2]["copy_of"] == "h1"


def test_only_processed_snippets_count() -> None:
    padding = [quote(f"something else entirely number {i}", f"https://b.org/{i}") for i in range(5)]
    assert compare([*padding, quote()], [quote()])[1]["share"] == 0
    assert compare([quote()], [*padding, quote()])[1]["share"] == 0
    assert compare([*padding, quote()], [quote()], params={"max_snippets": 6})[1]["share"] == 1


def test_the_earliest_of_equals_is_named_and_ties_follow_the_seed() -> None:
    assert [row["copy_of"] for row in compare([quote()], [quote()], [quote()])] == [None, "h0", "h0"]
    rows = [{"hotkey": name, "seconds": 1, "value": 1, "snippets": [quote()]} for name in "abcdef"]
    firsts = set()
    for seed in range(20):
        told = STAGES_TEXT["evidence.duplicates"]({"seed": seed, "responses": rows})["responses"]
        assert sum(row["copy_of"] is None for row in told) == 1
        firsts |= {row["hotkey"] for row in told if row["copy_of"] is None}
    assert len(firsts) > 1


def test_an_unscored_answer_stays_unscored() -> None:
    rows = [{"hotkey": name, "seconds": None, "value": None, "snippets": [quote()]} for name in "ab"]
    told = STAGES_TEXT["evidence.duplicates"]({"seed": "s", "responses": rows})["responses"]
    assert [row["value"] for row in told] == [None, None]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"seed": "s", "responses": [{"hotkey": "a"}, {"hotkey": "a"}]}, "duplicate_hotkey"),
        ({"seed": "s", "responses": [{"hotkey": "a", "seconds": "1"}]}, "bad_seconds"),
        ({"seed": "s", "responses": [{}]}, "bad_input"),
        ({"seed": "s", "responses": [{"hotkey": "a", "value": "1"}]}, "bad_input"),
        ({"responses": []}, "bad_seed"),
    ],
)
def test_refusals(given: dict[str, Any], code: str) -> None:
    with pytest.raises(WeighbeamError, match=code):
        STAGES_TEXT["evidence.duplicates"](given)
