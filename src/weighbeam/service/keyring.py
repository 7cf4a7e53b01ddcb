"""The tokens of the store, looked up by id; each is remembered for a second, so that a revoked one soon opens nothing.

Time is the wall's, for people give tokens their days.
"""

import hmac
import threading
import time
from collections.abc import Callable

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.tokens import Token, digest_secret, find_token, split_token
from weighbeam.service.callers import Caller, name_holder
from weighbeam.store.database import Store

FRESH_SECONDS = 1.0
MOST_REMEMBERED = 1024
NO_DIGEST = "0" * 64


class Keyring:
    """Who holds which token; a look may wait for the disk."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, Token]] = {}

    def find(self, shown: str) -> Caller:
        """Whoever holds the token shown; `bad_token` in the same words whatever is wrong with it."""
        parts = split_token(shown)
        caller = None if parts is None else self._open(self._look(parts[0]), parts[1])
        if caller is None:
            raise WeighbeamError("bad_token", "this token opens nothing here", "ask the operator for one")
        return caller

    def recall(self, shown: str) -> Caller | None:
        """The same, from memory alone; None also if that does not say."""
        parts = split_token(shown)
        return None if parts is None else self._open(self._remember(parts[0]), parts[1])

    def _open(self, token: Token | None, secret: str) -> Caller | None:
        same = hmac.compare_digest(NO_DIGEST if token is None else token.digest, digest_secret(secret))
        return name_holder(token) if token is not None and same and token.is_live(self._now()) else None

    def _remember(self, token_id: str) -> Token | None:
        with self._lock:
            read_at, token = self._seen.get(token_id, (float("-inf"), None))
        return token if time.monotonic() - read_at < FRESH_SECONDS else None

    def _look(self, token_id: str) -> Token | None:
        token, since = self._remember(token_id), time.monotonic()
        if token is not None:
            return token
        found = find_token(self._store, token_id)
        with self._lock:
            self._seen.pop(token_id, None)
            if len(self._seen) >= MOST_REMEMBERED:
                self._seen.clear()
            if found is not None:
                self._seen[token_id] = (since, found)
        return found
