"""Catch pure code reaching for the world: clock, chance, files, sockets, processes, databases.

While it runs, every call into C and every audit event of the interpreter is watched, so it does not matter through how
many layers the clock or the file was reached.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

FORBIDDEN_CALLS = frozenset(
    "time.time time.time_ns time.monotonic time.monotonic_ns time.perf_counter time.perf_counter_ns "
    "time.process_time time.process_time_ns time.localtime time.gmtime time.ctime time.sleep "
    "datetime.now datetime.utcnow datetime.today date.today posix.urandom posix.getrandom posix.getpid "
    "Random.random Random.getrandbits Random.seed".split()
)
FORBIDDEN_EVENTS = ("open", "socket.", "subprocess.", "os.", "sqlite3.", "urllib.", "http.", "shutil.", "tempfile.")

_caught: list[str] | None = None
_hooked = False


@contextmanager
def watch_calls() -> Iterator[list[str]]:
    """Collects what pure code must not touch while the block runs."""
    global _caught, _hooked
    if not _hooked:
        sys.addaudithook(_on_event)
        _hooked = True
    caught: list[str] = []
    _caught = caught
    before = sys.getprofile()
    sys.setprofile(_on_call)
    try:
        yield caught
    finally:
        sys.setprofile(before)
        _caught = None


def _on_event(event: str, _: tuple[Any, ...]) -> None:
    if _caught is not None and event.startswith(FORBIDDEN_EVENTS):
        _caught.append(event)


def _on_call(_: FrameType, event: str, argument: Any) -> None:
    if _caught is None or event != "c_call":
        return
    owner = getattr(argument, "__self__", None)
    home = owner.__name__ if isinstance(owner, (type, ModuleType)) else type(owner).__name__
    name = f"{home}.{getattr(argument, '__name__', '')}"
    if name in FORBIDDEN_CALLS:
        _caught.append(name)
