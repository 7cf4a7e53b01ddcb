"""The observation of a collected round.

Live, every contribution was measured when it was submitted, in the transaction that paid it: the round only writes
down what was found then. Texts that come as such (a question from a file, an example) are measured here, one after
the other, from an empty corpus.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.text import UNICODE_VERSION
from weighbeam.mechanism.records import COLLECTED, Answer, Asked, Observation, Reply
from weighbeam.mechanisms.novelty.events import NoveltyEvent
from weighbeam.mechanisms.novelty.measure import MeasuredText, measure_text
from weighbeam.mechanisms.novelty.order import Contribution, ContributionOrder, OrderedContribution
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.ports.protocols import Sense, Senses

REFUSALS = frozenset({"bad_text", "too_short", "too_long", "implausible"})


def name_senses(params: NoveltyParams, senses: Senses) -> dict[str, Any]:
    named: dict[str, Sense] = {"embedder": senses.embedder, "word_pieces": senses.word_pieces}
    if params.wants_entailment:
        named["entailment"] = senses.entailment
    return {
        **{name: {"id": sense.id, "digest": sense.digest} for name, sense in named.items()},
        "unicode": UNICODE_VERSION,
    }


def observe_round(params: NoveltyParams, asked: Asked, senses: Senses) -> Observation:
    """One row for each contributor, in the order given."""
    line = ContributionOrder(params, senses.entailment if params.wants_entailment else None)
    texts: dict[str, str] = {}
    if asked.task.id == COLLECTED:
        rows = [_copy(answer) for answer in asked.answers]
    else:
        rows = [_observe(params, answer, senses, line, texts) for answer in asked.answers]
    facts = {"format": 1, "at": asked.at, "senses": name_senses(params, senses), "contributors": rows}
    return Observation(facts, {}, texts)


def _copy(answer: Answer) -> dict[str, Any]:
    """Copy the measurement made at submission; only a collector's task can contain one."""
    events = [NoveltyEvent.from_json(one).as_json() for one in answer.payload["contributions"]]
    return {"hotkey": answer.hotkey, "status": answer.status, "events": events, "refused": []}


def _observe(
    params: NoveltyParams, answer: Answer, senses: Senses, line: ContributionOrder, texts: dict[str, str]
) -> dict[str, Any]:
    given = answer.payload.get("contributions") if isinstance(answer.payload, dict) else None
    status: Reply = "malformed" if answer.status == "ok" and not isinstance(given, list) else answer.status
    row: dict[str, Any] = {"hotkey": answer.hotkey, "status": status, "events": [], "refused": []}
    if status != "ok" or not isinstance(given, list):
        return row
    for number, one in enumerate(given):
        try:
            event = _measure(params, f"{answer.hotkey}/{number}", answer.hotkey, one, senses, line, texts)
        except Exception as fault:
            code = fault.code if isinstance(fault, WeighbeamError) else type(fault).__name__
            if code not in REFUSALS:
                return {**row, "status": "validator_error", "events": [], "refused": [code]}
            row["refused"].append(code)
        else:
            row["events"].append(event.as_json())
    return row


def _measure(
    params: NoveltyParams,
    id: str,
    contributor: str,
    text: Any,
    senses: Senses,
    line: ContributionOrder,
    texts: dict[str, str],
) -> NoveltyEvent:
    measured = measure_text(text, params, senses)
    found = line.take(Contribution(id, contributor, measured, not measured.doubts))
    texts[measured.text_sha256] = measured.text
    return make_event(id, measured, found)


def make_event(id: str, measured: MeasuredText, found: OrderedContribution) -> NoveltyEvent:
    near, duplicate = found.neighbour, found.judgement.status == "duplicate"
    return NoveltyEvent(
        id,
        "contribution",
        measured.text_sha256,
        len(measured.vectors),
        near.id if near else None,
        near.micro if near else None,
        duplicate,
        measured.look,
        facts=found.facts,
    )


def parse_events(rows: Sequence[Mapping[str, Any]]) -> list[NoveltyEvent]:
    return [NoveltyEvent.from_json(row) for row in rows]
