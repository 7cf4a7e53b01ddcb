"""A mechanism's parameters as they were asked for, and the hash that every round and weight vector carries of them."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from weighbeam.core.canonical import Json, digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Mechanism, Params


def make_params(mechanism: Mechanism, overrides: Mapping[str, Any] | None = None) -> Params:
    """The mechanism's parameters with `overrides`; an unknown name or bad value is `bad_params`."""
    try:
        return mechanism.params_type(**dict(overrides or {}))
    except (ValidationError, TypeError) as fault:
        names = ", ".join(mechanism.params_type.model_fields)
        raise WeighbeamError("bad_params", _say(fault), f"the parameters of {mechanism.name}: {names}") from None


def hash_params(mechanism: Mechanism, params: Params, senses: Mapping[str, Json]) -> str:
    """What a round was scored under: the mechanism, every parameter, and the senses by id and digest."""
    named: dict[str, Json] = {
        "mechanism": mechanism.name,
        "params": params.model_dump(mode="json"),
        "senses": dict(senses),
    }
    return digest_json(named)


def _say(fault: Exception) -> str:
    if not isinstance(fault, ValidationError):
        return str(fault)
    said = []
    for error in fault.errors():
        name = ".".join(map(str, error["loc"][:1]))
        unknown = error["type"] == "extra_forbidden"
        said.append(f"no parameter is called {name}" if unknown else f"{name} is {error['input']!r}: {error['msg']}")
    return "; ".join(said)
