"""Hold a mechanism against labelled rows: load them, judge each set, measure, and average over the sets."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.support.package_faults import contain
from weighbeam.lab.simulate.world import draw_chance
from weighbeam.lab.trials.versions import Versions
from weighbeam.lab.validity.kinds import LabelledRow, RowFormat, RowKind
from weighbeam.lab.validity.measures import (
    DRAWS,
    CalibrationBin,
    Confusion,
    Finding,
    Measured,
    average_sets,
    join_calibrations,
    join_confusions,
)
from weighbeam.lab.validity.records import DataFile, DataRecord, load_records
from weighbeam.lab.validity.rounds import make_round_kind
from weighbeam.mechanism.base import Mechanism, describe_fault
from weighbeam.mechanism.params import Params
from weighbeam.senses.ports.protocols import Senses

OnDone = Callable[[int, int], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Which rows are taken: of these sets, at most so many of each (spread evenly over it), in one format."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True)
class LabelledData:
    """Rows by kind and set, where they come from, and how many records each kind left out."""

    files: Sequence[DataFile]
    rows: Mapping[str, Mapping[str, Sequence[LabelledRow]]]
    left_out: Mapping[str, int]
    is_sample: bool = False


@dataclass(frozen=True, slots=True)
class SetResult:
    """One set of rows."""

    rows: int
    measured: Measured


@dataclass(frozen=True, slots=True)
class KindResult:
    """All sets of a kind. `mean` is over sets, `confusion` and `calibration` are of all rows."""

    kind: str
    sets: Mapping[str, SetResult]
    mean: Mapping[str, Finding]
    confusion: Confusion | None
    calibration: tuple[CalibrationBin, ...]
    meanings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ValidityResult:
    """Results of the bench, and everything needed to repeat it."""

    mechanism: str
    kinds: Sequence[KindResult]
    params: Mapping[str, Any]
    choice: RowChoice
    data: LabelledData
    seed: int
    versions: Versions
    draws: int = DRAWS
    seconds: float = field(default=0.0, compare=False)


def list_kinds(mechanism: Mechanism) -> tuple[RowKind, ...]:
    """The mechanism's own kinds, or rounds; `bad_mechanism` if they are none."""
    with contain(mechanism.name, "row_kinds"):
        found = tuple(mechanism.row_kinds())
    names = [kind.name if isinstance(kind, RowKind) else None for kind in found]
    if None in names or len(set(names)) < len(names):
        told = f"row_kinds of {mechanism.name!r} must return RowKind, each with a name of its own"
        raise WeighbeamError("bad_mechanism", told, "fix `row_kinds` (see the guide 'Validity')")
    return found or (make_round_kind(mechanism),)


def load_rows(mechanism: Mechanism, places: Sequence[Path], choice: RowChoice) -> LabelledData:
    """The rows of the files, or of the sets that come with the mechanism; the first bad one is refused."""
    kinds = list_kinds(mechanism)
    chosen = list(places) or [kind.sample for kind in kinds if kind.sample is not None]
    remedy = "give DATA: a file or folder of labelled rows (see the guide 'Validity')"
    require(bool(chosen), "no_rows", f"{mechanism.name} comes with no labelled rows", remedy)
    formats = _choose_formats(kinds, choice.format)
    files, records = load_records(chosen)
    _refuse_unknown(records, [one for _, one in formats])
    rows: dict[str, dict[str, list[LabelledRow]]] = {kind.name: {} for kind in kinds}
    left_out: Counter[str] = Counter()
    for kind, form in formats:
        for record in form.convert([one for one in records if form.fits(one.fields)]):
            if record is None:
                left_out[kind.name] += 1
                continue
            row = _parse_row(kind, record)
            if not choice.only or row.set in choice.only:
                rows[kind.name].setdefault(row.set, []).append(row)
    taken = {
        kind: {name: spread_evenly(some, choice.limit) for name, some in sets.items()}
        for kind, sets in rows.items()
        if sets
    }
    known = f"no labelled row is in {', '.join(str(place) for place in chosen)[:200]}"
    require(bool(taken), "no_rows", known, "name other files, or sets that --only knows")
    return LabelledData(files, taken, dict(left_out), not places)


