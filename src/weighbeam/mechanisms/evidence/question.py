"""The JSON of `weighbeam score evidence`, a question in and a report out; and example rounds for the checks."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from weighbeam.core.days import DAY_SECONDS, number_day
from weighbeam.mechanism.parse import parse_answer_rows, parse_name_and_seconds, refuse_doubles
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Reply, Scored, Task
from weighbeam.mechanisms.evidence.judge.duplicates import COPIED
from weighbeam.mechanisms.evidence.judge.opinions import Assessment, pick_signals
from weighbeam.mechanisms.evidence.judge.signals import (
    OtherSnippet,
    SignalPassage,
    SignalSource,
    SignalWords,
    load_signal_words,
    measure_signals,
)
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.score import JudgedAnswer, judge_round
from weighbeam.mechanisms.evidence.task import MAX_CHARACTERS, parse_statement

SHAPE = (
    '{"statement": "…", "answers": [{"hotkey": "a", "seconds": 3, "snippets": [{"url": "https://…", "excerpt": "…"}]}]}'
)


FILE_KEYS: Mapping[str, Sequence[str]] = {
    "": ("statement", "answers", "archive"),
    "answers": ("hotkey", "seconds", "snippets"),
    "answers[].snippets": ("url", "excerpt"),
}


class EvidenceQuestion(BaseModel):
    """A statement to find evidence for or against."""

    statement: Annotated[
        str,
        StringConstraints(strip_whitespace=True, max_length=MAX_CHARACTERS),
        Field(examples=["The Eiffel Tower is taller than 300 metres."]),
    ]


def parse_question(data: Any) -> Asked:
    """One round out of `{statement, answers: [{hotkey, seconds, snippets}]}`."""
    rows = parse_answer_rows(data, SHAPE)
    answers = tuple(_parse_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    refuse_doubles(hotkeys)
    body = {"statement": data.get("statement")}
    parse_statement(body)
    return Asked(Task("what-if", body), Group(hotkeys), answers, "what-if")


def _parse_answer(row: Any, index: int) -> Answer:
    hotkey, seconds = parse_name_and_seconds(row, index, SHAPE)
    payload = {"snippets": row["snippets"]} if "snippets" in row else {}
    return Answer(hotkey, payload, seconds)


def report_round(params: EvidenceParams, observation: Observation, scored: Scored) -> dict[str, Any]:
    """Every answer with its snippets and their way through the checks, and the verdict on the statement."""
    judged = judge_round(params, observation)
    others = [other for one in judged for other in _list_others(one)]
    words = load_signal_words()
    rows = []
    for score, one in zip(scored.scores, judged, strict=True):
        rows.append(
            {
                "hotkey": score.hotkey,
                "status": score.status,
                "value": score.value,
                "reason": score.reasons[0] if score.reasons else None,
                "reasons": list(score.reasons),
                "parts": score.parts,
                "seconds": one.facts["seconds"],
                "snippets": _report_snippets(one, observation, others, words),
                "extra": one.facts["extra"],
            }
        )
    facts = observation.facts
    return {
        "statement": facts["task"]["statement"],
        "answers": rows,
        "verdict": scored.summary["verdict"],
        "best": scored.summary["best"],
        "senses": facts["senses"],
        "lists": facts["lists"],
        "faults": facts["faults"],
    }


def _report_snippets(
    one: JudgedAnswer, observation: Observation, others: list[OtherSnippet], words: SignalWords
) -> list[dict[str, Any]]:
    task, rows = observation.facts["task"], []
    parts = one.result["parts"]["snippets"] if one.result["parts"] else [{}] * len(one.verdicts)
    for snippet, verdict, part in zip(one.facts["snippets"], one.verdicts, parts, strict=False):
        page, match = snippet.get("page") or {}, snippet.get("match") or {}
        row = {
            "url": snippet["url"]["url"] or snippet["given"],
            "excerpt": snippet["excerpt"],
            **verdict.as_json(),
            "domain_factor": part.get("domain_factor"),
            "copy_of": part.get("copy_of"),
            "outcome": page.get("outcome"),
            "hops": [hop["url"] for hop in page.get("hops", [])],
            "age_days": snippet.get("age_days"),
            "match": match or None,
            "similarity": snippet.get("similarity"),
            "relevance": snippet.get("relevance"),
            "nli": snippet.get("nli"),
            "nli_context": snippet.get("nli_context"),
            "second_read": snippet.get("second_read"),
            "made_for_task": snippet.get("made_for_task"),
            "assessment": snippet.get("assessment"),
            "timings": snippet.get("timings", {}),
            "signals": None,
        }
        if row["copy_of"] is not None:
            row["reason"] = COPIED
        if verdict.accepted:
            row["signals"] = _measure(snippet, verdict.stance, task, others, words)
        rows.append(row)
    return rows


def _measure(
    snippet: Mapping[str, Any], stance: Any, task: Mapping[str, Any], others: list[OtherSnippet], words: SignalWords
) -> Mapping[str, float | None]:
    url = snippet["url"]
    by_users = snippet["match"]["user_content"]
    source = SignalSource(url["domain"], url["site"] or url["domain"], url["approved"], by_users, snippet["age_days"])
    days = _count_days(snippet["page"].get("date"), task["at"])
    passage = SignalPassage(task["statement"], snippet["match"]["context"], stance, snippet.get("sentiment"), days)
    given = snippet.get("assessment")
    assessment = None if given is None else Assessment(**given)
    return pick_signals(assessment, measure_signals(passage, source, others, words))


def _count_days(date: str | None, at: float | None) -> float | None:
    """From the page's date to the task."""
    day = None if date is None else number_day(date)
    return None if day is None or at is None else at / DAY_SECONDS - day


