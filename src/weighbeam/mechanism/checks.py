"""Contract checks: run a mechanism's own examples through it and report every broken promise.

While it runs, every call into C and every audit event of the interpreter is watched, so it does not matter through how
many layers the clock or the file was reached. The garbage collector rests meanwhile: others hang calls on it.

    weighbeam.check_mechanism(MyMechanism())

A mechanism that passes can be journaled, replayed, backtested and attacked like the built-in ones.
"""

import gc
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import Mechanism, grade_facts
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.records import Asked, Observation, Scored, Standing
from weighbeam.mechanism.registry import check_form
from weighbeam.mechanism.rerun import encode_in_subprocess, encode_pure, run_pure
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.senses.ports.protocols import Senses

FORBIDDEN_MODULES = frozenset({"time", "posix", "nt", "_socket", "_sqlite3", "_random"})
HARMLESS_CALLS = frozenset({"posix.fspath"})
FORBIDDEN_CALLS = frozenset(
    "datetime.now datetime.utcnow datetime.today date.today Random.random Random.getrandbits Random.seed".split()
)
FORBIDDEN_EVENTS = ("open", "socket.", "subprocess.", "os.", "sqlite3.", "urllib.", "http.", "shutil.", "tempfile.")

_caught: list[str] | None = None
_hooked = False


@contextmanager
def watch_calls() -> Iterator[list[str]]:
    """Collects what pure code must not touch while the block runs."""
    global _caught, _hooked
    if not _hooked:
        sys.addaudithook(_on_event)
        _hooked = True
    caught: list[str] = []
    dice, before, collecting = _numpy_random_state(), sys.getprofile(), gc.isenabled()
    gc.disable()
    _caught = caught
    sys.setprofile(_on_call)
    try:
        yield caught
    finally:
        sys.setprofile(before)
        _caught = None
        if collecting:
            gc.enable()
    if _numpy_random_state() != dice:
        caught.append("numpy.random")


def _numpy_random_state() -> str:
    """The state of numpy's shared generator, whose functions no profiler sees."""
    return repr(np.random.get_state(legacy=False))


def _on_event(event: str, _: tuple[Any, ...]) -> None:
    if _caught is not None and event.startswith(FORBIDDEN_EVENTS):
        _caught.append(event)


def _on_call(_: FrameType, event: str, argument: Any) -> None:
    if _caught is None or event != "c_call":
        return
    owner = getattr(argument, "__self__", None)
    home = owner.__name__ if isinstance(owner, (type, ModuleType)) else type(owner).__name__
    name = f"{home}.{getattr(argument, '__name__', '')}"
    if name in FORBIDDEN_CALLS or (home in FORBIDDEN_MODULES and name not in HARMLESS_CALLS):
        _caught.append(name)


FORM = "methods and attributes match the contract"
EXAMPLES = "the examples can be observed and scored"
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
PRODUCT = re.compile(rf"= ({NUMBER}(?: × {NUMBER})*) = ({NUMBER})$")
TREE = "│├└─ "
ROUNDS_PER_SECOND = 20.0
TIMED_SECONDS = 0.25
SEEDS = 8


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """One promise of the contract and how it is broken, if it is."""

    check: str
    fault: str | None

    @property
    def ok(self) -> bool:
        return self.fault is None


@dataclass(frozen=True, slots=True)
class ObservedExample:
    """An example round, observed."""

    asked: Asked
    observation: Observation


@dataclass(frozen=True, slots=True)
class CheckSubject:
    """The mechanism under test."""

    mechanism: Mechanism
    params: Params
    senses: Senses
    examples: tuple[ObservedExample, ...]


def check_mechanism(
    mechanism: Mechanism,
    senses: Senses,
    overrides: Mapping[str, Any] | None = None,
    rounds_per_second: float = ROUNDS_PER_SECOND,
) -> tuple[ContractFinding, ...]:
    """Every finding, or `contract_broken` naming each promise that is not kept."""
    findings = run_checks(mechanism, senses, overrides, rounds_per_second)
    broken = [f"{finding.check}: {finding.fault}" for finding in findings if not finding.ok]
    if broken:
        raise WeighbeamError(
            "contract_broken", "; ".join(broken), "the guide 'Write a mechanism' says what each verb owes"
        )
    return findings


