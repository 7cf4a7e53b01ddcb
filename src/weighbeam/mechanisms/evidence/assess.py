"""A model's second opinion on a snippet (spec § 12).

It can only reject, so that talking it into anything gains nothing; what is not a proper reply counts for nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.assess_request import (
    PROMPT_DIGEST,
    TAG_DIGITS,
    Claim,
    write_assessment_request,
    write_canary,
)
from weighbeam.mechanisms.evidence.signal_ranges import RANGES, fit_signal
from weighbeam.mechanisms.untrusted import drop_unseen, put_on_one_line
from weighbeam.senses.ports import Assessor

UNASSESSED = "unassessed"
FINAL = frozenset({"assessor_timeout", "assessor_filtered", "wrong_canary"})
MOST_REASON = 300
MOST_RAW = 4000

Signals = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is journaled of an opinion. `fault` says why a snippet is unassessed; then there are no signals."""

    status: str
    model: str
    prompt: str
    raw: str = ""
    fault: str | None = None
    is_search: bool = False
    injection: bool = False
    reason: str = ""
    signals: Signals | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Opinion(BaseModel):
    """A proper reply: these keys, all of them and no other, of these types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    status: Literal["supports", "refutes", "neutral", "unrelated", "fake"]
    is_search: bool
    injection: bool
    canary: str
    reason: str
    signals: dict[str, Any]

    @field_validator("status", mode="before")
    @classmethod
    def _fold(cls, status: object) -> object:
        return status.casefold() if isinstance(status, str) else status

    @field_validator("signals")
    @classmethod
    def _name_all(cls, signals: dict[str, Any]) -> dict[str, Any]:
        if set(signals) != set(RANGES):
            raise ValueError("the signals are not the seven")
        return signals


def assess_snippet(assessor: Assessor, claim: Claim, tag: str) -> Assessment:
    """The model's opinion, after one more try if the first came to nothing that trying again could mend.

    `tag` is 16 random hex digits, new for each snippet; the second try gets one of its own.
    """
    assessment = _ask_once(assessor, claim, tag)
    if assessment.fault is None or assessment.fault in FINAL:
        return assessment
    return _ask_once(assessor, claim, seeded_digest(tag, "again")[:TAG_DIGITS])


def pick_signals(assessment: Assessment | None, default: Signals) -> Signals:
    """The model's signals, or the default assessor's where there are none."""
    return default if assessment is None or assessment.signals is None else assessment.signals


def read_opinion(text: str) -> Opinion | None:
    """The opinion a reply holds, or None: no JSON, a key too many, missing or twice, a wrong type, NaN.

    >>> read_opinion('{"status": "fake"}') is None
    True
    """
    try:
        value = json.loads(text, object_pairs_hook=_refuse_doubles, parse_constant=_refuse_constant)
        return Opinion.model_validate(value)
    except (ValueError, ValidationError, RecursionError):
        return None


def _ask_once(assessor: Assessor, claim: Claim, tag: str) -> Assessment:
    request = write_assessment_request(claim, tag)
    try:
        raw = assessor.assess(request)
    except WeighbeamError as fault:
        return Assessment(UNASSESSED, assessor.id, PROMPT_DIGEST, fault=fault.code)
    except Exception:
        return Assessment(UNASSESSED, assessor.id, PROMPT_DIGEST, fault="assessor_fault")
    return judge_reply(raw, assessor.id, tag)


def judge_reply(raw: str, model: str, tag: str) -> Assessment:
    """What a raw reply to the request with this tag amounts to."""
    kept = drop_unseen(raw[:MOST_RAW])
    opinion = read_opinion(raw)
    if opinion is None or opinion.canary != write_canary(tag):
        fault = "bad_reply" if opinion is None else "wrong_canary"
        return Assessment(UNASSESSED, model, PROMPT_DIGEST, kept, fault)
    return Assessment(
        status=opinion.status,
        model=model,
        prompt=PROMPT_DIGEST,
        raw=kept,
        is_search=opinion.is_search,
        injection=opinion.injection,
        reason=put_on_one_line(opinion.reason)[:MOST_REASON],
        signals={name: fit_signal(name, opinion.signals[name]) for name in RANGES},
    )


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
