"""Log rounds to Weights & Biases after they are committed."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal

from weighbeam.app.experiments.run_file import make_folder
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.journal.recall import CommittedOutcome, select_outcome
from weighbeam.engine.outbox.queue import OutboxItem
from weighbeam.engine.support.process import run_in_daemon_thread
from weighbeam.store.database import Store

KIND = "experiment"
LOG_SECONDS = 120.0
DROPPED = ("WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_RUN_ID", "WANDB_NAME", "WANDB_NOTES", "WANDB_TAGS", "WANDB_RESUME")
REMEDY = "it is tried again; look at the folder wandb.folder and at the network"


def list_sinks(loaded: LoadedSettings) -> tuple[str, ...]:
    """Further outbox jobs of each committed round; none if wandb is missing, which is logged."""
    if loaded.settings.wandb.project is None:
        return ()
    if find_spec("wandb") is None:
        remedy = "pip install 'weighbeam[wandb]'"
        LOG.warning(
            "wandb.project is set, but the package wandb is missing, so rounds are not logged there | remedy: %s",
            remedy,
        )
        return ()
    return (KIND,)


@dataclass(slots=True)
class Experiments:
    """The delivery `experiment`. One exchange at a time; `command` is what answers."""

    store: Store
    settings: Mapping[str, Any]
    hotkey: str
    better: Mapping[str, Literal["higher", "lower"]]
    seconds: float = LOG_SECONDS
    command: tuple[str, ...] = (sys.executable, "-P", "-m", "weighbeam.app.experiments.worker")
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    async def log(self, item: OutboxItem) -> None:
        outcome = await asyncio.to_thread(select_outcome, self.store, item.ref)
        better = self.better.get(item.mechanism)
        if better is None:
            raise WeighbeamError(
                "no_delivery", f"{item.mechanism} is not run here", "run the mechanism to have its rounds logged"
            )
        await run_in_daemon_thread(self._exchange, format_round(outcome, self.hotkey, better))

    def close(self) -> None:
        """Close its input, so that it finishes its runs; kill it if it hangs."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.communicate(timeout=self.seconds)
        _end(process)

    def _abandon(self) -> None:
        """End the process; the next job starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _exchange(self, line: Mapping[str, Any]) -> None:
        try:
            told = json.loads(self._ask(json.dumps(line).encode() + b"\n"))
        except (OSError, ValueError, TimeoutError) as fault:
            self._abandon()
            why = str(fault) if isinstance(fault, TimeoutError) else f"its process ended: {type(fault).__name__}"
            raise WeighbeamError("experiment_failed", f"wandb refused the round: {why}", REMEDY) from None
        if not told["ok"]:
            self._abandon()
            raise WeighbeamError("experiment_failed", f"wandb refused the round: {told['said']}", REMEDY)

    def _ask(self, line: bytes) -> bytes:
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        process, end, reply = self._process, time.monotonic() + self.seconds, b""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line)
        process.stdin.flush()
        while not reply.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no reply within {self.seconds:g} s")
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                raise OSError("closed")
            reply += part
        return reply

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=make_environment(str(self.settings["folder"]), str(self.settings["mode"])),
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(dict(self.settings)).encode() + b"\n")
        return process


def open_experiments(
    loaded: LoadedSettings, store: Store, hotkey: str, better: Mapping[str, Literal["higher", "lower"]]
) -> Experiments:
    """A folder that cannot be written is logged and stops nothing: rounds wait in the outbox."""
    section = loaded.settings.wandb
    folder = loaded.path(section.folder)
    try:
        make_folder(folder)
    except OSError as fault:
        remedy = "name a folder that can be written"
        LOG.warning("wandb.folder cannot be written: %s; rounds wait | remedy: %s", type(fault).__name__, remedy)
    given = {"folder": str(folder), "project": section.project, "entity": section.entity, "mode": section.mode}
    return Experiments(store, given, hotkey, better)


def make_environment(folder: str, mode: str) -> dict[str, str]:
    """Environment of the subprocess: all files go into its folder; offline it has neither key nor server."""
    dropped = DROPPED if mode == "offline" else ()
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    places = {f"WANDB_{name}_DIR": folder for name in ("CACHE", "CONFIG", "DATA", "ARTIFACT")}
    quiet = {"WANDB_SILENT": "true", "WANDB_CONSOLE": "off", "WANDB_ERROR_REPORTING": "false"}
    return {**kept, **places, **quiet, "WANDB_DIR": folder, "WANDB_MODE": mode}


def format_round(outcome: CommittedOutcome, hotkey: str, better: Literal["higher", "lower"]) -> dict[str, Any]:
    """A round as it is logged, by uid: a run per mechanism and day, a step per entry of the journal."""
    names = {key: str(uid) if uid is not None else key for key, uid in outcome.uids.items()}
    standings = outcome.standings or outcome.scores
    places = rank(standings, better if outcome.standings else "higher")
    day = time.strftime("%Y-%m-%d", time.gmtime(outcome.at))
    values: dict[str, Any] = {
        "round": outcome.round,
        "block": outcome.block,
        "at": outcome.at,
        "answers": len(outcome.scores),
        "valid": sum(status == "valid" for status in outcome.statuses.values()),
        "scores": {names[key]: standings[key] for key in names if standings.get(key) is not None},
        "rankings": {names[key]: places[key] for key in names if key in places},
        "rewards": {names[key]: value for key, value in outcome.scores.items() if key in names and value is not None},
        "hotkeys": {name: key for key, name in names.items()},
    }
    config = {"mechanism": outcome.mechanism, "validator": hotkey, "params_hash": outcome.params_hash}
    run = f"{outcome.mechanism}-{hotkey[:8]}-{day}"
    return {"group": outcome.mechanism, "run": run, "step": outcome.sequence, "values": values, "config": config}


def rank(values: Mapping[str, float | None], better: Literal["higher", "lower"]) -> dict[str, int]:
    """Rank those with a value, from 0.

    >>> rank({"a": 1.0, "b": 3.0, "c": None, "d": 2.0}, "higher")
    {'b': 0, 'd': 1, 'a': 2}
    """
    sign = 1.0 if better == "lower" else -1.0
    known = [(sign * value, key) for key, value in values.items() if value is not None]
    return {key: place for place, (_, key) in enumerate(sorted(known))}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError, subprocess.TimeoutExpired):
        process.wait(10)
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
