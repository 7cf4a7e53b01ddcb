"""The records that pass between the verbs of a round."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import NDArray

from weighbeam.core.canonical import Json
from weighbeam.core.pack import pack, unpack
from weighbeam.mechanism.untrusted import put_on_one_line

Seed: TypeAlias = str | int
Reply = Literal["ok", "timeout", "unreachable", "error", "malformed", "too_large", "validator_error"]
Status = Literal["valid", "failed", "unscored"]
TRIMMED = "trimmed"
"""The reason, and the only key of the payload, of an answer whose text the journal does not keep."""
BYTES_PER_NODE = 8
"""A body may hold one JSON value or key per this many bytes of its limit: a list of short numbers needs that."""
Stage: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """One question. `body` is the mechanism's own; a miner never sees `wanted` or `ranked`."""

    id: str
    body: Mapping[str, Any]
    kind: Literal["synthetic", "organic"] = "synthetic"
    wanted: tuple[str, ...] = ()
    ranked: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """Reply of one miner. `seconds` is measured by the validator; `payload` is hostile.

    `reason` details a status other than ok; `proof` is the miner's signature over its reply. Of a failed answer
    that was long the journal keeps `{"trimmed": {"sha256", "bytes", "text"}}`, with `trimmed` as the reason.
    """

    hotkey: str
    payload: Any
    seconds: float = 0.0
    status: Reply = "ok"
    uid: int | None = None
    reason: str | None = None
    proof: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """The largest reply to a task, in bytes and in JSON values and keys."""

    bytes: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Group:
    """The miners that a round asks. `extra` hotkeys are asked but not ranked, `unknown` ones cannot be asked."""

    members: tuple[str, ...]
    index: int | None = 0
    count: int = 1
    base: float = 0.0
    extra: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A round before it is observed: the task, whom it went to, what they said, and the round's seed.

    `entities` says who is known to be one operator's (hotkey → an opaque name); the asker's word, never a miner's. `at`
    is when it was asked, in seconds of UTC.
    """

    task: Task
    group: Group
    answers: tuple[Answer, ...]
    seed: Seed
    entities: Mapping[str, str] = field(default_factory=dict)
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """All that scoring may know of a round. `texts` (by SHA-256) serve explanations and may be deleted."""

    facts: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def pack(self) -> bytes:
        return pack(self.facts, self.arrays)

    @classmethod
    def unpack(cls, data: bytes, texts: Mapping[str, str] | None = None) -> "Observation":
        facts, arrays = unpack(data)
        return cls(facts, arrays, texts or {})


@dataclass(frozen=True, slots=True)
class Score:
    """One miner's result. `value` is None exactly when unscored: the validator's fault, never the miner's."""

    hotkey: str
    status: Status
    value: float | None
    parts: Mapping[str, Any] | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored round: one score per answer, in the order asked, and what the round says as a whole."""

    scores: tuple[Score, ...]
    summary: Mapping[str, Any]

    def as_json(self) -> Json:
        rows = [
            {
                "hotkey": score.hotkey,
                "status": score.status,
                "value": score.value,
                "parts": score.parts,
                "reasons": list(score.reasons),
            }
            for score in self.scores
        ]
        return {"scores": rows, "summary": self.summary}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> "Scored":
        """Undo `as_json`."""
        rows = (
            Score(row["hotkey"], row["status"], row["value"], row["parts"], tuple(row["reasons"]))
            for row in written["scores"]
        )
        return cls(tuple(rows), written["summary"])


@dataclass(frozen=True, slots=True)
class Standing:
    """A miner over time. `value` None means never ranked; `detail` is the mechanism's own memory."""

    hotkey: str
    value: float | None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Weights:
    """Raw weights by hotkey, before the engine normalises them and looks uids up."""

    raw: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Node:
    """One line of an explanation and the lines it follows from.

    As text it is a tree. What miners wrote is put on one line, without control characters.

    >>> print(Node("sum 3", (Node("1"), Node("2", (Node("1 + 1"),)))))
    sum 3
    ├── 1
    └── 2
        └── 1 + 1
    """

    text: str
    children: tuple["Node", ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield put_on_one_line(self.text)
        for number, child in enumerate(self.children, 1):
            last = number == len(self.children)
            first, *rest = child._lines()
            yield ("└── " if last else "├── ") + first
            yield from (("    " if last else "│   ") + line for line in rest)


@dataclass(frozen=True, slots=True)
class WeighRule:
    """Which steps of a weigh-in a mechanism keeps (docs/spec/weigh-in.md § 12).

    `standing` own: `stand` keeps it; emissions: the engine averages `summary["emissions"]` of each round and hands the
    averages to `weigh` as standings, each times the `factor` in the detail that `stand` keeps of the miner, if any.
    `gate` asked: only a miner asked inside the window can be stale in it; always: a miner
    without a success in the window is; none: nobody is.
    """

    standing: Literal["own", "emissions"] = "own"
    gate: Literal["asked", "always", "none"] = "asked"
    exclude_permits: bool = True


COLLECTED = "collected"
"""Task of a round that asks no miner."""
MAX_COLLECTED = 1000
"""The most contributions of such a round."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Contributions since the last round: one answer per contributor, and the position read up to."""

    answers: tuple[Answer, ...]
    cursor: Json
    is_all: bool = True


class Collector(Protocol):
    """Where a collected round's contributions come from."""

    def collect(self, cursor: Json, limit: int) -> Collected:
        """At most `limit` contributions after `cursor` (None: from the beginning), in the order of their commits."""
        ...


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric: a counter adds up over rounds, a gauge is what the last round said; `help` is one line for people."""

    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Narrative:
    """A round in words, its author, and the fault of a model that was asked and did not deliver."""

    text: str
    by: str = "deterministic"
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """A suggested change. `gain` is the average gain in a round's score, if it can be computed."""

    title: str
    text: str
    gain: float | None = None


ScorePair: TypeAlias = tuple[Score, Score | None]
"""A miner's score of a round, and the valid one of the highest value in the same round; None if there was none."""


class Refused(Exception):
    """Raised by `Mechanism.measure`: the reply earns nothing, for the reason given (a short code)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