def run_checks(
    mechanism: Mechanism,
    senses: Senses,
    overrides: Mapping[str, Any] | None = None,
    rounds_per_second: float = ROUNDS_PER_SECOND,
) -> tuple[ContractFinding, ...]:
    """Every check of the contract, in order; none stops another, unless there is no observed example to go on with."""
    try:
        check_form(mechanism)
    except WeighbeamError as fault:
        return (ContractFinding(FORM, f"{fault.message} ({fault.remedy})"),)
    params = make_params(mechanism, overrides)
    try:
        rounds = tuple(mechanism.examples())
        observed = tuple(ObservedExample(asked, mechanism.observe(params, asked, senses)) for asked in rounds)
    except (Exception, SystemExit) as fault:
        return ContractFinding(FORM, None), ContractFinding(EXAMPLES, f"raised {describe_exception(fault)}")
    if not rounds:
        return ContractFinding(FORM, None), ContractFinding(EXAMPLES, "the mechanism has no example rounds")
    subject = CheckSubject(mechanism, params, senses, observed)
    checks: list[tuple[str, Callable[[CheckSubject], str | None]]] = [
        (EXAMPLES, check_measured),
        ("every answer gets one score", check_complete),
        ("no NaN, no infinity", check_finite),
        ("scores within their bounds", check_bounds),
        ("parts explain the score", check_recompute),
        ("unscored stays unscored", check_unscored),
        ("order of answers does not matter", check_permutation),
        ("scoring reads only what is journaled", check_journaled),
        ("same observation, same bytes", check_same_bytes),
        ("pure: no clock, chance, file or socket", check_pure),
        ("choice of miners is pure and repeatable", check_choose),
        ("generated tasks can be asked and depend only on the seed", check_tasks),
        ("the best answer is a valid one", check_best),
        ("every score has an explanation", check_explained),
        ("weights are never negative and only for eligible miners", check_weights),
        ("`read_by`, if declared, covers every parameter", check_reads),
    ]
    findings = [ContractFinding(name, _attempt(check, subject)) for name, check in checks]
    speed = _attempt(lambda s: check_speed(s, rounds_per_second), subject)
    return (ContractFinding(FORM, None), *findings, ContractFinding("fast enough", speed))


def _attempt(check: Callable[[CheckSubject], str | None], subject: CheckSubject) -> str | None:
    try:
        return check(subject)
    except (Exception, SystemExit) as fault:
        return f"raised {describe_exception(fault)}"


def check_measured(subject: CheckSubject) -> str | None:
    """A fault in `measure` or `grade` leaves an answer unscored, which costs the miner nothing and so stays unseen."""
    mechanism = subject.mechanism
    if type(mechanism).observe is not Mechanism.observe:
        return None
    for example in subject.examples:
        asked = {answer.hotkey: answer.status for answer in example.asked.answers}
        for row in example.observation.facts["rows"]:
            if row["status"] == "validator_error" and asked[row["hotkey"]] == "ok":
                return f"measure of {row['hotkey']} raised {row['reason']}"
            if row["facts"] is not None and type(mechanism).score is Mechanism.score:
                grade_facts(mechanism, subject.params, row["facts"])
        measured = {row["hotkey"] for row in example.observation.facts["rows"] if row["facts"] is not None}
        for score in mechanism.score(subject.params, example.observation).scores:
            if score.status == "unscored" and score.hotkey in measured:
                return f"{score.hotkey} was measured, and score leaves it unscored"
    return None


def check_complete(subject: CheckSubject) -> str | None:
    for example, scored in _score_all(subject):
        asked = [answer.hotkey for answer in example.asked.answers]
        given = [score.hotkey for score in scored.scores]
        if sorted(asked) != sorted(given):
            return f"asked {asked}, scored {given}"
    return None


def check_finite(subject: CheckSubject) -> str | None:
    for example in subject.examples:
        encode_pure(subject.mechanism, subject.params, example.observation)
        example.observation.pack()
    return None


def check_bounds(subject: CheckSubject) -> str | None:
    low, high = subject.mechanism.bounds(subject.params)
    for _, scored in _score_all(subject):
        for score in scored.scores:
            if score.value is not None and not low <= score.value <= high:
                return f"{score.hotkey} has {score.value}, outside [{low}, {high}]"
    return None


def check_recompute(subject: CheckSubject) -> str | None:
    for _, scored in _score_all(subject):
        for score in scored.scores:
            if score.parts is None:
                if score.value:
                    return f"{score.hotkey} has {score.value} and no parts"
            elif subject.mechanism.recompute(score.parts) != score.value:
                again = subject.mechanism.recompute(score.parts)
                return f"{score.hotkey} has {score.value}, its parts give {again}"
    return None


