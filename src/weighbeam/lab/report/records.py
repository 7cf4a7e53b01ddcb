"""Results as JSON, for machines and for a report that is written later."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.json_files import load_json
from weighbeam.lab.trials.bench import BenchResult
from weighbeam.lab.trials.sweep import SweepResult
from weighbeam.lab.validators.year_record import YearRecord

LabRecord = BenchResult | SweepResult | YearRecord
KINDS: Mapping[str, type[LabRecord]] = {"bench": BenchResult, "sweep": SweepResult, "year": YearRecord}


def format_record(record: LabRecord) -> dict[str, Any]:
    """With the kind of record it is, and a verdict beside each profit."""
    kind = next(name for name, known in KINDS.items() if isinstance(record, known))
    written = {"kind": kind, **asdict(record)}
    if isinstance(record, BenchResult):
        for name, outcome in record.outcomes.items():
            written["outcomes"][name]["verdict"] = outcome.verdict
    return written


def load_record(file: Path) -> LabRecord:
    """A record that was written before; anything else is refused."""
    from pydantic import TypeAdapter, ValidationError

    data = load_json(file)
    kind = KINDS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if kind is None:
        raise WeighbeamError("bad_lab_record", f"{file} is not a result of the lab", "give a file that --report wrote")
    try:
        json.dumps(data, allow_nan=False)
        record: LabRecord = TypeAdapter(kind).validate_python(data)
    except (ValidationError, ValueError) as fault:
        first = fault.errors()[0] if isinstance(fault, ValidationError) else {"loc": (), "msg": str(fault)}
        told = f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise WeighbeamError("bad_lab_record", told[:300], "give a file that --report wrote") from None
    return record