def _list_others(one: JudgedAnswer) -> list[OtherSnippet]:
    return [OtherSnippet(v.domain, v.stance) for v in one.verdicts if v.accepted and v.domain and v.stance]


MOON = "https://www.riverwatch.example/tides/moon-and-sea"
GUIDE = "https://www.highridgeobservatory.example/guides/two-tides-a-day"
STATEMENT = "It is chiefly the Moon that makes the sea rise and fall."
EXCERPT = (
    "The main cause of the tides is the gravity of the Moon, which pulls a little harder on the side"
    " of the Earth that faces it."
)
OTHER = (
    "Tides on Earth are raised mostly by the Moon, with the Sun contributing a smaller part of about"
    " 46 per cent of the lunar effect."
)
ExampleAnswer = tuple[str, object, float, Reply]


def example_rounds() -> Sequence[Asked]:
    """Two rounds: one with every way to fail before a page is judged, one in which hardly anybody answered."""
    quote = {"url": MOON, "excerpt": EXCERPT}
    given: list[ExampleAnswer] = [
        ("quoter", {"snippets": [quote, {"url": GUIDE, "excerpt": OTHER}]}, 2.0, "ok"),
        ("copier", {"snippets": [quote]}, 3.0, "ok"),
        ("parrot", {"snippets": [{"url": MOON, "excerpt": STATEMENT}]}, 1.0, "ok"),
        ("insecure", {"snippets": [{"url": "http://www.riverwatch.example/", "excerpt": EXCERPT}]}, 1.0, "ok"),
        ("searcher", {"snippets": [{"url": "https://www.google.com/search?q=moon", "excerpt": EXCERPT}]}, 1.0, "ok"),
        ("inward", {"snippets": [{"url": "https://127.0.0.1/", "excerpt": EXCERPT}]}, 1.0, "ok"),
        ("terse", {"snippets": [{"url": MOON, "excerpt": "the Moon"}]}, 1.0, "ok"),
        ("stray", {"snippets": [7, {"url": 7}, {}, quote, quote, quote, quote]}, 1.0, "ok"),
        ("empty", {"snippets": []}, 1.0, "ok"),
        ("shapeless", {"quotes": [quote]}, 1.0, "ok"),
        ("no-object", ["snippets"], 1.0, "ok"),
        ("silent", None, 120.0, "timeout"),
        ("broken", None, 1.0, "malformed"),
        ("our-fault", {"snippets": [quote]}, 1.0, "validator_error"),
    ]
    few: list[ExampleAnswer] = [("silent", None, 120.0, "unreachable"), ("empty", {"snippets": []}, 0.1, "ok")]
    return _round("example-1", given), _round("example-2", few)


def _round(name: str, given: Sequence[ExampleAnswer]) -> Asked:
    answers = tuple(Answer(hotkey, payload, seconds, status) for hotkey, payload, seconds, status in given)
    task = Task(name, {"statement": STATEMENT})
    return Asked(task, Group(tuple(a.hotkey for a in answers)), answers, f"seed-of-{name}")
