"""Subprocess of the experiment logger: a line of settings, then one round per line on standard input, one reply for
each.
"""

import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from weighbeam.app.experiments.run_file import load_history, make_folder

FLUSH_SECONDS = 0.2
WRITE_SECONDS = 60.0
END_SECONDS = 30
QUIET: dict[str, Any] = {
    "console": "off",
    "silent": True,
    "host": "validator",
    "username": "validator",
    "email": "",
    "program": "",
    "program_relpath": "",
    "program_abspath": "",
    "save_code": False,
    "disable_code": True,
    "disable_git": True,
    "disable_job_creation": True,
    "label_disable": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_disable_machine_info": True,
    "x_disable_viewer": True,
    "x_save_requirements": False,
    "x_executable": "",
    "x_transaction_log_flush_interval": FLUSH_SECONDS,
}


@dataclass(slots=True)
class WandbRun:
    """An open run: its file, and the rounds known to be in files of its name."""

    id: str
    inner: Any
    path: Path
    known: set[str]


class WandbRuns:
    """The runs that are open, one for each mechanism."""

    def __init__(self, folder: str, project: str, entity: str | None, mode: str) -> None:
        self._folder, self._project, self._entity, self._mode = Path(folder), project, entity, mode
        self._open: dict[str, WandbRun] = {}

    def log(self, group: str, run: str, step: int, values: dict[str, Any], config: dict[str, Any]) -> None:
        """Log a round unless the run already holds it."""
        opened = self._open.get(group)
        if opened is None or opened.id != run:
            self._finish(group)
            opened = self._open[group] = self._start(group, run, config)
        if values["round"] in opened.known:
            return
        start = opened.path.stat().st_size if opened.path.exists() else 0
        opened.inner.log(values, step=step, commit=True)
        _await(opened.path, values["round"], start)
        opened.known.add(values["round"])

    def close(self) -> None:
        for group in list(self._open):
            self._finish(group)

    def _start(self, group: str, run: str, config: dict[str, Any]) -> WandbRun:
        make_folder(self._folder)
        known = {name for file in self._folder.glob(f"wandb/*-{run}/run-{run}.wandb") for name in _load_rounds(file)}
        sdk: Any = import_module("wandb")
        settings = {name: value for name, value in QUIET.items() if name in sdk.Settings.model_fields}
        inner = sdk.init(
            project=self._project,
            entity=self._entity,
            id=run,
            name=run,
            group=group,
            config=config,
            settings=sdk.Settings(mode=self._mode, root_dir=str(self._folder), **settings),
            reinit="create_new",
            resume="allow" if self._mode == "online" else None,
        )
        return WandbRun(run, inner, Path(inner.settings.sync_file), known)

    def _finish(self, group: str) -> None:
        opened = self._open.pop(group, None)
        if opened is not None:
            opened.inner.finish()


def _await(path: Path, round_id: str, start: int) -> None:
    """Wait until the file holds the round."""
    end = time.monotonic() + WRITE_SECONDS
    while not path.exists() or round_id not in _load_rounds(path, start):
        if time.monotonic() > end:
            raise TimeoutError("the run's file does not contain it")
        time.sleep(FLUSH_SECONDS / 2)


def _load_rounds(path: Path, start: int = 0) -> set[str]:
    return {str(row["round"]) for row in load_history(path, start) if "round" in row}


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    book = WandbRuns(**json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        try:
            book.log(**json.loads(line))
            told: dict[str, Any] = {"ok": True}
        except Exception as fault:
            told = {"ok": False, "said": f"{type(fault).__name__}: {fault}"[:300]}
        replies.write(json.dumps(told) + "\n")
        replies.flush()
    signal.alarm(END_SECONDS)
    book.close()


if __name__ == "__main__":
    os.nice(10)
    main()
