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
        if parts is not None:
            token = self._recall(parts[0])
            same = hmac.compare_digest(NO_DIGEST if token is None else token.digest, digest_secret(parts[1]))
            if token is not None and same and token.is_live(self._now()):
                return name_holder(token)
        raise WeighbeamError("bad_token", "this token opens nothing here", "ask the operator for one")

    def _recall(self, token_id: str) -> Token | None:
        since = time.monotonic()
        with self._lock:
            read_at, token = self._seen.get(token_id, (float("-inf"), None))
        if token is not None and since - read_at < FRESH_SECONDS:
            return token
        found = find_token(self._store, token_id)
        with self._lock:
            self._seen.pop(token_id, None)
            if len(self._seen) >= MOST_REMEMBERED:
                self._seen.clear()
            if found is not None:
                self._seen[token_id] = (since, found)
        return found
