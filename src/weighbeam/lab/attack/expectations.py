"""Expected results of the attack catalogue: a committed file, one line per attack."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.support.json_files import load_json
from weighbeam.lab.simulate.measure import Interval
from weighbeam.lab.trials.bench import BenchResult

FILE = Path(__file__).with_name("expectations.json")
DIGITS = 4
REMEDY = "write it again with --write-expectations"
Measure = Literal["profit", "taken", "detection", "false_positives", "tau"]
MEASURES: tuple[Measure, ...] = ("profit", "taken", "detection", "false_positives", "tau")
Expected = Mapping[str, Mapping[Measure, Interval]]


@dataclass(frozen=True, slots=True)
class Profile:
    """How long a bench is that expectations are kept of."""

    name: Literal["full", "short"]
    seeds: int
    rounds: int


FULL = Profile("full", seeds=12, rounds=48)
SHORT = Profile("short", seeds=2, rounds=16)


def load_expectations(profile: Profile, file: Path = FILE) -> Expected:
    """By attack and measure; nothing if none were written yet."""
    kept = _load(file).get(profile.name)
    if kept is None:
        return {}
    try:
        length = int(kept["seeds"]), int(kept["rounds"])
        attacks = {
            name: {measure: Interval(*map(float, values[measure])) for measure in MEASURES}
            for name, values in kept["attacks"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        told = f"{file}, {profile.name}: {type(fault).__name__}: {fault}"
        raise WeighbeamError("bad_expectations", told, REMEDY) from None
    told = f"{file}: {profile.name} was written for {length[0]} seeds and {length[1]} rounds"
    require(length == (profile.seeds, profile.rounds), "bad_expectations", told, REMEDY)
    return attacks


def narrow(expected: Expected, wanted: Collection[str]) -> Expected:
    """Those of the attacks named in full, by family or by mechanism; all if none is named.

    >>> list(narrow({"inference/sybil": {}, "evidence/sybil": {}, "evidence/padding": {}}, ["sybil"]))
    ['inference/sybil', 'evidence/sybil']
    """
    return {name: row for name, row in expected.items() if not wanted or {name, *name.split("/")}.intersection(wanted)}


def save_expectations(benched: BenchResult, profile: Profile, file: Path = FILE) -> None:
    """Save the expectations of this profile; the other's stay."""
    attacks = {
        name: {measure: _format_interval(getattr(outcome, measure)) for measure in MEASURES}
        for name, outcome in sorted(benched.outcomes.items())
    }
    kept = _load(file) | {profile.name: {"seeds": profile.seeds, "rounds": profile.rounds, "attacks": attacks}}
    file.write_text(_format(kept))


def _load(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    kept = load_json(file)
    require(isinstance(kept, dict), "bad_expectations", f"{file} is not an object", REMEDY)
    return dict(kept)


def _format_interval(interval: Interval) -> list[float]:
    return [round(number, DIGITS) for number in (interval.value, interval.low, interval.high)]


def _format(kept: Mapping[str, Any]) -> str:
    """One line for each attack, so that a change of one is a change of one line."""
    parts = []
    for name in sorted(kept):
        rows = [f"   {json.dumps(attack)}: {json.dumps(row)}" for attack, row in sorted(kept[name]["attacks"].items())]
        head = f'  "seeds": {kept[name]["seeds"]}, "rounds": {kept[name]["rounds"]}, "attacks": {{\n'
        parts.append(f" {json.dumps(name)}: {{\n{head}" + ",\n".join(rows) + "\n  }\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"
