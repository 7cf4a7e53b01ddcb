"""Run vector files (vectors/FORMAT.md) and compare what each pure stage returns with what the file expects."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbeam.chain.stages import STAGES as CHAIN
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_number
from weighbeam.engine.rules.stages import STAGES as WEIGH_IN
from weighbeam.engine.support.json_files import is_folder, load_json
from weighbeam.mechanism.records import Stage
from weighbeam.mechanism.registry import call_hook

FORMAT = 1
SIGNED = "network."


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case: `ok` is None when the file expects nothing; `differs` names the first differing key."""

    file: str
    stage: str
    name: str
    ok: bool | None
    actual: Any
    differs: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "stage": self.stage,
            "name": self.name,
            "ok": self.ok,
            "actual": self.actual,
        }


def collect_stages() -> dict[str, Stage]:
    """Every pure stage: of the weigh-in, the chain and every registered mechanism."""
    stages: dict[str, Stage] = {**WEIGH_IN, **CHAIN}
    for found in call_hook("stages").values():
        stages.update(found)
    return stages


def collect_network_stages() -> dict[str, Stage]:
    """Those that check signatures; the library that does is not part of the core."""
    from weighbeam.network.stages import STAGES as NETWORK

    return dict(NETWORK)


def find_vector_files(paths: list[Path]) -> list[Path]:
    """The files among `paths`, and the JSON files in its folders."""
    found: list[Path] = []
    for path in paths:
        found.extend(sorted(path.rglob("*.json")) if is_folder(path) else [path])
    if not found:
        raise WeighbeamError("no_vectors", "there are no vector files", "name a .json file or a folder that holds some")
    return found


def run_vectors(paths: list[Path], stages: tuple[str, ...] = ("",)) -> Iterator[CaseOutcome]:
    """Run every case of every file whose stage starts with one of `stages`, in order."""
    known = collect_stages()
    ran = 0
    for path in find_vector_files(paths):
        data = _check_file(path, load_json(path))
        if not data["stage"].startswith(stages):
            continue
        if data["stage"].startswith(SIGNED) and data["stage"] not in known:
            known |= collect_network_stages()
        for case in data["cases"]:
            ran += 1
            yield _run_case(path, data, case, known.get(data["stage"]))
    if not ran:
        raise WeighbeamError("no_vectors", "no case was run", "name files or a stage with cases")


def _check_file(path: Path, data: Any) -> dict[str, Any]:
    well_formed = (
        isinstance(data, dict)
        and data.get("format") == FORMAT
        and isinstance(data.get("stage"), str)
        and isinstance(data.get("cases"), list)
        and is_number(data.get("tolerance", 0.0), 0)
        and all(isinstance(case, dict) and isinstance(case.get("input"), dict) for case in data["cases"])
    )
    if not well_formed:
        raise WeighbeamError("bad_vectors_file", f"{path} is not a vector file of format 1", "see vectors/FORMAT.md")
    assert isinstance(data, dict)
    return data


def _run_case(path: Path, data: Mapping[str, Any], case: Mapping[str, Any], stage: Stage | None) -> CaseOutcome:
    name = str(case.get("name", ""))
    if stage is None:
        return CaseOutcome(str(path), data["stage"], name, False, {"error": "unknown_stage"}, "stage")
    actual = call_stage(stage, case["input"])
    if "expect" not in case:
        return CaseOutcome(str(path), data["stage"], name, None, actual)
    differs = first_difference(case["expect"], actual, float(data.get("tolerance", 0.0)))
    return CaseOutcome(str(path), data["stage"], name, differs is None, actual, differs or "")


def call_stage(stage: Stage, given: Mapping[str, Any]) -> dict[str, Any]:
    """The stage's result, or its refusal as `{"error": code}`."""
    try:
        result = stage(given)
        json.dumps(result, allow_nan=False)
        return result
    except WeighbeamError as refusal:
        return {"error": refusal.code}
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as fault:
        return {"error": "bad_input", "message": f"{type(fault).__name__}: {fault}"}


def first_difference(expect: Any, actual: Any, tolerance: float, at: str = "") -> str | None:
    """The path of the first difference, or None. Objects compare by the keys expected, lists in full.

    >>> first_difference({"a": [1, 2.0]}, {"a": [1, 2.0000000001], "b": 3}, 1e-9)
    >>> first_difference({"a": [1, 2.0]}, {"a": [1, 2.1]}, 1e-9)
    'a[1]: expected 2.0, got 2.1'
    """
    if isinstance(expect, dict) and isinstance(actual, dict):
        for key, value in expect.items():
            below = f"{at}.{key}" if at else key
            if key not in actual:
                return f"{below}: missing"
            found = first_difference(value, actual[key], tolerance, below)
            if found:
                return found
        return None
    if isinstance(expect, list) and isinstance(actual, list):
        if len(expect) != len(actual):
            return f"{at}: expected {len(expect)} entries, got {len(actual)}"
        pairs = enumerate(zip(expect, actual, strict=True))
        found_in = (first_difference(e, a, tolerance, f"{at}[{i}]") for i, (e, a) in pairs)
        return next(filter(None, found_in), None)
    return None if _equal(expect, actual, tolerance) else f"{at}: expected {expect!r}, got {actual!r}"


def _equal(expect: Any, actual: Any, tolerance: float) -> bool:
    kinds = {type(expect), type(actual)}
    if kinds <= {int, float} and float in kinds:
        return is_number(expect) and bool(abs(actual - expect) <= tolerance * max(1.0, abs(expect)))
    return type(expect) is type(actual) and bool(expect == actual)
