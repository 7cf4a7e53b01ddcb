"""Memory of nonces: each is accepted once, across workers and restarts."""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

from weighbeam.core.errors import require

KEEP_SECONDS = 60
SKEW_SECONDS = 2.0
NANOSECONDS = 1_000_000_000


class NonceStore:
    """Seen nonces in a SQLite file, durable before the request is handled.

    A store that began empty knows nothing of what came before it, so whatever is older than its start is refused.
    """

    def __init__(self, path: Path, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = self._open(path)
        known = self._db.execute("SELECT COUNT(*) FROM nonces").fetchone()[0]
        self._blind_until = 0 if known else now()

    @staticmethod
    def _open(path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.DatabaseError:
            db.close()
            path.unlink()
            db = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
            db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(
            "CREATE TABLE IF NOT EXISTS nonces "
            "(sender TEXT, nonce TEXT, expires INTEGER, PRIMARY KEY (sender, nonce)) WITHOUT ROWID"
        )
        return db

    def is_blind(self, signed_at: int) -> bool:
        """Whether a lost store may have seen a request of that time, in nanoseconds."""
        return self._blind_until > 0 and signed_at < self._blind_until + SKEW_SECONDS * NANOSECONDS

    def is_new(self, sender: str, request_id: str, signed_at: int) -> bool:
        """Whether a request is new; remember it. `stale` if that is unknown."""
        require(not self.is_blind(signed_at), "stale", "older than this server's memory", "sign it again")
        return self.remember(sender, request_id)

    def remember(self, sender: str, nonce: str) -> bool:
        """Store the pair; False if it exists."""
        now = self._now()
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("DELETE FROM nonces WHERE expires < ?", (now,))
                added = self._db.execute(
                    "INSERT OR IGNORE INTO nonces VALUES (?, ?, ?)", (sender, nonce, now + KEEP_SECONDS * NANOSECONDS)
                )
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        return added.rowcount == 1

    def close(self) -> None:
        self._db.close()


class NonceClock:
    """Nonces of one process: nanoseconds since 1970, strictly increasing unless the clock is set back."""

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> str:
        """The next nonce; if it is too far ahead of the clock, it restarts from the clock."""
        with self._lock:
            now = self._now()
            ahead = self._last - now > SKEW_SECONDS * NANOSECONDS
            self._last = now if ahead else max(now, self._last + 1)
            return str(self._last)
