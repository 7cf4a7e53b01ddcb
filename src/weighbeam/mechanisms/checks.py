"""Does a mechanism keep the contract? `check_mechanism` runs its own examples through it and tells.

    from weighbeam.mechanisms.checks import check_mechanism
    from weighbeam.senses.local import LocalSenses

    check_mechanism(MyMechanism(), LocalSenses())

A mechanism that passes can be journaled, replayed, backtested and attacked like the built-in ones.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.abilities import Reads
from weighbeam.mechanisms.contract import Asked, Mechanism, Observation, Params, Scored, Standing
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.purity import watch_calls
from weighbeam.mechanisms.rerun import run_pure, write_elsewhere, write_pure
from weighbeam.senses.ports import Senses

ROUNDS_PER_SECOND = 20.0
TIMED_SECONDS = 0.25
SEEDS = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """One promise of the contract and how it is broken, if it is."""

    check: str
    fault: str | None

    @property
    def ok(self) -> bool:
        return self.fault is None


@dataclass(frozen=True, slots=True)
class Example:
    """An example round, observed."""

    asked: Asked
    observation: Observation


@dataclass(frozen=True, slots=True)
class Subject:
    """What is under test."""

    mechanism: Mechanism
    params: Params
    senses: Senses
    examples: tuple[Example, ...]


def check_mechanism(
    mechanism: Mechanism,
    senses: Senses,
    overrides: Mapping[str, Any] | None = None,
    rounds_per_second: float = ROUNDS_PER_SECOND,
) -> tuple[Finding, ...]:
    """Every finding, or `contract_broken` naming each promise that is not kept."""
    findings = run_checks(mechanism, senses, overrides, rounds_per_second)
    broken = [f"{finding.check}: {finding.fault}" for finding in findings if not finding.ok]
    if broken:
        raise WeighbeamError("contract_broken", "; ".join(broken), "see mechanisms/contract.py for what each verb owes")
    return findings


def run_checks(
    mechanism: Mechanism,
    senses: Senses,
    overrides: Mapping[str, Any] | None = None,
    rounds_per_second: float = ROUNDS_PER_SECOND,
) -> tuple[Finding, ...]:
    """Every check of the contract, in order; none stops another."""
    params = make_params(mechanism, overrides)
    rounds = tuple(mechanism.examples())
    if not rounds:
        return (Finding("examples", "the mechanism has no example rounds"),)
    observed = tuple(Example(asked, mechanism.observe(params, asked, senses)) for asked in rounds)
    subject = Subject(mechanism, params, senses, observed)
    checks: list[tuple[str, Callable[[Subject], str | None]]] = [
        ("every answer gets one score", check_complete),
        ("no NaN, no infinity", check_finite),
        ("scores within their bounds", check_bounds),
        ("parts explain the value", check_recompute),
        ("unscored stays unscored", check_unscored),
        ("order of answers does not matter", check_permutation),
        ("scoring reads only what is journaled", check_journaled),
        ("same observation, same bytes", check_same_bytes),
        ("pure: no clock, chance, file or socket", check_pure),
        ("whom to ask: pure, and the same again", check_choose),
        ("tasks of its own can be asked, the same again", check_tasks),
        ("the best answer is a valid one", check_best),
        ("every score has an explanation", check_explained),
        ("weights: none negative, only the eligible", check_weights),
        ("what reads its parameters, if it says so, is said of all", check_reads),
    ]
    findings = [Finding(name, _attempt(check, subject)) for name, check in checks]
    speed = _attempt(lambda s: check_speed(s, rounds_per_second), subject)
    return (*findings, Finding("fast enough", speed))


def _attempt(check: Callable[[Subject], str | None], subject: Subject) -> str | None:
    try:
        return check(subject)
    except Exception as fault:
        return f"raised {type(fault).__name__}: {fault}"


def check_complete(subject: Subject) -> str | None:
    for example, scored in _score_all(subject):
        asked = [answer.hotkey for answer in example.asked.answers]
        given = [score.hotkey for score in scored.scores]
        if sorted(asked) != sorted(given):
            return f"asked {asked}, scored {given}"
    return None


def check_finite(subject: Subject) -> str | None:
    for example in subject.examples:
        write_pure(subject.mechanism, subject.params, example.observation)
        example.observation.pack()
    return None


def check_bounds(subject: Subject) -> str | None:
    low, high = subject.mechanism.bounds(subject.params)
    for _, scored in _score_all(subject):
        for score in scored.scores:
            if score.value is not None and not low <= score.value <= high:
                return f"{score.hotkey} has {score.value}, outside [{low}, {high}]"
    return None


def check_recompute(subject: Subject) -> str | None:
    for _, scored in _score_all(subject):
        for score in scored.scores:
            if score.parts is None:
                if score.value:
                    return f"{score.hotkey} has {score.value} and no parts"
            elif subject.mechanism.recompute(score.parts) != score.value:
                again = subject.mechanism.recompute(score.parts)
                return f"{score.hotkey} has {score.value}, its parts give {again}"
    return None


def check_unscored(subject: Subject) -> str | None:
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


def check_permutation(subject: Subject) -> str | None:
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


def check_journaled(subject: Subject) -> str | None:
    for example in subject.examples:
        bare = Observation.unpack(example.observation.pack())
        if write_pure(subject.mechanism, subject.params, bare) != write_pure(
            subject.mechanism, subject.params, example.observation
        ):
            return "another result once the observation is packed and its texts are gone"
    return None


def check_same_bytes(subject: Subject) -> str | None:
    """Twice here, and in fresh processes whose sets and dicts hash otherwise."""
    kind = type(subject.mechanism)
    for number, example in enumerate(subject.examples):
        packed = example.observation.pack()
        here = write_pure(subject.mechanism, subject.params, Observation.unpack(packed))
        if write_pure(subject.mechanism, subject.params, Observation.unpack(packed)) != here:
            return f"example {number} differs when scored twice"
        for hash_seed in ("1", "2"):
            there = write_elsewhere(kind, subject.params, packed, hash_seed)
            if there != here:
                return f"example {number} differs in a process with another hash seed"
    return None


def check_pure(subject: Subject) -> str | None:
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


def check_choose(subject: Subject) -> str | None:
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
            return "another group when the miners are listed in another order"
        if not set(first.members) <= set(miners):
            return "a group with a miner nobody named"
    return None


def check_tasks(subject: Subject) -> str | None:
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


def check_best(subject: Subject) -> str | None:
    for example, scored in _score_all(subject):
        best = subject.mechanism.best(subject.params, example.observation, scored)
        valid = {score.hotkey for score in scored.scores if score.status == "valid"}
        if best is None and valid:
            return f"no answer is best though {sorted(valid)} are valid"
        if best is not None and best not in valid:
            return f"{best} is best and not valid"
    return None


def check_explained(subject: Subject) -> str | None:
    for example, scored in _score_all(subject):
        for score in scored.scores:
            node = subject.mechanism.explain(subject.params, example.observation, scored, score.hotkey)
            if not node.text:
                return f"{score.hotkey} has an empty explanation"
    return None


def check_weights(subject: Subject) -> str | None:
    for example in subject.examples:
        scored = subject.mechanism.score(subject.params, example.observation)
        standings = subject.mechanism.stand(subject.params, (), scored)
        eligible = sorted(standing.hotkey for standing in standings)[::2]
        raw = subject.mechanism.weigh(subject.params, standings, set(eligible)).raw
        for hotkey, value in raw.items():
            if not math.isfinite(value) or value < 0:
                return f"{hotkey} weighs {value}"
            if value and hotkey not in eligible:
                return f"{hotkey} is not eligible and weighs {value}"
    return None


def check_reads(subject: Subject) -> str | None:
    """One that does not say it can only be backtested under its own parameters."""
    if not isinstance(subject.mechanism, Reads):
        return None
    said, known = set(subject.mechanism.read_by), set(subject.mechanism.params_type.model_fields)
    return f"said of {sorted(said - known)}, not of {sorted(known - said)}" if said != known else None


def check_speed(subject: Subject, rounds_per_second: float) -> str | None:
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


def _score_all(subject: Subject) -> Iterator[tuple[Example, Scored]]:
    for example in subject.examples:
        yield example, subject.mechanism.score(subject.params, example.observation)
