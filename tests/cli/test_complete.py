"""Completion as a shell asks for it: bash sources what `--show-completion` prints, and is offered names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import weighbeam


def ask_bash(folder: Path, *lines: str) -> list[list[str]]:
    """What a real bash would offer at the end of each line."""
    program = folder / "weighbeam"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m weighbeam "$@"\n')
    program.chmod(0o755)
    shown = weighbeam("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    asked = [
        f"COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}; "
        '_weighbeam_completion weighbeam; echo "${COMPREPLY[@]}"'
        for line in lines
    ]
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    script = "\n".join([shown.stdout, *asked])
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment)
    return [line.split() for line in done.stdout.splitlines()]


def test_bash_is_offered_commands_mechanisms_and_parameters(tmp_path: Path) -> None:
    commands, mechanisms, settings, full = ask_bash(
        tmp_path,
        "weighbeam me",
        "weighbeam mechanism show ''",
        "weighbeam score chunking examples/chunking.json --set al",
        "weighbeam lab backtest --set novelty.",
    )
    assert commands == ["mechanism"]
    assert {"chunking", "evidence", "inference", "novelty"} <= set(mechanisms)
    assert settings == ["alpha=", "alpha_min="]
    assert full
    assert all(name.startswith("novelty.") and name.endswith("=") for name in full)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_how_to_ask(shell: str) -> None:
    shown = weighbeam("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert f"_WEIGHBEAM_COMPLETE=complete_{shell}" in shown.stdout


def test_completing_loads_nothing_heavy() -> None:
    code = (
        "import sys; from weighbeam.cli.main import app\n"
        "try: app(prog_name='weighbeam')\n"
        "except SystemExit: pass\n"
        "print([m for m in 'numpy onnxruntime rich sqlalchemy'.split() if m in sys.modules])"
    )
    asking = {"COMP_WORDS": "weighbeam score novelty --set ", "COMP_CWORD": "4", "_WEIGHBEAM_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **asking}
    )
    *offered, loaded = done.stdout.splitlines()
    assert offered
    assert loaded == "[]"
