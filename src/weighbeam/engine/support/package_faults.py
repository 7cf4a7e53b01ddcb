"""Contain the faults of mechanism packages: what one package raises never stops the other mechanisms."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import ValidationError

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.registry import UNUSABLE
from weighbeam.mechanism.untrusted import put_on_one_line

LOG = logging.getLogger("weighbeam")
MAX_FAULT = 300
REMEDY = "upgrade or fix its package: see docs/write-a-mechanism.md"
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


def make_package_params(mechanism: Mechanism, given: Mapping[str, Any]) -> Params:
    """The parameters with the values `given` in the settings.

    A wrong value there is `bad_params`. If a parameter that they do not give is at fault, so is the package:
    `broken_mechanism`.
    """
    with contain(mechanism.name, "params_type"):
        try:
            return make_params(mechanism, given)
        except WeighbeamError as fault:
            if not _lacks_default(mechanism, given):
                raise
            remedy = "give every parameter a default in its package, or a value in the settings"
            raise WeighbeamError("broken_mechanism", f"{mechanism.name!r}: {fault.message}", remedy) from None


def describe_exception(fault: BaseException) -> str:
    """Class and message, on one line.

    >>> describe_exception(ValueError("a\\nb")), describe_exception(SystemExit())
    ('ValueError: a b', 'SystemExit')
    """
    return put_on_one_line(f"{type(fault).__name__}: {fault}").removesuffix(":")[:MAX_FAULT]


def _lacks_default(mechanism: Mechanism, given: Mapping[str, Any]) -> bool:
    """Whether only parameters that are not given are wrong."""
    try:
        mechanism.params_type(**given)
    except ValidationError as fault:
        return all(error["loc"][0] not in given if error["loc"] else not given for error in fault.errors())
    except TypeError:
        return not given
    return False
