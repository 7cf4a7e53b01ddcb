"""Memory of embedded texts and judged pairs, bounded, in RAM and on disk."""

import hashlib
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.ports.protocols import Embedder, Entailment

MEMORY_VECTORS = 20_000
DISK_VECTORS = 200_000
QUERY_KEYS = 500

SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    vector BLOB NOT NULL,
    crc INTEGER NOT NULL
)
"""


class DiskVectors:
    """Vectors by key in one SQLite file, oldest dropped first. Damage costs a recomputation, never a wrong vector."""

    def __init__(self, path: Path, limit: int = DISK_VECTORS) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open(path)
        except (OSError, sqlite3.OperationalError):
            return
        except sqlite3.DatabaseError:
            with suppress(OSError, sqlite3.Error):
                path.unlink(missing_ok=True)
                self._db = self._open(path)

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=2, check_same_thread=False, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")
        db.execute(SCHEMA)
        return db

    def find(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.int32]]:
        """The vectors that are there and undamaged."""
        found: dict[bytes, NDArray[np.int32]] = {}
        with self._lock:
            for i in range(0, len(keys), QUERY_KEYS):
                for key, blob, crc in self._select(keys[i : i + QUERY_KEYS]):
                    if isinstance(blob, bytes) and zlib.crc32(key + blob) == crc:
                        found[key] = np.frombuffer(blob, dtype="<i4").astype(np.int32)
        return found

    def _select(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes, int]]:
        if self._db is None:
            return []
        marks = ",".join("?" * len(keys))
        try:
            rows = self._db.execute(f"SELECT key, vector, crc FROM vectors WHERE key IN ({marks})", keys)
            return rows.fetchall()
        except sqlite3.DatabaseError:
            return []

    def keep(self, rows: Iterable[tuple[bytes, NDArray[np.int32]]]) -> None:
        """Add vectors; a full or locked disk does not fail the round."""
        blobs = [(key, vector.astype("<i4").tobytes()) for key, vector in rows]
        records = [(key, blob, zlib.crc32(key + blob)) for key, blob in blobs]
        with self._lock:
            if self._db is None:
                return
            try:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("INSERT OR REPLACE INTO vectors (key, vector, crc) VALUES (?, ?, ?)", records)
                self._db.execute("DELETE FROM vectors WHERE id <= (SELECT MAX(id) FROM vectors) - ?", (self._limit,))
                self._db.execute("COMMIT")
            except sqlite3.DatabaseError:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None


class RememberingEmbedder:
    """An embedder that never embeds a text it still remembers."""

    def __init__(self, embedder: Embedder, disk: DiskVectors | None = None, limit: int = MEMORY_VECTORS) -> None:
        self.inner = embedder
        self.id = embedder.id
        self.digest = embedder.digest
        self.dimensions = embedder.dimensions
        self.hits = 0
        self.misses = 0
        self._disk = disk
        self._limit = limit
        self._memory: OrderedDict[bytes, NDArray[np.int32]] = OrderedDict()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n, dimensions) millionths; each distinct text is embedded at most once."""
        keys = [self._key(text) for text in texts]
        text_of = dict(zip(keys, texts, strict=True))
        known = self._recall(list(text_of))
        new = [key for key in text_of if key not in known]
        self.hits += len(text_of) - len(new)
        self.misses += len(new)
        if new:
            vectors = self.inner.embed([text_of[key] for key in new])
            fresh = dict(zip(new, vectors, strict=True))
            known |= fresh
            self._store(fresh)
            if self._disk is not None:
                self._disk.keep(fresh.items())
        if not keys:
            return np.empty((0, self.dimensions), dtype=np.int32)
        return np.stack([known[key] for key in keys])

    def _key(self, text: str) -> bytes:
        content = f"{self.digest}:{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).digest()

    def _recall(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.int32]]:
        known: dict[bytes, NDArray[np.int32]] = {}
        with self._lock:
            for key in keys:
                vector = self._memory.get(key)
                if vector is not None:
                    self._memory.move_to_end(key)
                    known[key] = vector
        if self._disk is not None:
            found = self._disk.find([key for key in keys if key not in known])
            sound = {key: row for key, row in found.items() if row.shape == (self.dimensions,)}
            self._store(sound)
            known |= sound
        return known

    def _store(self, vectors: dict[bytes, NDArray[np.int32]]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                self._memory[key] = vector.copy()
                self._memory.move_to_end(key)
            while len(self._memory) > self._limit:
                self._memory.popitem(last=False)


class RememberingEntailment:
    """An entailment sense that never judges a pair it still remembers."""

    def __init__(self, inner: Entailment, disk: DiskVectors | None = None) -> None:
        self.inner = inner
        self.id = inner.id
        self.digest = inner.digest
        self.memory = RememberingEmbedder(PairsAsTexts(inner), disk)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        """(n, 3) millionths; each distinct pair is judged at most once."""
        return self.memory.embed([join_pair(premise, hypothesis) for premise, hypothesis in pairs])


class PairsAsTexts:
    """An entailment sense in the form the memory knows: a text (a joined pair) to a vector (its three numbers)."""

    dimensions = 3

    def __init__(self, inner: Entailment) -> None:
        self.inner = inner
        self.id = inner.id
        self.digest = inner.digest

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return self.inner.judge([split_pair(text) for text in texts])


def join_pair(premise: str, hypothesis: str) -> str:
    """One text per pair, and no two pairs the same.

    >>> join_pair("It rains.", "1:2")
    '9:It rains.1:2'
    """
    return f"{len(premise)}:{premise}{hypothesis}"


def split_pair(joined: str) -> tuple[str, str]:
    """
    >>> split_pair("9:It rains.1:2")
    ('It rains.', '1:2')
    """
    length, _, rest = joined.partition(":")
    return rest[: int(length)], rest[int(length) :]
