"""The dashboard as its users have it: `weighbeam serve` in a process of its own, over a journal in a folder."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from demo_run import copy_database
from network.loopback import free_port
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet_files import save_validator_settings
from weighbeam.store.database import Store

START_SECONDS = 90.0
STOP_SECONDS = 20.0
STORE = "validator-1.db"


@dataclass
class Site:
    """Where it is reached, and the files it is made from. It can be stopped and started again at the same place."""

    folder: Path
    port: int = field(default_factory=free_port)
    settings: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def store_url(self) -> str:
        return f"sqlite:///{self.folder / STORE}"

    def open_store(self) -> Store:
        return Store(self.store_url)

    def start(self) -> None:
        command = [sys.executable, "-m", "weighbeam", "serve", "--config", str(self.folder / "validator-1.toml")]
        env = {
            **os.environ,
            "WEIGHBEAM_SERVICE__LISTEN": f"127.0.0.1:{self.port}",
            "WEIGHBEAM_SERVICE__PER_MINUTE": "60000",
            "WEIGHBEAM_NOVELTY__PER_MINUTE": "60000",
            **self.settings,
        }
        with (self.folder / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=env)
        self._await()

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(STOP_SECONDS)
        self.process = None

    def read_log(self) -> str:
        return (self.folder / "serve.log").read_text("utf-8", "replace")

    def _await(self) -> None:
        assert self.process is not None
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            try:
                httpx2.get(f"{self.url}/health", timeout=5)
                return
            except httpx2.HTTPError:
                time.sleep(0.1)
        self.stop()
        raise AssertionError(f"it does not serve: {self.read_log()[-2000:]}")


@contextmanager
def serve_folder(folder: Path, **settings: str) -> Iterator[Site]:
    """With settings of its own, by the names of their variables."""
    site = Site(folder, settings=settings)
    try:
        site.start()
        yield site
    finally:
        site.stop()
    assert "Traceback" not in site.read_log(), site.read_log()[-4000:]


def copy_demo(source: Path, folder: Path) -> Path:
    """The first validator's journal, the chain, and settings for both, in a folder of our own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (STORE, "chain.sqlite"):
        copy_database(source / name, folder / name)
    save_validator_settings(folder, VALIDATORS[0])
    return folder
