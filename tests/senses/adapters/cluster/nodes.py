"""The cluster that tests use: started once, and nothing of it is left when they end."""

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from weighbeam.senses.adapters.cluster.client import Cluster

HERE = Path(__file__).parent
TESTS = HERE.parents[2]
MARK = "WEIGHBEAM_TEST_NODES"
QUICK = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_worker_niceness": "0",
}
"""A node that does not answer five times is gone, after a few seconds here; workers yield to no other process."""


class Nodes:
    """Nodes by number. Every process of theirs carries a mark, by which it is found."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="r"))
        self._mark = f"{MARK}={secrets.token_hex(8)}"
        self.paths = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS), os.environ.get("PYTHONPATH", "")])
        name, _, value = self._mark.partition("=")
        self._process = subprocess.Popen(
            [sys.executable, "-P", HERE / "ray_nodes.py", self.folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **QUICK, name: value, "PYTHONPATH": self.paths},
            start_new_session=True,
            text=True,
        )
        self.address = self._hear()

    def add(self, cores: int = 1) -> int:
        return int(self._say(f"add {cores}"))

    def kill(self, which: int | str) -> None:
        self._say(f"kill {which}")

    def list_processes(self) -> set[int]:
        """Whatever was started by the cluster, workers too."""
        found = set()
        for entry in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if self._mark.encode() in entry.read_bytes():
                    found.add(int(entry.parent.name))
        return found

    def remove(self) -> None:
        self._process.kill()
        self._process.wait()
        for _ in range(20):
            left = self.list_processes()
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
        shutil.rmtree(self.folder, ignore_errors=True)

    def _say(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._hear()

    def _hear(self) -> str:
        """Ray says this and that on its output; what is ours is one word."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if len(line.split()) == 1:
                return line.strip()
        raise AssertionError("the cluster did not start")


def need_ray() -> None:
    """Skips this module if there is no Ray; where `CI` is set that fails instead."""
    if importlib.util.find_spec("ray") is None:
        assert not os.environ.get("CI"), "install the extra ray"
        pytest.skip("Ray is an extra: weighbeam[ray]", allow_module_level=True)


def find_broker(cluster: Cluster) -> int | None:
    """The number of the process through which a cluster is used; None if it runs no more, or not yet."""
    line = cluster._line
    return None if line is None else line.pid
