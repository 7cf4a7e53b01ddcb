"""One worker on a node: a sense, loaded once, and the parts it is given."""

import os
import pickle
import platform
from dataclasses import dataclass

from weighbeam import __version__
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.cluster.messages import write_fault
from weighbeam.senses.cluster.spec import Opened, Spec, Standard


@dataclass(frozen=True, slots=True)
class Introduction:
    """Where a worker is and what it can do; `fault` if it cannot."""

    node: str
    pid: int
    standard: Standard
    fault: dict[str, str] | None = None


class Worker:
    """Whatever is no fault of the sense's own goes up, and the part to another worker."""

    def __init__(self, spec: bytes, version: str) -> None:
        self._spec, self._version = spec, version
        self._opened: Opened | None = None

    def introduce(self) -> Introduction:
        """A worker of another version reads nothing of what it was given."""
        node, pid = platform.node(), os.getpid()
        if self._version != __version__:
            return Introduction(node, pid, Standard(__version__, "", ""))
        try:
            spec: Spec = pickle.loads(self._spec)
            self._opened = opened = spec.open()
            return Introduction(node, pid, Standard(__version__, opened.digest, opened.try_known()))
        except WeighbeamError as fault:
            return Introduction(node, pid, Standard(__version__, "", ""), write_fault(fault))

    def do(self, payload: bytes) -> tuple[dict[str, str] | None, bytes]:
        """The fault, or the bytes."""
        assert self._opened is not None
        try:
            return None, self._opened.do(pickle.loads(payload))
        except WeighbeamError as fault:
            return write_fault(fault), b""
