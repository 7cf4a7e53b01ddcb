"""A model's second opinion on each snippet of a round, within one deadline (spec § 12).

It can only reject, so that talking it into anything gains nothing; what is not a proper reply counts for nothing.
"""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.untrusted import drop_unseen, put_on_one_line
from weighbeam.mechanisms.evidence.judge.request import (
    PROMPT_DIGEST,
    TAG_DIGITS,
    Claim,
    format_assessment_request,
    format_canary,
)
from weighbeam.mechanisms.evidence.judge.signals import RANGES, fit_signal
from weighbeam.mechanisms.evidence.pages.context import StageStopwatch
from weighbeam.senses.ports.protocols import Assessor, ObservationClock

UNASSESSED = "unassessed"
FINAL = frozenset({"assessor_timeout", "assessor_filtered", "wrong_canary"})
MAX_REASON = 300
MAX_RAW = 4000

Signals = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Assessment:
    """Record of an opinion in the journal. `fault` is why a snippet is unassessed; then there are no signals."""

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
    """The model's opinion; a first failure that may be temporary is tried once more.

    `tag` is 16 random hex digits, new for each snippet; the second try gets one of its own.
    """
    assessment = _ask_once(assessor, claim, tag)
    if assessment.fault is None or assessment.fault in FINAL:
        return assessment
    return _ask_once(assessor, claim, seeded_digest(tag, "again")[:TAG_DIGITS])


def pick_signals(assessment: Assessment | None, default: Signals) -> Signals:
    """The model's signals, or the default assessor's where there are none."""
    return default if assessment is None or assessment.signals is None else assessment.signals


def parse_opinion(text: str) -> Opinion | None:
    """The opinion a reply holds, or None: no JSON, a key too many, missing or twice, a wrong type, NaN.

    >>> parse_opinion('{"status": "fake"}') is None
    True
    """
    try:
        value = json.loads(text, object_pairs_hook=_refuse_doubles, parse_constant=_refuse_constant)
        return Opinion.model_validate(value)
    except (ValueError, ValidationError, RecursionError):
        return None


def _ask_once(assessor: Assessor, claim: Claim, tag: str) -> Assessment:
    request = format_assessment_request(claim, tag)
    try:
        raw = assessor.assess(request)
    except WeighbeamError as fault:
        return Assessment(UNASSESSED, assessor.id, PROMPT_DIGEST, fault=fault.code)
    except Exception:
        return Assessment(UNASSESSED, assessor.id, PROMPT_DIGEST, fault="assessor_fault")
    return judge_reply(raw, assessor.id, tag)


def judge_reply(raw: str, model: str, tag: str) -> Assessment:
    """Judge a raw reply to the request with this tag."""
    kept = drop_unseen(raw[:MAX_RAW])
    opinion = parse_opinion(raw)
    if opinion is None or opinion.canary != format_canary(tag):
        fault = "bad_reply" if opinion is None else "wrong_canary"
        return Assessment(UNASSESSED, model, PROMPT_DIGEST, kept, fault)
    return Assessment(
        status=opinion.status,
        model=model,
        prompt=PROMPT_DIGEST,
        raw=kept,
        is_search=opinion.is_search,
        injection=opinion.injection,
        reason=put_on_one_line(opinion.reason)[:MAX_REASON],
        signals={name: fit_signal(name, opinion.signals[name]) for name in RANGES},
    )


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


AT_ONCE = 8
ALL_SECONDS = 45.0


class PendingOpinions:
    """Opinions that were asked for, one per claim and tag; other work goes on meanwhile."""

    def __init__(self, assessor: Assessor, claims: Sequence[tuple[Claim, str]], clock: ObservationClock) -> None:
        self._assessor, self._clock, self._asked = assessor, clock, StageStopwatch(clock)
        self._threads = ThreadPoolExecutor(AT_ONCE, "assess")
        self._opinions = [self._threads.submit(self._assess, claim, tag) for claim, tag in claims]

    def collect(self, seconds: float = ALL_SECONDS) -> list[tuple[Assessment, float]]:
        """In the order of the claims, each with the seconds it took; who has none by the deadline is unassessed."""
        left = min(seconds, max(0.0, ALL_SECONDS - self._asked.seconds))
        done = wait(self._opinions, left).done
        self._threads.shutdown(wait=False, cancel_futures=True)
        return [self._take(one, one in done) for one in self._opinions]

    def _assess(self, claim: Claim, tag: str) -> tuple[Assessment, float]:
        watch = StageStopwatch(self._clock)
        return assess_snippet(self._assessor, claim, tag), watch.seconds

    def _take(self, opinion: "Future[tuple[Assessment, float]]", done: bool) -> tuple[Assessment, float]:
        late = Assessment(UNASSESSED, self._assessor.id, PROMPT_DIGEST, fault="assessor_timeout")
        return opinion.result() if done else (late, self._asked.seconds)
