"""The stages touch nothing but their input, from the very first call of a process."""

import subprocess
import sys

from tests_root import ROOT

FIRST_CALLS = """
import json, sys
from pathlib import Path
from weighbeam.engine.vectors import call_stage
from weighbeam.mechanisms.evidence.stages import STAGES_TEXT
from weighbeam.mechanism.checks import watch_calls

files = [json.loads((Path(sys.argv[1]) / f"{stage}.json").read_text()) for stage in STAGES_TEXT]
with watch_calls() as caught:
    for file in files:
        for case in file["cases"]:
            call_stage(STAGES_TEXT[file["stage"]], case["input"])
print(sorted(set(caught)))
"""


def test_no_stage_reaches_for_the_world() -> None:
    command = [sys.executable, "-c", FIRST_CALLS, str(ROOT / "vectors")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
