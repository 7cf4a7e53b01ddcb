"""The list of known validators: read from a file or URL, refreshed hourly, cached in the store with its age."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.weigh_in.eligible import ValidatorList
from weighbeam.store.database import Store
from weighbeam.store.remember import recall, remember

KEY = "known_validators"
REFRESH_SECONDS = 3600.0
FETCH_SECONDS = 20.0
MAX_BYTES = 4 << 20


@dataclass(slots=True)
class KnownValidators:
    """Without a source the list is off. `refresh` may be called often; it reads at most once an hour."""

    source: str | None
    store: Store
    now: Callable[[], float]
    read_at: float | None = None
    fault: WeighbeamError | None = None

    def refresh(self) -> None:
        """Read the source if it is time; a failure leaves the cached list and is kept in `fault`."""
        if self.source is None or not self._is_due():
            return
        try:
            hotkeys = read_hotkeys(_load(self.source))
        except WeighbeamError as fault:
            self.fault, self.read_at = fault, None
            return
        self.fault, self.read_at = None, self.now()
        remember(self.store, KEY, {"source": self.source, "at": self.read_at, "hotkeys": sorted(hotkeys)})

    def current(self) -> ValidatorList:
        """The list as the serving filter wants it."""
        if self.source is None:
            return ValidatorList()
        kept = recall(self.store, KEY)
        if kept is None or kept["source"] != self.source:
            return ValidatorList("unreadable")
        age = max(0.0, self.now() - kept["at"]) / 3600
        state = "fresh" if self.read_at == kept["at"] and age * 3600 <= REFRESH_SECONDS * 2 else "cached"
        return ValidatorList(state, frozenset(kept["hotkeys"]), age)

    def _is_due(self) -> bool:
        return self.read_at is None or not 0 <= self.now() - self.read_at < REFRESH_SECONDS


def read_hotkeys(content: bytes) -> set[str]:
    """Hotkeys of `{version, updated, validators: [{hotkey, name?}]}`."""
    try:
        given: Any = json.loads(content)
        hotkeys = {row["hotkey"] for row in given["validators"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _bad("it is not {version, updated, validators: [{hotkey}]}") from None
    if not all(isinstance(hotkey, str) for hotkey in hotkeys):
        raise _bad("a hotkey is no text")
    return hotkeys


def _load(source: str) -> bytes:
    if not source.startswith(("http://", "https://")):
        try:
            return Path(source).read_bytes()[:MAX_BYTES]
        except OSError as fault:
            raise _bad(f"{source}: {fault.strerror}") from None
    end = time.monotonic() + FETCH_SECONDS
    try:
        with httpx2.stream("GET", source, timeout=FETCH_SECONDS, follow_redirects=False) as response:
            response.raise_for_status()
            parts, size = [], 0
            for part in response.iter_raw():
                size += len(part)
                if time.monotonic() > end:
                    raise _bad(f"it took more than {FETCH_SECONDS:g} s")
                if size > MAX_BYTES:
                    raise _bad(f"it is larger than {MAX_BYTES} bytes")
                parts.append(part)
            return b"".join(parts)
    except (httpx2.HTTPError, httpx2.InvalidURL) as fault:
        raise _bad(f"{type(fault).__name__}: {fault}") from None


def _bad(why: str) -> WeighbeamError:
    return WeighbeamError(
        "validator_list_unreadable", f"the list of validators cannot be read: {why}", "mend the source"
    )
