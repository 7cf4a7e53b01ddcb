"""The base class of every mechanism: three methods to write, a default for everything else.

    choose → (ask) → OBSERVE → score → stand → weigh

An author writes `task` (what is asked), `measure` (what is observed of one reply) and `grade` (how the numbers become
parts of a score). Only `observe`, and so `measure`, may touch a model, the web, the clock or chance: what it found is
packed, journaled and never computed again. Every other verb is a pure function of recorded data, so that the
validator, the miner at home, the auditor and the lab all run the same code. `check_mechanism` proves it.

`measure` gets no parameters: so every parameter stays open to a backtest over recorded rounds.
"""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn

from pydantic import BaseModel, ValidationError

from weighbeam.charts.heatmap import Heatmap
from weighbeam.core.canonical import canonical_json, digest_json
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.stats import move_average, spread_course
from weighbeam.mechanism import page as page_words
from weighbeam.mechanism import records
from weighbeam.mechanism.advice import advise_failures, choose_advice
from weighbeam.mechanism.page import MechanismPage
from weighbeam.mechanism.params import Params, ReadBy, list_readers
from weighbeam.mechanism.parse import parse_answer_rows, parse_name_and_seconds, refuse_doubles
from weighbeam.mechanism.records import (
    BYTES_PER_NODE,
    Advice,
    Answer,
    Asked,
    Collector,
    Group,
    Measure,
    Narrative,
    Node,
    Observation,
    Refused,
    ReplyLimits,
    Score,
    Scored,
    ScorePair,
    Seed,
    Stage,
    Standing,
    Task,
    WeighRule,
    Weights,
)
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.senses.ports.protocols import Narrator, Senses

CONTRACT = 2
"""The version of this contract. A mechanism written for another one is refused with a remedy."""
ASK_SECONDS = 10.0
"""How long a miner has to answer if no parameter `timeout` says otherwise."""
ALPHA = 0.2
"""The weight of the newest score in a standing if no parameter `alpha` says otherwise."""
DECIMALS = 6
MIN_NODES = 1024
"""JSON values and keys that any reply may have, unless `reply_limits` says otherwise."""
MEANINGS = {
    "malformed": "The reply did not have the form that the mechanism asks for.",
    "timeout": "No reply arrived in time.",
    "unreachable": "The miner could not be connected to.",
    "error": "The miner answered with an error.",
    "too_large": "The reply was larger than the mechanism accepts.",
    "no_answer": "The reply was empty.",
    "validator_fault": "The validator could not judge the answer; the standing is unchanged.",
}
"""The reasons that the defaults of this class give."""
DEFAULTS = {"alpha": ReadBy(("stand",)), "timeout": ReadBy(("ask",))}
SHAPE = '{…the task…, "answers": [{"hotkey": "me", "seconds": 1.0, …the reply…}]}'


