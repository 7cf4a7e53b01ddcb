"""Contain the faults of mechanism packages: what one package raises never stops the other mechanisms."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.registry import UNUSABLE
from weighbeam.mechanism.untrusted import describe_exception

LOG = logging.getLogger("weighbeam")
REMEDY = "upgrade or fix its package, as the guide 'Write a mechanism' says"
Result = TypeVar("Result")


@contextmanager
def contain(name: str, step: str) -> Iterator[None]:
    """Raise what a package raises in `step` as `broken_mechanism`; an error with a code of its own passes."""
    try:
        yield
    except WeighbeamError:
        raise
    except (Exception, SystemExit) as fault:
        message = f"{step} of {name!r} raised {describe_exception(fault)}"
        raise WeighbeamError("broken_mechanism", message, REMEDY) from fault


def call_or_log(mechanism: Mechanism, hook: str, call: Callable[[], Result], default: Result) -> Result:
    """The result of a hook; if it raises, one line in the log says so and `default` is the result.

    An error with a code of its own is about the settings, and passes.
    """
    try:
        with contain(mechanism.name, hook):
            return call()
    except WeighbeamError as fault:
        if fault.code not in UNUSABLE:
            raise
        log_skipped(mechanism.name, fault, f"{hook} is left out")
        return default


def log_skipped(name: str, fault: WeighbeamError, effect: str) -> None:
    fields = {"code": fault.code, "mechanism": name, "remedy": fault.remedy or REMEDY}
    LOG.error("%s: %s; %s | remedy: %s", name, fault.message, effect, fault.remedy or REMEDY, extra=fields)
