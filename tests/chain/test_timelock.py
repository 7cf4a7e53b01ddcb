"""One reveal for real: sealed by the SDK, opened by the published signature of its drand round."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopnode.need import need_sdk
from tests_root import ROOT

need_sdk()


def test_a_commit_is_opened_by_the_published_round_and_holds_our_row(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no C compiler to stop the clock with")
    library = tmp_path / "frozen_clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, ROOT / "tests/chain/frozen_clock.c"], check=True)
    done = subprocess.run(
        [sys.executable, ROOT / "tests/chain/timelock_worker.py", tmp_path, library],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["path"], found["round"]) == ("commit", 1000)
    assert found["before"] == []
    assert found["after"] == [[1, 65535], [3, 777]]
