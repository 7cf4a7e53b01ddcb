"""What a mechanism is: the verbs of a round, and the records that pass between them.

    choose → (ask) → OBSERVE → score → stand → weigh

Only `observe` may touch a model, the web, the clock or chance. What it found is an `Observation`: packed, journaled,
never computed again. `choose`, `score`, `stand` and `weigh` are pure functions of recorded data, so that the
validator, the miner at home, the auditor and the lab all run this same code. `checks.check_mechanism` proves it.
What a mechanism may have besides is in `abilities.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from weighbeam.core.canonical import Json
from weighbeam.core.pack import pack, unpack
from weighbeam.senses.ports import Senses

Seed: TypeAlias = str | int
Reply = Literal["ok", "timeout", "unreachable", "error", "malformed", "too_large", "validator_error"]
Status = Literal["valid", "failed", "unscored"]
Stage: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]


class Params(BaseModel):
    """The settings of a mechanism: frozen, typed, and refused when unknown or out of range."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


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
    """What came back from one miner. `seconds` is measured by the validator; `payload` is hostile.

    `reason` says more of a status other than ok; `proof` is the miner's signature over its reply.
    """

    hotkey: str
    payload: Any
    seconds: float = 0.0
    status: Reply = "ok"
    uid: int | None = None
    reason: str | None = None
    proof: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Whom a round asks. `extra` hotkeys are asked but not ranked, `unknown` ones cannot be asked."""

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
        """As `as_json` wrote it."""
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
    """One line of an explanation and the lines it follows from."""

    text: str
    children: tuple["Node", ...] = ()


@dataclass(frozen=True, slots=True)
class WeighRule:
    """Which steps of a weigh-in a mechanism keeps (docs/spec/weigh-in.md § 12).

    `standing` own: `stand` keeps it; emissions: the engine averages `summary["emissions"]` of each round and hands the
    averages to `weigh` as standings. `gate` asked: only a miner asked inside the window can be stale in it; always:
    whoever has no success in the window is; none: nobody is.
    """

    standing: Literal["own", "emissions"] = "own"
    gate: Literal["asked", "always", "none"] = "asked"
    exclude_permits: bool = True


class Mechanism(Protocol):
    """A mechanism keeps this protocol and registers under the entry point group `weighbeam.mechanisms`."""

    name: str
    kind: Literal["asked", "collected"]
    better: Literal["lower", "higher"]
    params_type: type[Params]
    rule: WeighRule

    def choose(
        self,
        params: Any,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        """Whom to ask. Pure. A parameter `min_stake_rao`, if there is one, has the engine leave out who holds less.

        Averages of emissions come as standings with `count`, the evaluations they rest on, in `detail`.
        """
        ...

    def generate_task(self, params: Any, seed: Seed) -> Task:
        """A synthetic question that nobody can know before the seed is drawn. Pure."""
        ...

    def read_task(self, params: Any, name: str, text: str) -> Task:
        """A question made of one file of a folder of tasks; `bad_task` if it makes none. Pure."""
        ...

    def pose(self, params: Any, task: Task) -> Mapping[str, Any]:
        """What a miner is sent of a task: plain JSON, and nothing that tells whom else it went to. Pure.

        A task that cannot be asked is refused here, before anyone is.
        """
        ...

    def ask_seconds(self, params: Any) -> float:
        """How long a miner has to answer."""
        ...

    def name_senses(self, params: Any, senses: Senses) -> Mapping[str, Any]:
        """The senses an observation will be made by, with their digests; it carries them as `senses`."""
        ...

    def observe(self, params: Any, asked: Asked, senses: Senses) -> Observation:
        """Everything scoring needs, measured once. A miner's fault is a fact; ours leaves it unscored."""
        ...

    def score(self, params: Any, observation: Observation) -> Scored:
        """One explained score per answer. Pure."""
        ...

    def stand(self, params: Any, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        """The standings after a round. Pure."""
        ...

    def weigh(self, params: Any, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        """Raw weights of the eligible. Pure."""
        ...

    def recompute(self, parts: Mapping[str, Any]) -> float:
        """The value again, from its parts alone."""
        ...

    def bounds(self, params: Any) -> tuple[float, float]:
        """The least and the greatest value a score can have."""
        ...

    def explain(self, params: Any, observation: Observation, scored: Scored, hotkey: str) -> Node:
        """A tree whose arithmetic a person can check."""
        ...

    def examples(self) -> Sequence[Asked]:
        """A few rounds, good and bad answers among them, for the conformance checks."""
        ...

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        """The JSON of `weighbeam score` as a round; what is wrong with it is named."""
        ...

    def report(self, params: Any, observation: Observation, scored: Scored) -> dict[str, Any]:
        """The JSON that `weighbeam score` prints."""
        ...

    def best(self, params: Any, observation: Observation, scored: Scored) -> str | None:
        """Whose answer an organic caller is given: the best valid one, or None if there is none. Pure."""
        ...

    def stages(self) -> Mapping[str, Stage]:
        """Pure stages by name (`MECHANISM.VERB`), as vector files call them."""
        ...
