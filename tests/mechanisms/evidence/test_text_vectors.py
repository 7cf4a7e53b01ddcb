"""Every case of the vector files about URLs and texts, compared as `weighbeam vectors run` compares them."""

import json
from typing import Any

import pytest

from tests_root import ROOT
from weighbeam.engine.vectors import call_stage, first_difference
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT

FILES = [json.loads((ROOT / "vectors" / f"{stage}.json").read_text()) for stage in STAGES_TEXT]
CASES = [
    pytest.param(file["stage"], case, file["tolerance"], id=f"{file['stage']}: {case['name']}")
    for file in FILES
    for case in file["cases"]
]


@pytest.mark.parametrize(("stage", "case", "tolerance"), CASES)
def test_vector(stage: str, case: dict[str, Any], tolerance: float) -> None:
    assert first_difference(case["expect"], call_stage(STAGES_TEXT[stage], case["input"]), tolerance) is None
