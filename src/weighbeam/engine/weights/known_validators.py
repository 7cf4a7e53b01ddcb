"""The list of known validators: loaded from a file or URL, refreshed hourly, cached in the store with its age."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.eligible import ValidatorList
from weighbeam.network.http_call import call_http
from weighbeam.store.database import Store
from weighbeam.store.memory import recall, remember

KEY = "known_validators"
REFRESH_SECONDS = 3600.0
FETCH_SECONDS = 20.0
MAX_BYTES = 4 << 20


@dataclass(slots=True)
class KnownValidators:
    """Without a source the list is off. `refresh` may be called often; it reads at most once an hour.

    Without `keep`, a list that was read stays in memory and the store is only read.
    """

    source: str | None
    store: Store
    now: Callable[[], float]
    keep: bool = True
    read_at: float | None = None
    fault: WeighbeamError | None = None
    unkept: dict[str, Any] | None = None

    def refresh(self) -> None:
        """Read the source if it is time; a failure leaves the cached list and is kept in `fault`."""
        if self.source is None or not self._is_due():
            return
        try:
            hotkeys = parse_hotkeys(_fetch(self.source))
        except WeighbeamError as fault:
            self.fault, self.read_at = fault, None
            return
        self.fault, self.read_at = None, self.now()
        read = {"source": self.source, "at": self.read_at, "hotkeys": sorted(hotkeys)}
        if self.keep:
            remember(self.store, KEY, read)
        else:
            self.unkept = read

    def current(self) -> ValidatorList:
        """The list as the serving filter wants it."""
        if self.source is None:
            return ValidatorList()
        kept = self.unkept or recall(self.store, KEY)
        if kept is None or kept["source"] != self.source:
            return ValidatorList("unreadable")
        age = max(0.0, self.now() - kept["at"]) / 3600
        state = "fresh" if self.read_at == kept["at"] and age * 3600 <= REFRESH_SECONDS * 2 else "cached"
        return ValidatorList(state, frozenset(kept["hotkeys"]), age)

    def _is_due(self) -> bool:
        return self.read_at is None or not 0 <= self.now() - self.read_at < REFRESH_SECONDS


def parse_hotkeys(content: bytes) -> set[str]:
    """Hotkeys of `{version, updated, validators: [{hotkey, name?}]}`."""
    try:
        given: Any = json.loads(content)
        hotkeys = {row["hotkey"] for row in given["validators"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _bad("it is not {version, updated, validators: [{hotkey}]}") from None
    if not all(isinstance(hotkey, str) for hotkey in hotkeys):
        raise _bad("a hotkey is not a string")
    return hotkeys


def _fetch(source: str) -> bytes:
    if not source.startswith(("http://", "https://")):
        try:
            return Path(source).read_bytes()[:MAX_BYTES]
        except OSError as fault:
            raise _bad(f"{source}: {fault.strerror}") from None
    try:
        called = call_http("GET", source, seconds=FETCH_SECONDS, limit=MAX_BYTES)
    except WeighbeamError as fault:
        raise _bad(fault.message) from None
    if called.status != 200:
        raise _bad(f"{source} answered {called.status}")
    return called.body


def _bad(why: str) -> WeighbeamError:
    return WeighbeamError(
        "validator_list_unreadable", f"the list of known validators cannot be read: {why}", "fix the source"
    )
