"""Every case of the inference vector files, through the stages as `weighbeam vectors run` calls them."""

import json
from typing import Any

import pytest

from tests_root import ROOT
from weighbeam.engine.vectors import call_stage, first_difference
from weighbeam.mechanisms.inference.mechanism import Inference

STAGES = Inference().stages()
FILES = [json.loads(path.read_text()) for path in sorted((ROOT / "vectors").glob("inference.*.json"))]
CASES = [
    pytest.param(file["stage"], case, file["tolerance"], id=f"{file['stage']}: {case['name']}")
    for file in FILES
    for case in file["cases"]
]


@pytest.mark.parametrize(("stage", "case", "tolerance"), CASES)
def test_vector(stage: str, case: dict[str, Any], tolerance: float) -> None:
    assert first_difference(case["expect"], call_stage(STAGES[stage], case["input"]), tolerance) is None


def test_every_stage_has_a_file() -> None:
    assert {file["stage"] for file in FILES} == set(STAGES)
