"""The chain file: its tables, its clock and its transactions."""

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.proxies import Delegation
from weighbeam.core.errors import WeighbeamError

FORMAT = 1
BUSY_SECONDS = 5.0
SLEEP_TEMPOS = 10
BACK_BLOCKS = 10

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE neurons (
    uid INTEGER PRIMARY KEY, hotkey TEXT NOT NULL UNIQUE, coldkey TEXT NOT NULL, stake INTEGER NOT NULL,
    permit INTEGER NOT NULL, registered_at INTEGER NOT NULL, endpoint TEXT
);
CREATE TABLE updates (mechid INTEGER, uid INTEGER, last_update INTEGER NOT NULL, PRIMARY KEY (mechid, uid));
CREATE TABLE weights (
    mechid INTEGER, uid INTEGER, dest INTEGER, value INTEGER NOT NULL, PRIMARY KEY (mechid, uid, dest)
);
CREATE TABLE bonds (
    mechid INTEGER, uid INTEGER, dest INTEGER, value INTEGER NOT NULL, PRIMARY KEY (mechid, uid, dest)
);
CREATE TABLE commits (
    id INTEGER PRIMARY KEY, mechid INTEGER, hotkey TEXT, epoch INTEGER, block INTEGER, hash TEXT, row TEXT,
    version_key INTEGER
);
CREATE TABLE shares (
    mechid INTEGER, uid INTEGER, incentive INTEGER, dividends INTEGER, consensus INTEGER, validator_trust INTEGER,
    active INTEGER, emission INTEGER, PRIMARY KEY (mechid, uid)
);
CREATE TABLE epochs (mechid INTEGER, block INTEGER, result TEXT NOT NULL, PRIMARY KEY (mechid, block));
CREATE TABLE events (id INTEGER PRIMARY KEY, block INTEGER, name TEXT, detail TEXT);
"""


class ChainFile:
    """One open chain file. `manual` chains advance by `advance` alone; others by the wall clock times `speed`."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.frozen = self.drop_reveals = False
        self._clock = clock
        self._threads = threading.Lock()
        if not path.exists():
            raise WeighbeamError(
                "no_chain_file",
                f"{path} does not exist",
                "correct chain.path, or write one with weighbeam demo --write DIR",
            )
        self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            if self.read("format") != FORMAT:
                raise ValueError("unknown format")
        except (sqlite3.DatabaseError, ValueError, KeyError) as fault:
            raise WeighbeamError(
                "bad_chain_file", f"{path} is not a chain file of format {FORMAT}: {fault}", "correct chain.path"
            ) from None

    @classmethod
    def create(
        cls,
        path: Path,
        parameters: SubnetParameters | None = None,
        speed: float = 1.0,
        block_seconds: float = 12.0,
        manual: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> "ChainFile":
        """A new chain at block 1."""
        if path.exists():
            raise WeighbeamError("chain_exists", f"{path} exists", "remove it or choose another path")
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        meta = {
            "format": FORMAT,
            "parameters": (parameters or SubnetParameters()).model_dump(),
            "genesis_time": clock(),
            "genesis_block": 1,
            "block_seconds": block_seconds,
            "speed": speed,
            "manual": manual,
            "head": 1,
            "last_epoch_block": 1,
            "last_step_block": 0,
            "epoch_index": 0,
            "owner": None,
        }
        db.executescript("BEGIN IMMEDIATE;" + SCHEMA)
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(value)) for key, value in meta.items()])
        db.execute("COMMIT")
        db.close()
        return cls(path, clock)

    def read(self, key: str) -> Any:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return json.loads(row[0])

    def write(self, key: str, value: Any) -> None:
        self._db.execute("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(value), key))

    def read_names(self) -> dict[str, str]:
        """By hotkey, what neurons call themselves; older files have none."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'names'").fetchone()
        return {} if row is None else dict(json.loads(row[0]))

    def write_names(self, names: Mapping[str, str]) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('names', ?)", (json.dumps(dict(names)),))

    def read_every_delegation(self) -> dict[str, tuple[Delegation, ...]]:
        """By account, who may sign for it, in the chain's order; older files have none."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'delegations'").fetchone()
        given = {} if row is None else json.loads(row[0])
        return {account: tuple(Delegation(*one) for one in rights) for account, rights in given.items()}

    def read_delegations(self, account: str) -> tuple[Delegation, ...]:
        return self.read_every_delegation().get(account, ())

    def write_delegations(self, account: str, given: Sequence[Delegation]) -> None:
        kept = {**self.read_every_delegation(), account: given}
        every = {one: [[r.delegate, r.kind, r.delay] for r in rights] for one, rights in kept.items()}
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('delegations', ?)", (json.dumps(every),))

    @property
    def parameters(self) -> SubnetParameters:
        return SubnetParameters(**self.read("parameters"))

    @property
    def db(self) -> sqlite3.Connection:
        return self._db

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A write transaction: all of it or nothing, one thread at a time."""
        with self._threads:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def present_block(self) -> int:
        """The block of this moment; never below the head. An unused chain sleeps instead of rushing, and one whose
        clock was set back goes on from where it is."""
        head = int(self.read("head"))
        if self.frozen or self.read("manual"):
            return head
        tempo, seconds = self.parameters.tempo, self.read("block_seconds") / self.read("speed")
        now, genesis = self._clock(), self.read("genesis_time")
        block = int(self.read("genesis_block")) + int((now - genesis) // seconds)
        if block < head - BACK_BLOCKS:
            self.write("genesis_time", now - (head - self.read("genesis_block")) * seconds)
            return head
        if tempo and block - head > SLEEP_TEMPOS * tempo:
            self.write("genesis_time", now - (head + 1 - self.read("genesis_block")) * seconds)
            return head + 1
        return max(head, block)

    def note(self, block: int, name: str, **detail: Any) -> None:
        """Record an event."""
        self._db.execute("INSERT INTO events (block, name, detail) VALUES (?, ?, ?)", (block, name, json.dumps(detail)))

    def time_of(self, block: int) -> float:
        """Seconds of a block, as this chain counts them."""
        return float(self.read("genesis_time") + block * self.read("block_seconds"))

    def hash_block(self, block: int) -> str:
        return "0x" + hashlib.sha256(f"{self.read('genesis_time')}:{block}".encode()).hexdigest()

    def close(self) -> None:
        self._db.close()
