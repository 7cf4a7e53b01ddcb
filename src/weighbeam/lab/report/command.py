"""The command that plays a record again."""

import json
import shlex
from collections.abc import Collection, Iterable
from typing import Any

from weighbeam.lab.bench import Benched
from weighbeam.lab.records import Record
from weighbeam.lab.year_record import YearRecord


def write_command(record: Record, known: Collection[str]) -> str:
    """`known` is the catalogue, whose names need not be written out one by one."""
    if isinstance(record, YearRecord):
        sizes = ("validators", "miners", "copiers", "colluders", "epochs", "seed")
        words = [word for name in sizes for word in (f"--{name}", str(getattr(record, name)))]
        return shlex.join(["weighbeam", "lab", "year", *words])
    length = ["--seeds", str(len(record.seeds)), "--rounds", str(record.rounds)]
    if isinstance(record, Benched):
        names = [] if set(record.outcomes) == set(known) else shorten_names(record.outcomes, known)
        pairs = [
            (f"{owner}.{name}", value) for owner, values in record.params.items() for name, value in values.items()
        ]
        return shlex.join(["weighbeam", "lab", "attack", *names, *length, *_spread("--set", pairs)])
    own = {name for name in known if name.startswith(f"{record.mechanism}/")}
    families = [] if set(record.attacks) == own else [name.partition("/")[2] for name in record.attacks]
    chosen = [word for family in families for word in ("--attack", family)]
    grid = [f"{name}={','.join(map(_write, values))}" for name, values in record.grid.items()]
    parts = [word for one in grid for word in ("--grid", one)]
    return shlex.join(["weighbeam", "lab", "sweep", "--mechanism", record.mechanism, *parts, *chosen, *length])


def shorten_names(names: Iterable[str], known: Collection[str]) -> list[str]:
    """A mechanism instead of all its attacks.

    >>> shorten_names(["evidence/padding", "evidence/sybil", "novelty/sybil"],
    ...     ["evidence/padding", "evidence/sybil", "novelty/sybil", "novelty/gibberish"])
    ['evidence', 'novelty/sybil']
    """
    left, short = set(names), []
    for mechanism in sorted({name.partition("/")[0] for name in left}):
        own = {name for name in known if name.startswith(f"{mechanism}/")}
        if own and own <= left:
            short.append(mechanism)
            left -= own
    return sorted([*short, *left])


def _spread(option: str, pairs: Iterable[tuple[str, Any]]) -> list[str]:
    return [word for name, value in pairs for word in (option, f"{name}={_write(value)}")]


def _write(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