class Mechanism:
    """Subclass this, write `task`, `measure` and `grade`, and register the class as `weighbeam.mechanisms`."""

    contract: ClassVar[int] = CONTRACT
    """The version of the contract it is written for."""
    name: str
    """The name of its entry point."""
    kind: Literal["asked", "collected"] = "asked"
    """Whether rounds ask miners, or collect what came in."""
    better: Literal["lower", "higher"] = "higher"
    """Which scores are better; with `lower`, override `weigh`."""
    params_type: type[Params] = Params
    """Parameters that an owner may change."""
    reply_type: type[BaseModel] | None = None
    """Payload that a miner may send. Any other is `malformed`, the miner's fault."""
    rule: WeighRule = WeighRule()
    """Which miners can be stale, whether validators are excluded from pay, and which averages are the standings."""
    version_key: int | None = None
    """The version that submitted weights carry; None leaves it to the settings."""
    example: Mapping[str, Any] = {}
    """A round to check the mechanism with: `{"task": {…}, "answers": [reply, …]}`."""
    uses: tuple[Literal["embedder", "entailment"], ...] = ()
    """The senses `measure` needs; each round records their digests."""
    reads_pages: bool = False
    """Whether `observe` reads web pages: then `validator.lists` has to be set, and its rounds are observed in turn."""
    meanings: Mapping[str, str] = MEANINGS
    """For every reason a score can have, one sentence: what it means and what to do."""
    measures: Mapping[str, Measure] = {}
    """Metrics by name, shown as `weighbeam_MECHANISM_NAME` on /metrics from `summary["metrics"]` of each round."""
    suspicious: Mapping[str, str] = {}
    """Reasons that point to an attack, each with the name of the trick."""
    max_request_bytes: int = 1 << 20
    """The largest request body a miner accepts."""
    max_request_nodes: int = 1 << 14
    """The most JSON values and keys in a request that a miner accepts."""
    max_reply_bytes: int = 1 << 20
    """The largest reply body a validator reads, whatever the task; `reply_limits` may allow less."""
    page: MechanismPage = MechanismPage()
    """Words and columns of pages and tables."""
    served_alone: bool = False
    """Whether `weighbeam serve` extends its service by it even where it is not run."""
    question_model: type[BaseModel] | None = None
    """The question of an organic request: /openapi.json describes it, and requests are validated by it, strictly.

    A bad value of a field is refused as `bad_FIELD`; None takes any JSON object and leaves the rest to `pose`. The
    default `pose` refuses any other task.
    """

    question_keys: Mapping[str, Sequence[str]] = {}
    """The keys of a question file that something reads, by the list they are in; `""` is the question itself.

    Others are named as unread, with the key they are like. Empty: every key may mean something.
    """

    # What an author writes.

    def task(self, params: Any, seed: Seed) -> Mapping[str, Any]:
        """The body of a synthetic question, unknown to everyone until the seed is drawn. Pure."""
        raise self._missing("task")

    def measure(self, task: Mapping[str, Any], reply: Any, senses: Senses) -> Mapping[str, Any]:
        """Named numbers observed of one reply (a `reply_type`). Call `self.refuse(reason)` to fail the reply."""
        raise self._missing("measure")

    def grade(self, params: Any, facts: Mapping[str, Any]) -> Mapping[str, float]:
        """The parts of a score, from what `measure` found (`seconds` is added to it). Pure."""
        raise self._missing("grade")

    def refuse(self, reason: str) -> NoReturn:
        """End `measure`: the reply earns nothing, for this reason (a short code)."""
        raise Refused(reason)

    # The verbs of a round.

    def choose(
        self,
        params: Any,
        standings: Sequence[Standing],
        miners: Sequence[str],
        seed: Seed,
        wanted: Sequence[str] = (),
    ) -> Group:
        """The miners to ask: everyone, unless an organic request wants certain ones. Pure.

        Averages of emissions come as standings with `count`, the evaluations they rest on, in `detail`.
        """
        if not wanted:
            return Group(tuple(sorted(miners)))
        known = set(miners)
        members = tuple(hotkey for hotkey in wanted if hotkey in known)
        return Group(members, unknown=tuple(hotkey for hotkey in wanted if hotkey not in known))

    def generate_task(self, params: Any, seed: Seed) -> Task:
        """A synthetic question that nobody can know before the seed is drawn. Pure."""
        body = dict(self.task(params, seed))
        return Task(f"{self.name}-{digest_json(body)[:12]}", body)

    def parse_task(self, params: Any, name: str, text: str) -> Task:
        """A question from one file of a task folder: a JSON object; otherwise `bad_task`. Pure."""
        try:
            body = json.loads(text)
        except ValueError as fault:
            raise WeighbeamError("bad_task", f"{name} is not valid JSON: {fault}", "write one JSON object") from None
        require(isinstance(body, dict), "bad_task", f"{name} is not a JSON object", "write one JSON object")
        return Task(name, body)

    def finish_task(self, params: Any, task: Task, seed: Seed) -> Task:
        """A task of a document as this round asks it: what is left to chance is drawn from the seed. Pure."""
        return task

    def pose(self, params: Any, task: Task) -> Mapping[str, Any]:
        """The part of a task that miners see: plain JSON that does not reveal who else was asked. Pure.

        A task that cannot be asked is refused here, before any miner is: one that is not a `question_model`.
        """
        if self.question_model is not None:
            try:
                self.question_model.model_validate_json(canonical_json(dict(task.body)), strict=True)
            except (ValueError, TypeError) as fault:
                remedy = f"give the fields of {self.question_model.__name__}"
                raise WeighbeamError("bad_task", f"the task is invalid: {describe_fault(fault)}", remedy) from None
        return task.body

    def ask_seconds(self, params: Any) -> float:
        """How long a miner has to answer: the parameter `timeout`, if there is one."""
        return float(getattr(params, "timeout", ASK_SECONDS))

    def reply_limits(self, params: Any, task: Task) -> ReplyLimits:
        """The largest reply to this task that a validator reads: `max_reply_bytes`, a JSON value per 8 bytes. Pure."""
        return ReplyLimits(self.max_reply_bytes, max(MIN_NODES, self.max_reply_bytes // BYTES_PER_NODE))

    def name_senses(self, params: Any, senses: Senses) -> Mapping[str, Any]:
        """The senses an observation will be made by, with their digests; it carries them as `senses`."""
        named = {use: getattr(senses, use) for use in self.uses}
        return {use: {"id": sense.id, "digest": sense.digest} for use, sense in named.items()}

    def observe(self, params: Any, asked: Asked, senses: Senses) -> Observation:
        """Everything scoring needs, measured once. A miner's fault is a fact; ours leaves the answer unscored."""
        rows = [self._observe_answer(asked.task.body, answer, senses) for answer in asked.answers]
        return Observation({"senses": dict(self.name_senses(params, senses)), "rows": rows})

    def score(self, params: Any, observation: Observation) -> Scored:
        """One explained score per answer. Pure."""
        scores = tuple(self._score_row(params, row) for row in observation.facts["rows"])
        return Scored(scores, {"answered": sum(score.status == "valid" for score in scores)})

    def stand(self, params: Any, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        """The standings after a round: a moving average of scores. The unscored keep theirs. Pure.

        The newest score weighs as much as the parameter `alpha` says, if there is one.
        """
        alpha = self._weigh_newest(params)
        after = {standing.hotkey: standing for standing in standings}
        for score in scored.scores:
            if score.value is not None:
                before = after.get(score.hotkey, Standing(score.hotkey, None)).value or 0.0
                after[score.hotkey] = Standing(score.hotkey, move_average(before, score.value, alpha))
        return tuple(after[hotkey] for hotkey in sorted(after))

    def weigh(self, params: Any, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        """Raw weights of the eligible, in proportion to their standings. Pure."""
        return Weights({s.hotkey: max(s.value or 0.0, 0.0) for s in standings if s.hotkey in eligible})

    def recompute(self, parts: Mapping[str, Any]) -> float:
        """The value again, from its parts alone: their product."""
        return float(math.prod(parts.values()))

    def bounds(self, params: Any) -> tuple[float, float]:
        """The least and the greatest value a score can have."""
        return 0.0, 1.0

    def best(self, params: Any, observation: Observation, scored: Scored) -> str | None:
        """The hotkey whose answer an organic caller gets: the best valid one, or None. Pure."""
        sign = 1.0 if self.better == "higher" else -1.0
        valid = [score for score in scored.scores if score.status == "valid"]
        return max(valid, key=lambda score: (sign * (score.value or 0.0), score.hotkey)).hotkey if valid else None

    # For people.

    @property
    def about(self) -> str:
        """One sentence for pages and lists; the first of the class docstring."""
        said = (type(self).__doc__ or "").strip() or self.name
        return said.splitlines()[0]

    def explain(self, params: Any, observation: Observation, scored: Scored, hotkey: str) -> Node:
        """A tree whose arithmetic a person can check."""
        score = next(score for score in scored.scores if score.hotkey == hotkey)
        row = next(row for row in observation.facts["rows"] if row["hotkey"] == hotkey)
        if score.parts is None:
            fault = self._find_fault(params, row) if score.status == "unscored" else None
            return Node(f"{hotkey}: {score.status} ({', '.join(score.reasons)})", (Node(fault),) if fault else ())
        lines = [*self._explain_parts(score), *_list_numbers(row["facts"])]
        return Node(f"{hotkey}: {score.value:.6g}", tuple(map(Node, lines)))

    def report(self, params: Any, observation: Observation, scored: Scored) -> dict[str, Any]:
        """The JSON that `weighbeam score` prints. An unscored answer has its cause as `fault`, if it is known."""
        faults = self._list_faults(params, observation, scored)
        rows = [
            {"hotkey": s.hotkey, "status": s.status, "value": s.value, "parts": s.parts, "reasons": list(s.reasons)}
            | ({"fault": faults[s.hotkey]} if s.hotkey in faults else {})
            for s in scored.scores
        ]
        return {"answers": rows, "best": self.best(params, observation, scored)}

    def advise(self, params: Any, pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
        """Suggest improvements to a miner: at most five from its recent rounds, largest gain first. Pure.

        Only the mechanism's own words and numbers, never a text that a miner sent.
        """
        return choose_advice(advise_failures(pairs, self.meanings))

    def spread(self, params: Any, standing: Standing, course: Sequence[float]) -> float | None:
        """One standard error of `standing`, given the miner's standings after its last rounds, oldest first.

        None if it cannot be estimated, or the standing is exact: known for the moving average of the default `stand`.
        Pure.
        """
        if self._overrides("stand"):
            return None
        return spread_course(course, self._weigh_newest(params))

    @property
    def narrates(self) -> bool:
        """Whether it makes pictures or narratives: true if `draw` or `tell` is overridden. Not to be set."""
        return self._overrides("draw", "tell")

    def draw(self, params: Any, observation: Observation, round_id: str) -> Heatmap | None:
        """Draw how alike the answers were; None for no picture. Called after the scores are durable."""
        return None

    def tell(
        self, params: Any, observation: Observation, picture: str | None, narrator: Narrator | None, nonce: str
    ) -> Narrative:
        """A narrative of the round; `picture` is where the picture is, `nonce` 16 hex digits no miner can know."""
        raise WeighbeamError("no_narrative", f"{self.name} has no narrative", "leave --narrative out")

    def add_pages(self, app: Any, pages: Any) -> None:
        """Add pages of its own to the dashboard `app`, which `pages` (`PageResponder`) answers for."""

    def extend_service(self, host: Any) -> Sequence[Any]:
        """Add routes of its own to what is served: `host` is a `weighbeam.app.service.apps.ServiceHost`.

        Gives the policies of its signers (`SenderPolicy`), which a validator keeps current from the metagraph.
        """
        return ()

    # Questions and checks.

    def parse_question(self, data: Mapping[str, Any]) -> Asked:
        """The JSON of `weighbeam score` as a round: the task's fields, and `answers` with a reply each."""
        answers = []
        for index, row in enumerate(parse_answer_rows(data, SHAPE)):
            hotkey, seconds = parse_name_and_seconds(row, index, SHAPE)
            reply = {name: value for name, value in row.items() if name not in ("hotkey", "seconds")}
            answers.append(Answer(hotkey, reply, seconds))
        hotkeys = tuple(answer.hotkey for answer in answers)
        refuse_doubles(hotkeys)
        body = {name: value for name, value in data.items() if name != "answers"}
        return Asked(Task("what-if", body), Group(hotkeys), tuple(answers), "what-if")

    def list_ignored(self, data: Mapping[str, Any]) -> list[str] | None:
        """Keys of a question that nothing reads, misspelt ones perhaps; None if every key may mean something."""
        return None

    def question_senses(self, data: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
        """Options of `LocalSenses` that a question asks for, such as an archive of pages. Paths start at `folder`."""
        return {}

    def examples(self) -> Sequence[Asked]:
        """Rounds with good and bad answers for the conformance checks: the author's, and what can go wrong."""
        if not self.example:
            return ()
        replies = self.example["answers"]
        answers = (
            *(Answer(f"answer-{index}", reply, 1.0) for index, reply in enumerate(replies)),
            Answer("odd", ["not an object"], 1.0),
            Answer("silent", None, status="timeout"),
            Answer("our-fault", None, status="validator_error"),
        )
        group = Group(tuple(answer.hotkey for answer in answers))
        return (Asked(Task("example", self.example["task"]), group, answers, "example"),)

    def stages(self) -> Mapping[str, Stage]:
        """Pure stages by name (`MECHANISM.VERB`), as vector files call them."""
        return {f"{self.name}.recompute": lambda given: {"value": self.recompute(given["parts"])}}

    # Pages and lists, for a mechanism that reads them.

    def saved_pages(self) -> Mapping[str, Any]:
        """Options of `LocalSenses` to read pages saved in its package, as `validator.pages = "embedded"` asks for."""
        return {}

    def check_list(self, entries: Any, suffixes: Sequence[str]) -> None:
        """Refuse the entries of a list file that its rules cannot read; `suffixes` are public ones of saved pages."""

    # Reference miners and the lab.

    def miner(self, name: str, senses: Senses) -> Any | None:
        """A reference miner by its name in the settings, as a handler of tasks; None if there is none."""
        return None

    def lab_world(self, params: Mapping[str, Any], senses: Any) -> Any | None:
        """The world (`weighbeam.lab.simulate.world.World`) that simulated seasons are played in.

        None has the lab make one of the examples: honest miners send the author's answers.
        """
        return None

    def lab_senses(self) -> Mapping[str, Any]:
        """Options of `LocalSenses` that the world needs, such as an archive of pages."""
        return {}

    def attacks(self) -> Sequence[Any]:
        """Attacks of the lab's catalogue (`weighbeam.lab.attack.attack.Attack`)."""
        return ()

    def row_kinds(self) -> Sequence[Any]:
        """Kinds of labelled rows (`weighbeam.lab.validity.kinds.RowKind`) that `weighbeam lab validity` judges it by.

        Without any, the lab takes labelled rounds: questions of `weighbeam score` whose better answers are known.
        """
        return ()

    def lab_tournament(self, params: Any, hotkeys: Sequence[str], validators: int) -> Any | None:
        """Standings of many validators at once (`weighbeam.lab.validators.workers.LabTournament`), for whole years."""
        return None

    # Backtests, burning, stake, collected rounds.

    @property
    def read_by(self) -> Mapping[str, ReadBy]:
        """The verbs that read each parameter, as annotated in `params_type`.

        `measure` gets no parameters, so where `observe` is not overridden the others are read by `score`. Where it is,
        a parameter without an annotation is left out: it counts as read by every verb.
        """
        marked = list_readers(self.params_type)
        if self._overrides("observe"):
            return marked
        rest = {name: DEFAULTS.get(name, ReadBy(("score",))) for name in self.params_type.model_fields}
        return rest | marked

    def reopen(self, params: Any, observation: Observation) -> Observation:
        """The observation as if pay decided before the round had been decided under `params`. Pure."""
        return observation

    @property
    def burns(self) -> bool:
        """Whether it burns a share: true if `burn_share` or `weigh_burning` is overridden. Not to be set."""
        return self._overrides("burn_share", "weigh_burning")

    def burn_share(self, params: Any) -> float:
        """The share of the weights that is burnt. Pure."""
        return 0.0

    def weigh_burning(
        self, params: Any, standings: Sequence[Standing], eligible: Collection[str], burn: str | None
    ) -> Weights:
        """Raw weights of the eligible and of `burn`, who takes the burnt share; None if nobody does. Pure."""
        return self.weigh(params, standings, eligible)

    def min_stake_rao(self, params: Any) -> int:
        """Miners with less stake are not asked."""
        return 0

    def collector(self, store: Any) -> Collector | None:
        """Where the contributions of a collected round come from: something of the validator's `Store`."""
        return None

    def count_suspicious(self, connection: Any, since: float) -> Mapping[str, int]:
        """Contributions since then that point to an attack: how many were a `duplicate`, how many were `held`."""
        return {}

    def audit(self, connection: Any, file: Path | None) -> Iterable[str]:
        """List faults in the mechanism's own tables, one sentence each; part of every `replay`.

        `file` is where the store is, if it is a file.
        """
        return ()

    def is_stale(self, params: Any, standings: Sequence[Standing], now: float) -> bool:
        """Whether a collected round without contributions would change a standing by now. Pure."""
        return False

    # Records that the verbs take or give and that `import weighbeam` does not name: `Mechanism.Group(…)`.
    Advice = records.Advice
    Collected = records.Collected
    Group = records.Group
    Measure = records.Measure
    MechanismPage = page_words.MechanismPage
    Narrative = records.Narrative
    ReplyLimits = records.ReplyLimits
    WeighRule = records.WeighRule

    # How the defaults work.

    @classmethod
    def _overrides(cls, *methods: str) -> bool:
        return any(getattr(cls, method) is not getattr(Mechanism, method) for method in methods)

    def _observe_answer(self, task: Mapping[str, Any], answer: Answer, senses: Senses) -> dict[str, Any]:
        row: dict[str, Any] = {"hotkey": answer.hotkey, "status": answer.status, "reason": None, "facts": None}
        if answer.status != "ok":
            return row
        try:
            found = self.measure(task, self._parse_reply(answer.payload), senses)
            facts = _quantise({**found, "seconds": found.get("seconds", answer.seconds)})
            canonical_json(facts)  # a fact that cannot be journaled must not spoil the round of the others
            row["facts"] = facts
        except Refused as refusal:
            row["reason"] = refusal.reason
        except (Exception, SystemExit) as fault:
            # Not the miner's doing: the answer stays unscored, and the record says why.
            row |= {"status": "validator_error", "reason": describe_exception(fault)}
        return row

    def _parse_reply(self, payload: Any) -> Any:
        if self.reply_type is None:
            return payload
        try:
            return self.reply_type.model_validate(payload)
        except ValidationError:
            raise Refused("malformed") from None

    def _score_row(self, params: Any, row: Mapping[str, Any]) -> Score:
        if row["status"] == "validator_error":
            return Score(row["hotkey"], "unscored", None, None, ("validator_fault",))
        if row["facts"] is None:
            reason = row["reason"] or ("no_answer" if row["status"] == "ok" else row["status"])
            return Score(row["hotkey"], "failed", 0.0, None, (reason,))
        try:
            parts, value = grade_facts(self, params, row["facts"])
        except (Exception, SystemExit):
            # One reply that `grade` cannot handle must not spoil the round of the others. The message is not recorded,
            # because it may hold an address or the order of a set: `explain` finds it again.
            return Score(row["hotkey"], "unscored", None, None, ("validator_fault",))
        return Score(row["hotkey"], "valid", value, parts)

    def _list_faults(self, params: Any, observation: Observation, scored: Scored) -> dict[str, str]:
        """The known faults of unscored answers, by hotkey."""
        if self._overrides("observe"):
            return {}
        unscored = {score.hotkey for score in scored.scores if score.status == "unscored"}
        rows = [row for row in observation.facts["rows"] if row["hotkey"] in unscored]
        found = {row["hotkey"]: self._find_fault(params, row) for row in rows}
        return {hotkey: fault for hotkey, fault in found.items() if fault}

    def _find_fault(self, params: Any, row: Mapping[str, Any]) -> str | None:
        """Why a row is unscored: as `measure` raised it, or as `grade` raises it again. None if it is not known."""
        if row["facts"] is None or not self._overrides("grade"):
            return row["reason"] if row["status"] == "validator_error" else None
        try:
            grade_facts(self, params, row["facts"])
        except (Exception, SystemExit) as fault:
            return describe_exception(fault)
        return None

    def _explain_parts(self, score: Score) -> list[str]:
        """The product of the parts, or the parts alone if another `recompute` makes the value of them."""
        parts = score.parts or {}
        if self._overrides("recompute"):
            return _list_numbers(parts)
        product = " × ".join(f"{value:.6g}" for value in parts.values())
        return [f"{' × '.join(parts)} = {product} = {score.value:.6g}"]

    def _weigh_newest(self, params: Any) -> float:
        return float(getattr(params, "alpha", ALPHA))

    def _missing(self, verb: str) -> WeighbeamError:
        return WeighbeamError("missing_verb", f"{self.name} does not define {verb}", f"write the method {verb}")


def grade_facts(mechanism: Mechanism, params: Any, facts: Mapping[str, Any]) -> tuple[dict[str, float], float]:
    """The parts that `grade` makes of the facts of a reply, and their value; raises if either cannot be recorded."""
    parts = dict(mechanism.grade(params, facts))
    if not parts:
        raise ValueError("grade gave no parts")
    for name, part in parts.items():
        if not isinstance(part, int | float):
            raise TypeError(f"grade gave {name} as {type(part).__name__}, not as a number")
    value = mechanism.recompute(parts)
    if not isinstance(value, int | float):
        raise TypeError(f"recompute gave {type(value).__name__}, not a number")
    canonical_json([value, parts])
    return parts, value


def _list_numbers(named: Mapping[str, Any]) -> list[str]:
    return [f"{name}: {value:.6g}" for name, value in named.items() if isinstance(value, int | float)]


def _quantise(value: Any) -> Any:
    """Floats to 1e-6, as everything that is recorded."""
    if isinstance(value, Mapping):
        return {name: _quantise(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_quantise(one) for one in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def describe_fault(fault: Exception) -> str:
    """The first fault of a validation, with the field it is in."""
    if not isinstance(fault, ValidationError):
        return str(fault)
    first = fault.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
