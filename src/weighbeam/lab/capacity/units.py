"""Measured cost of one unit of everything; `python -m benchmarks past` writes the file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number

FILE = "units.json"
REMEDY = "leave the option out, or have `python -m benchmarks past` measure it"


@dataclass(frozen=True, slots=True)
class RoundCost:
    """One round: `answers` of its group, seconds of a processor to observe it, seconds under the store's write lock on
    PostgreSQL to record and to commit it, and what it leaves there."""

    answers: int
    observe_seconds: float
    record_seconds: float
    commit_seconds: float
    journal_bytes: float


@dataclass(frozen=True, slots=True)
class CapacityUnits:
    """By mechanism the cost of a round; what two workers do, by twice what one does; how many rows of 384 dimensions
    one core compares in a second, on the server for one query and for many together, and in memory, what a row takes,
    and what stays under the lock; an epoch per validator and miner."""

    machine: str
    rounds: Mapping[str, RoundCost]
    worker_share: float
    server_rows_per_second: float
    server_rows_together_per_second: float
    server_row_bytes: float
    memory_rows_per_second: float
    memory_row_bytes: float
    insert_seconds: float
    epoch_seconds_per_pair: float


def load_units(text: str | None = None) -> CapacityUnits:
    """The units in `text`, or those that were measured for this version; `bad_units` if they are none."""
    try:
        given = json.loads(text if text is not None else files(__package__).joinpath(FILE).read_text())
        rounds = {name: RoundCost(**row) for name, row in given.pop("rounds").items()}
        units = CapacityUnits(rounds=rounds, **given)
    except (ValueError, TypeError, KeyError, AttributeError) as fault:
        raise WeighbeamError("bad_units", f"these units are invalid: {fault}", REMEDY) from None
    for owner in (units, *rounds.values()):
        _check(owner)
    return units


def _check(owner: Any) -> None:
    for field in fields(owner):
        value = getattr(owner, field.name)
        if field.name not in ("machine", "rounds"):
            sound = is_number(value) and value > 0
            require(sound, "bad_units", f"{field.name} is {value!r}, not a number above 0", REMEDY)
