"""What a mechanism is: the verbs of a round, and the records that pass between them.

    choose → (ask) → OBSERVE → score → stand → weigh

Only `observe` may touch a model, the web, the clock or chance. What it found is an `Observation`: packed, journaled,
never computed again. `choose`, `score`, `stand` and `weigh` are pure functions of recorded data, so that the
validator, the miner at home, the auditor and the lab all run this same code. `checks.check_mechanism` proves it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from weighbeam.core.canonical import Json, digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.pack import pack, unpack
from weighbeam.pictures.heatmap import Heatmap
from weighbeam.senses.ports import Narrator, Senses

Seed: TypeAlias = str | int
Reply = Literal["ok", "timeout", "unreachable", "error", "malformed", "too_large", "validator_error"]
Status = Literal["valid", "failed", "unscored"]
Stage: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
Verb = Literal["choose", "ask", "observe", "score", "stand", "weigh"]


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


COLLECTED = "collected"
"""The task of a round that asks nobody."""
MOST_COLLECTED = 1000
"""The most contributions of such a round."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What came in since the last round: one answer per contributor, and up to where it was read."""

    answers: tuple[Answer, ...]
    cursor: Json
    is_all: bool = True


class Collector(Protocol):
    """Where a collected round's contributions come from."""

    def collect(self, cursor: Json, most: int) -> Collected:
        """At most so many contributions after `cursor`, None for the beginning, in the order they were committed."""
        ...


@runtime_checkable
class Collects(Protocol):
    """What a mechanism of the kind `collected` has besides. `choose`, `generate_task` and `pose` are not used of it:
    a round holds what came in since the last one, one answer per contributor, in the order it was committed."""

    def is_stale(self, params: Any, standings: Sequence[Standing], now: float) -> bool:
        """Whether a round without any contribution would change a standing by now. Pure."""
        ...


@runtime_checkable
class Burns(Protocol):
    """What a mechanism has besides if it burns a share of its weights, its parameter `burn_share`."""

    def weigh_burning(
        self, params: Any, standings: Sequence[Standing], eligible: Collection[str], burn: str | None
    ) -> Weights:
        """Raw weights of the eligible and of `burn`, who takes the burnt share; None if nobody does. Pure."""
        ...


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric: a counter adds up over rounds, a gauge is what the last round said; `help` is one line for people."""

    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = ()


@runtime_checkable
class Measures(Protocol):
    """What a mechanism has besides if its rounds are counted: `weighbeam_MECHANISM_NAME` in `/metrics`.

    The summary of its scores holds `metrics`, rows of `[name, label values, number]`.
    """

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Every metric there may be, by name (lower case, digits, underscores)."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """A round in words, who told it, and why a model that was asked did not."""

    text: str
    by: str = "deterministic"
    fault: str | None = None


@runtime_checkable
class Tells(Protocol):
    """What a mechanism may have besides: a picture and a narrative of each round.

    Both are made after the scores are durable, from the journal alone, and are an input of nothing.
    """

    def draw(self, params: Any, observation: Observation, round_id: str) -> Heatmap | None:
        """How alike the answers were; None if there is nothing to draw, or the parameters want none."""
        ...

    def tell(
        self,
        params: Any,
        observation: Observation,
        picture: str | None,
        narrator: Narrator | None,
        nonce: str,
    ) -> Told:
        """The narrative; `picture` is where the picture is, `nonce` 16 hex digits that no miner can know."""
        ...


@runtime_checkable
class Spreads(Protocol):
    """What a mechanism may have besides if its standing is an estimate: how sure it is, for people to see.

    Averages of emissions (`WeighRule.standing`) are the engine's, and so is their spread.
    """

    def spread(self, params: Any, standing: Standing, course: Sequence[float]) -> float | None:
        """One standard error of `standing`, given the miner's standings after its last rounds, oldest first.

        None where that cannot be said: fewer than three rounds, or a standing that is exact. Pure.
        """
        ...


@dataclass(frozen=True, slots=True)
class Advice:
    """What a miner should change. `gain` is what a round's score would gain by it on average, if that can be said."""

    title: str
    text: str
    gain: float | None = None


Pair: TypeAlias = tuple[Score, Score | None]
"""A miner's score of a round, and the valid one of the highest value in the same round; None if there was none."""


@runtime_checkable
class Advises(Protocol):
    """What a mechanism may have besides: what a miner should improve, and what its reasons mean.

    Everything said is the mechanism's own words and numbers: never a text that a miner sent.
    """

    @property
    def meanings(self) -> Mapping[str, str]:
        """For every reason a score can have, one sentence: what it means and what to do."""
        ...

    def advise(self, params: Any, pairs: Sequence[Pair]) -> tuple[Advice, ...]:
        """At most five, the most worthwhile first, from a miner's recent rounds, oldest first. Pure."""
        ...


@dataclass(frozen=True, slots=True)
class ReadBy:
    """What of a round a parameter changes; no verb if it only changes what people are shown.

    Where `observe` is among the verbs, `holds` says which other values can still be tried on what was observed: any,
    only higher ones (what they leave out was all observed), only lower ones; None if it must be observed anew.
    """

    verbs: tuple[Verb, ...]
    holds: Literal["any", "raised", "lowered"] | None = None


@runtime_checkable
class Reads(Protocol):
    """What a mechanism may have besides, so that recorded rounds can be tried under other parameters.

    Of one that does not say it, every parameter counts as read by every verb.
    """

    @property
    def read_by(self) -> Mapping[str, ReadBy]:
        """For every parameter, by whom it is read."""
        ...


@runtime_checkable
class Reopens(Protocol):
    """What a mechanism has besides if pay is decided before its round, when something comes in, and only repeated in
    the observation."""

    def reopen(self, params: Any, observation: Observation) -> Observation:
        """The observation as if all of it had been decided under `params`. Pure."""
        ...


def make_params(mechanism: Mechanism, overrides: Mapping[str, Any] | None = None) -> Params:
    """The mechanism's parameters with `overrides`; an unknown name or bad value is `bad_params`."""
    try:
        return mechanism.params_type(**dict(overrides or {}))
    except (ValidationError, TypeError) as fault:
        names = ", ".join(mechanism.params_type.model_fields)
        raise WeighbeamError("bad_params", _say(fault), f"the parameters of {mechanism.name}: {names}") from None


def hash_params(mechanism: Mechanism, params: Params, senses: Mapping[str, Json]) -> str:
    """What a round was scored under: the mechanism, every parameter, and the senses by id and digest."""
    named: dict[str, Json] = {
        "mechanism": mechanism.name,
        "params": params.model_dump(mode="json"),
        "senses": dict(senses),
    }
    return digest_json(named)


def _say(fault: Exception) -> str:
    if not isinstance(fault, ValidationError):
        return str(fault)
    said = []
    for error in fault.errors():
        name = ".".join(map(str, error["loc"][:1]))
        unknown = error["type"] == "extra_forbidden"
        said.append(f"no parameter is called {name}" if unknown else f"{name} is {error['input']!r}: {error['msg']}")
    return "; ".join(said)
