"""Every case of the vector files of the scoring stages, compared as `weighbeam vectors run` does."""

import json
from typing import Any

import pytest

from tests_root import ROOT
from weighbeam.engine.vectors import call_stage, first_difference
from weighbeam.mechanisms.evidence.stages import STAGES

FILES = [json.loads((ROOT / f"vectors/{stage}.json").read_text()) for stage in STAGES]
CASES = [
    pytest.param(file["stage"], case, file["tolerance"], id=f"{file['stage']}: {case['name']}")
    for file in FILES
    for case in file["cases"]
]


@pytest.mark.parametrize(("stage", "case", "tolerance"), CASES)
def test_vector(stage: str, case: dict[str, Any], tolerance: float) -> None:
    assert first_difference(case["expect"], call_stage(STAGES[stage], case["input"]), tolerance) is None


def test_every_stage_has_its_file() -> None:
    assert {file["stage"] for file in FILES} == set(STAGES)