def check_unscored(subject: CheckSubject) -> str | None:
    """A value is missing exactly when unscored; a validator's fault is charged to nobody."""
    met = False
    for example, scored in _score_all(subject):
        ours = {a.hotkey for a in example.asked.answers if a.status == "validator_error"}
        met |= bool(ours)
        for score in scored.scores:
            if (score.value is None) != (score.status == "unscored"):
                return f"{score.hotkey} is {score.status} with value {score.value}"
            if score.hotkey in ours and score.value is not None:
                return f"{score.hotkey} got {score.value} for the validator's own error"
        before = tuple(Standing(hotkey, 1.0) for hotkey in sorted(ours))
        after = {s.hotkey: s for s in subject.mechanism.stand(subject.params, before, scored)}
        if any(after.get(standing.hotkey) != standing for standing in before):
            return "an unscored answer changed a standing"
    return None if met else "no example has an answer with status validator_error"


def check_permutation(subject: CheckSubject) -> str | None:
    if subject.mechanism.kind == "collected":
        return None
    for example, scored in _score_all(subject):
        scores = {score.hotkey: score for score in scored.scores}
        answers = example.asked.answers
        for order in (answers[::-1], answers[1:] + answers[:1]):
            asked = replace(example.asked, answers=order)
            again = subject.mechanism.score(
                subject.params, subject.mechanism.observe(subject.params, asked, subject.senses)
            )
            for score in again.scores:
                if score != scores[score.hotkey]:
                    return f"{score.hotkey}: {scores[score.hotkey].value} became {score.value} in another order"
    return None


def check_journaled(subject: CheckSubject) -> str | None:
    for example in subject.examples:
        bare = Observation.unpack(example.observation.pack())
        if encode_pure(subject.mechanism, subject.params, bare) != encode_pure(
            subject.mechanism, subject.params, example.observation
        ):
            return "the result differs once the observation is packed and its texts are removed"
    return None


def check_same_bytes(subject: CheckSubject) -> str | None:
    """Twice here, and in fresh processes whose sets and dicts hash otherwise."""
    kind = type(subject.mechanism)
    for number, example in enumerate(subject.examples):
        packed = example.observation.pack()
        here = encode_pure(subject.mechanism, subject.params, Observation.unpack(packed))
        if encode_pure(subject.mechanism, subject.params, Observation.unpack(packed)) != here:
            return f"example {number} differs when scored twice"
        for hash_seed in ("1", "2"):
            there = encode_in_subprocess(kind, subject.params, packed, hash_seed)
            if there != here:
                return f"example {number} differs in a process with another hash seed"
    return None


def check_pure(subject: CheckSubject) -> str | None:
    for example in subject.examples:
        before = example.observation.pack()
        run_pure(subject.mechanism, subject.params, example.observation)
        with watch_calls() as caught:
            run_pure(subject.mechanism, subject.params, example.observation)
        if caught:
            return f"touched {', '.join(sorted(set(caught)))}"
        if example.observation.pack() != before:
            return "changed the observation it was given"
    return None


def check_choose(subject: CheckSubject) -> str | None:
    """The same group for the same standings, miners and seed, in any order of miners."""
    if subject.mechanism.kind == "collected":
        return None
    for example in subject.examples:
        miners = [answer.hotkey for answer in example.asked.answers]
        standings = tuple(Standing(hotkey, float(i)) for i, hotkey in enumerate(miners))
        first = subject.mechanism.choose(subject.params, standings, miners, "seed")
        with watch_calls() as caught:
            again = subject.mechanism.choose(subject.params, standings, miners[::-1], "seed")
        if caught:
            return f"touched {', '.join(sorted(set(caught)))}"
        if first != again:
            return "the group changes when the miners are listed in another order"
        if not set(first.members) <= set(miners):
            return "the group contains a miner that was not offered"
    return None


def check_tasks(subject: CheckSubject) -> str | None:
    """A generated task poses as plain JSON, is the same for the same seed, and another for another."""
    mechanism, params = subject.mechanism, subject.params
    if mechanism.kind == "collected":
        return None
    seen = set()
    for seed in (f"seed-{i}" for i in range(SEEDS)):
        first, again = (mechanism.generate_task(params, seed) for _ in range(2))
        posed = canonical_json(dict(mechanism.pose(params, first)))
        if canonical_json(dict(mechanism.pose(params, again))) != posed or first.id != again.id:
            return "the same seed gives another task"
        seen.add(posed)
    return f"{SEEDS} seeds all give the task {first.id}" if len(seen) == 1 else None


