"""Parameters other than a mechanism's own, checked before anything is played."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.attack import YUMA
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.registry import load_mechanism


def sort_params(given: Mapping[str, Any], mechanisms: Collection[str]) -> dict[str, dict[str, Any]]:
    """`MECHANISM.name` by mechanism; a bare name belongs to the one mechanism that is played.

    >>> sort_params({"inference.quality_threshold": 0.4}, ["chunking", "inference"])
    {'inference': {'quality_threshold': 0.4}}
    """
    sorted_out: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        mechanism, dot, bare = name.partition(".")
        if not dot:
            mechanism, bare = _find_only(name, mechanisms), name
        elif mechanism not in mechanisms:
            told = f"{name!r}: {mechanism!r} is not played here"
            raise WeighbeamError("bad_setting", told, f"these are: {', '.join(sorted(mechanisms))}")
        sorted_out.setdefault(mechanism, {})[bare] = value
    for mechanism, values in sorted_out.items():
        check_params(mechanism, values)
    return sorted_out


def check_params(mechanism: str, values: Mapping[str, Any]) -> Params | SubnetParameters:
    """Refuse an unknown mechanism or parameter, and a value out of range. Yuma's are the subnet's."""
    if mechanism == YUMA:
        return _check_rules(values)
    return make_params(load_mechanism(mechanism), values)


def _check_rules(values: Mapping[str, Any]) -> SubnetParameters:
    try:
        return SubnetParameters(**values)
    except (ValidationError, TypeError) as fault:
        told = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else str(fault)
        names = ", ".join(SubnetParameters.model_fields)
        raise WeighbeamError("bad_params", f"{dict(values)}: {told}", f"the parameters of a subnet: {names}") from None


def _find_only(name: str, mechanisms: Collection[str]) -> str:
    if len(mechanisms) != 1:
        told = f"{name!r} could belong to any of {', '.join(sorted(mechanisms))}"
        raise WeighbeamError("bad_setting", told, "write MECHANISM.name=value")
    return next(iter(mechanisms))