def spread_evenly(rows: Sequence[T], limit: int | None) -> tuple[T, ...]:
    """At most `limit` of them, in order and from everywhere: public sets are often sorted by label.

    >>> spread_evenly("abcdefgh", 3), spread_evenly("ab", 3)
    (('a', 'c', 'f'), ('a', 'b'))
    """
    count = len(rows) if limit is None else min(limit, len(rows))
    return tuple(rows[place * len(rows) // count] for place in range(count))


def _choose_formats(kinds: Sequence[RowKind], name: str | None) -> list[tuple[RowKind, RowFormat]]:
    every = [(kind, form) for kind in kinds for form in kind.formats]
    if name is None:
        return every
    found = [(kind, form) for kind, form in every if form.name == name]
    known = ", ".join(dict.fromkeys(form.name for _, form in every))
    require(bool(found), "unknown_format", f"{name!r} is not a format of this mechanism", f"use one of: {known}")
    return found


def _refuse_unknown(records: Sequence[DataRecord], formats: Sequence[RowFormat]) -> None:
    for record in records:
        if not any(form.fits(record.fields) for form in formats):
            names = ", ".join(str(name)[:30] for name in list(record.fields)[:8])
            known = ", ".join(dict.fromkeys(form.name for form in formats))
            raise WeighbeamError(
                "unknown_rows",
                f"{record.place}: fields {names or '(none)'} fit no format",
                f"write rows as the guide 'Validity' says; formats: {known}",
            )


def _parse_row(kind: RowKind, record: DataRecord) -> LabelledRow:
    try:
        row = kind.row.model_validate({**record.fields, "set": record.set})
    except ValidationError as fault:
        told = describe_fault(fault).replace("Value error, ", "")
        raise record.refuse(told[:300], f"write a row of kind {kind.name} (see the guide 'Validity')") from None
    row.put(record.place)
    return row


def run_validity(
    mechanism: Mechanism,
    params: Params,
    data: LabelledData,
    senses: Senses,
    seed: int = 0,
    choice: RowChoice | None = None,
    on_done: OnDone = lambda *_: None,
) -> ValidityResult:
    """Judge and measure every set; the same rows, models and seed give the same figures."""
    began, done = time.monotonic(), 0
    total = sum(len(rows) for sets in data.rows.values() for rows in sets.values())
    found = []
    for kind in list_kinds(mechanism):
        sets: dict[str, SetResult] = {}
        for name, rows in data.rows.get(kind.name, {}).items():
            outcomes = []
            with contain(mechanism.name, f"judge of {kind.name} rows"):
                for outcome in kind.judge(params, rows, senses):
                    outcomes.append(outcome)
                    on_done(done + len(outcomes), total)
                chance = draw_chance(seed, "validity", kind.name, name)
                sets[name] = SetResult(len(rows), kind.measure(rows, outcomes, chance))
            done += len(rows)
        if sets:
            found.append(_join_sets(kind, sets))
    versions = note_senses(mechanism, params, senses)
    changed = params.model_dump(mode="json", exclude_defaults=True)
    taken = choice or RowChoice()
    spent = time.monotonic() - began
    return ValidityResult(mechanism.name, found, changed, taken, data, seed, versions, seconds=spent)


def _join_sets(kind: RowKind, sets: Mapping[str, SetResult]) -> KindResult:
    measured = [one.measured for one in sets.values()]
    mean = average_sets([one.findings for one in measured])
    order = [*(name for name in kind.meanings if name in mean), *(name for name in mean if name not in kind.meanings)]
    return KindResult(
        kind.name,
        sets,
        {name: mean[name] for name in order},
        join_confusions([one.confusion for one in measured]),
        join_calibrations([one.calibration for one in measured]),
        kind.meanings,
    )


def note_senses(mechanism: Mechanism, params: Params, senses: Senses) -> Versions:
    """Which program and which models the figures are of."""
    import platform

    import numpy

    from weighbeam import __version__

    with contain(mechanism.name, "name_senses"):
        named = mechanism.name_senses(params, senses)
    digests = {
        one["id"]: one["digest"] for one in named.values() if isinstance(one, dict) and {"id", "digest"} <= set(one)
    }
    return Versions(__version__, platform.python_version(), numpy.__version__, digests)


def format_result(result: ValidityResult) -> dict[str, Any]:
    """The JSON of the command."""
    from dataclasses import asdict

    kinds = {}
    for one in result.kinds:
        sets = {name: {"rows": found.rows, **asdict(found.measured)} for name, found in one.sets.items()}
        kinds[one.kind] = {
            "sets": sets,
            "mean": {name: asdict(finding) for name, finding in one.mean.items()},
            "confusion": asdict(one.confusion) if one.confusion else None,
            "calibration": [asdict(each) for each in one.calibration],
        }
    return {
        "kind": "validity",
        "mechanism": result.mechanism,
        "kinds": kinds,
        "params": dict(result.params),
        "choice": asdict(result.choice),
        "files": [asdict(file) for file in result.data.files],
        "sample": result.data.is_sample,
        "left_out": dict(result.data.left_out),
        "seed": result.seed,
        "draws": result.draws,
        "versions": asdict(result.versions),
        "seconds": round(result.seconds, 3),
    }
