"""Outcomes of a journal's entries under given parameters and version, in a form that can be stored and compared.

As JSON, one line each: a head, the entries in their order, the standings in the end.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weighbeam.core.errors import WeighbeamError

FORMAT = "outcomes/1"


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """One miner in one round; `emission` where the mechanism pays emissions."""

    hotkey: str
    status: str
    value: float | None
    emission: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """`digest` is that of every score with its parts and of the standings after it."""

    sequence: int
    ref: str
    mechanism: str
    at: float
    digest: str
    results: tuple[AnswerOutcome, ...]


@dataclass(frozen=True, slots=True)
class WeighInOutcome:
    """`shares` are of all weights, none on a skip; `digest` is that of raw weights and decision. `made`: the journal
    holds no such weigh-in. `burn` is who takes a burnt share. At how many blocks modes begin is in `degraded` and
    `emergency`, and how long a block takes in `block_seconds`."""

    sequence: int
    ref: str
    mechanism: str
    at: float
    digest: str
    mode: str
    blocks: int
    action: str
    reason: str | None
    uniform: bool
    shares: Mapping[str, float]
    uids: Mapping[str, int]
    burn: str | None = None
    made: bool = False
    degraded: int = 4000
    emergency: int = 4500
    block_seconds: float = 12.0


@dataclass(frozen=True, slots=True)
class FinalStandings:
    """By mechanism and hotkey, the standings after the last entry."""

    standings: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


Outcome = RoundOutcome | WeighInOutcome | FinalStandings
KINDS: Mapping[str, type[Any]] = {"round": RoundOutcome, "weigh_in": WeighInOutcome, "end": FinalStandings}
NAMES = {kind: name for name, kind in KINDS.items()}


def format_outcomes(outcomes: Iterable[Outcome], version: str) -> Iterator[dict[str, Any]]:
    yield {"weighbeam": FORMAT, "version": version}
    for one in outcomes:
        yield {"kind": NAMES[type(one)], **asdict(one)}


def parse_outcomes(lines: Iterable[Any]) -> Iterator[Outcome]:
    """Parse the output of `format_outcomes`; `bad_outcomes` if it is invalid or ends too early."""
    rows = iter(lines)
    head = next(rows, None)
    if not isinstance(head, dict) or head.get("weighbeam") != FORMAT:
        raise _bad("does not begin like a file of outcomes")
    last: Outcome | None = None
    for row in rows:
        last = _parse_outcome(row)
        yield last
    if not isinstance(last, FinalStandings):
        raise _bad("is cut short")


def _parse_outcome(row: Any) -> Outcome:
    try:
        given = dict(row)
        kind = KINDS[given.pop("kind")]
        if "results" in given:
            given["results"] = tuple(
                AnswerOutcome(**{**one, "reasons": tuple(one["reasons"])}) for one in given["results"]
            )
        outcome: Outcome = kind(**given)
    except (KeyError, TypeError, ValueError):
        raise _bad("holds a line that is not an outcome") from None
    return outcome


def _bad(what: str) -> WeighbeamError:
    return WeighbeamError(
        "bad_outcomes", f"what was given {what}", "write it with weighbeam lab backtest --outcomes FILE"
    )
