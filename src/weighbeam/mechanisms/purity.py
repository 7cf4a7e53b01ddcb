"""Catch pure code reaching for the world: clock, chance, files, sockets, processes, databases.

While it runs, every call into C and every audit event of the interpreter is watched, so it does not matter through how
many layers the clock or the file was reached. The garbage collector rests meanwhile: others hang calls on it.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

import numpy as np

FORBIDDEN_MODULES = frozenset({"time", "posix", "nt", "_socket", "_sqlite3", "_random"})
HARMLESS = frozenset({"posix.fspath"})
FORBIDDEN_CALLS = frozenset(
    "datetime.now datetime.utcnow datetime.today date.today Random.random Random.getrandbits Random.seed".split()
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
    dice, before, collecting = _read_dice(), sys.getprofile(), gc.isenabled()
    gc.disable()
    _caught = caught
    sys.setprofile(_on_call)
    try:
        yield caught
    finally:
        sys.setprofile(before)
        _caught = None
        if collecting:
            gc.enable()
    if _read_dice() != dice:
        caught.append("numpy.random")


def _read_dice() -> str:
    """The state of numpy's shared generator, whose functions no profiler sees."""
    return repr(np.random.get_state(legacy=False))


def _on_event(event: str, _: tuple[Any, ...]) -> None:
    if _caught is not None and event.startswith(FORBIDDEN_EVENTS):
        _caught.append(event)


def _on_call(_: FrameType, event: str, argument: Any) -> None:
    if _caught is None or event != "c_call":
        return
    owner = getattr(argument, "__self__", None)
    home = owner.__name__ if isinstance(owner, (type, ModuleType)) else type(owner).__name__
    name = f"{home}.{getattr(argument, '__name__', '')}"
    if name in FORBIDDEN_CALLS or (home in FORBIDDEN_MODULES and name not in HARMLESS):
        _caught.append(name)