def check_best(subject: CheckSubject) -> str | None:
    for example, scored in _score_all(subject):
        best = subject.mechanism.best(subject.params, example.observation, scored)
        valid = {score.hotkey for score in scored.scores if score.status == "valid"}
        if best is None and valid:
            return f"no answer is best though {sorted(valid)} are valid"
        if best is not None and best not in valid:
            return f"{best} is best but not valid"
    return None


def check_explained(subject: CheckSubject) -> str | None:
    for example, scored in _score_all(subject):
        for score in scored.scores:
            node = subject.mechanism.explain(subject.params, example.observation, scored, score.hotkey)
            if not node.text:
                return f"{score.hotkey} has an empty explanation"
            wrong = next((line for line in str(node).splitlines() if _is_false_product(line)), None)
            if wrong:
                return f"{score.hotkey} is explained by a wrong product: {wrong.lstrip(TREE)}"
    return None


def _is_false_product(line: str) -> bool:
    """Whether a line ends in `= a × b = c` with another c than the printed digits allow.

    >>> _is_false_product("recall × brevity = 0.5 × 1 = 0.75")
    True
    >>> _is_false_product("recall × brevity = 0.33 × 0.67 = 0.22"), _is_false_product("recall = 0.5 × 1")
    (False, False)
    """
    found = PRODUCT.search(line)
    if found is None:
        return False
    factors, value = [Decimal(factor) for factor in found[1].split(" × ")], Decimal(found[2])
    product: Decimal = math.prod(factors, start=Decimal(1))
    reached = [abs(one) + slack for one, slack in zip(factors, _list_slack(factors), strict=True)]
    most: Decimal = math.prod(reached, start=Decimal(1))
    return abs(product - value) > most - abs(product) + _list_slack([value])[0]


def _list_slack(shown: list[Decimal]) -> list[Decimal]:
    """Largest rounding error of each number: to the finest place or the most digits that any of them has."""
    place = Decimal(10) ** min(int(one.as_tuple().exponent) for one in shown) / 2
    share = Decimal(10) ** (1 - max(3, *(len(one.as_tuple().digits) for one in shown))) / 2
    return [max(place, abs(one) * share) for one in shown]


def check_weights(subject: CheckSubject) -> str | None:
    for example in subject.examples:
        scored = subject.mechanism.score(subject.params, example.observation)
        standings = subject.mechanism.stand(subject.params, (), scored)
        if subject.mechanism.better == "lower" and type(subject.mechanism).weigh is Mechanism.weigh:
            return "lower scores are better, and the default `weigh` pays the highest standing: override it"
        eligible = sorted(standing.hotkey for standing in standings)[::2]
        raw = subject.mechanism.weigh(subject.params, standings, set(eligible)).raw
        for hotkey, value in raw.items():
            if not math.isfinite(value) or value < 0:
                return f"{hotkey} weighs {value}"
            if value and hotkey not in eligible:
                return f"{hotkey} is not eligible and weighs {value}"
    return None


def check_reads(subject: CheckSubject) -> str | None:
    """Without any annotation a mechanism can only be backtested under its own parameters."""
    said, known = set(subject.mechanism.read_by), set(subject.mechanism.params_type.model_fields)
    return f"`read_by` covers {sorted(said)}, not {sorted(known - said)}" if said and said != known else None


def check_speed(subject: CheckSubject, rounds_per_second: float) -> str | None:
    """The best of up to three short runs, so that a busy machine is not mistaken for a slow mechanism."""
    best = 0.0
    for _ in range(3):
        start, rounds = time.perf_counter(), 0
        while (spent := time.perf_counter() - start) < TIMED_SECONDS or not rounds:
            for example in subject.examples:
                run_pure(subject.mechanism, subject.params, example.observation)
                rounds += 1
        best = max(best, rounds / spent) if spent else math.inf
        if best >= rounds_per_second:
            return None
    return f"{best:.1f} rounds a second, {rounds_per_second:g} needed"


def _score_all(subject: CheckSubject) -> Iterator[tuple[ObservedExample, Scored]]:
    for example in subject.examples:
        yield example, subject.mechanism.score(subject.params, example.observation)
