"""Mechanism parameters: typed and frozen, annotated with the verbs that read them, and hashed into every round."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbeam.core.canonical import Json, digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.untrusted import describe_exception

if TYPE_CHECKING:
    from weighbeam.mechanism.base import Mechanism

PRESET = "preset"
"""Among the values that are given for parameters, the name of a preset."""
Values = Mapping[str, Any]
"""Values by the name of the parameter."""
Verb = Literal["choose", "ask", "observe", "score", "stand", "weigh"]
Holds = Literal["any", "raised", "lowered"]


@dataclass(frozen=True, slots=True)
class ReadBy:
    """The verbs that read a parameter; none if it only changes what people are shown.

    Where `observe` is among them, `holds` says which other values can still be tried on recorded observations: any,
    only higher ones (what they leave out was all observed), only lower ones; None if a new observation is needed.
    """

    verbs: tuple[Verb, ...]
    holds: Holds | None = None


def about(text: str, **limits: Any) -> Any:
    """A parameter's description and limits, for `Annotated`."""
    return Field(description=text, **limits)


def read_by(*verbs: Verb, holds: Holds | None = None) -> ReadBy:
    """The verbs that read a parameter, for `Annotated`: what a backtest may change.

    >>> read_by("observe", "score", holds="raised")
    ReadBy(verbs=('observe', 'score'), holds='raised')
    """
    return ReadBy(verbs, holds)


@dataclass(frozen=True, slots=True)
class Before:
    """The value that says what was done before there was the parameter."""

    value: Any


def before(value: Any) -> Before:
    """The value, for `Annotated`, by which rounds recorded before the parameter existed replay unchanged.

    >>> before("seeded")
    Before(value='seeded')
    """
    return Before(value)


class Params(BaseModel):
    """The settings of a mechanism: frozen, typed, and refused when unknown or out of range."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    presets: ClassVar[Mapping[str, Values]] = {}
    """Named sets of values: the parameter `preset` chooses one, and values given beside it change it further."""

    read_by = staticmethod(read_by)
    """For authors, who import `Params`: `Annotated[float, Params.read_by("stand")]`."""


def list_readers(kind: type[Params]) -> dict[str, ReadBy]:
    """The annotated parameters of `kind`, each with the verbs that read it.

    >>> from typing import Annotated
    >>> class Two(Params):
    ...     alpha: Annotated[float, read_by("stand")] = 0.2
    ...     beta: float = 1.0
    >>> list_readers(Two)
    {'alpha': ReadBy(verbs=('stand',), holds=None)}
    """
    marks = [(name, mark) for name, field in kind.model_fields.items() for mark in field.metadata]
    return {name: mark for name, mark in marks if isinstance(mark, ReadBy)}


def make_params(mechanism: "Mechanism", overrides: Mapping[str, Any] | None = None) -> Params:
    """The mechanism's parameters with `overrides`; an unknown name or bad value is `bad_params`.

    `preset` among them names a set of values to start from instead of the defaults.
    """
    try:
        return mechanism.params_type(**expand_preset(mechanism, overrides or {}))
    except (ValidationError, TypeError) as fault:
        known = list(mechanism.params_type.model_fields)
        like = [found for name in overrides or {} if name not in known for found in get_close_matches(name, known, n=1)]
        hint = f"did you mean {', '.join(like)}? " if like else ""
        remedy = f"{hint}the parameters of {mechanism.name}: {', '.join(known)}"
        raise WeighbeamError("bad_params", describe_params_fault(fault), remedy) from None


def expand_preset(mechanism: "Mechanism", given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with the values of the preset it names, if any, in place of its name."""
    presets = mechanism.params_type.presets
    own = PRESET in mechanism.params_type.model_fields
    rest = {name: value for name, value in given.items() if name != PRESET or own}
    if len(rest) == len(given):
        return rest
    name = given[PRESET]
    if not isinstance(name, str) or name not in presets:
        remedy = f"the presets of {mechanism.name}: {', '.join(presets) or 'none'}"
        raise WeighbeamError("bad_params", f"no preset is called {name!r:.80}", remedy)
    return {**presets[name], **rest}


def recall_params(mechanism: "Mechanism", recorded: Mapping[str, Any]) -> Params:
    """The parameters of a recorded round; one that is not recorded was not there yet, and has the rule of the time."""
    fields = mechanism.params_type.model_fields.items()
    earlier = {name: mark.value for name, field in fields for mark in field.metadata if isinstance(mark, Before)}
    return make_params(mechanism, {**earlier, **recorded})


def list_overridden(params: Params) -> list[str]:
    """The parameters that differ from their defaults.

    >>> class Two(Params):
    ...     alpha: float = 0.2
    ...     beta: float = 1.0
    >>> list_overridden(Two(beta=2.0))
    ['beta']
    """
    defaults = type(params)()
    return [name for name in type(params).model_fields if getattr(params, name) != getattr(defaults, name)]


def hash_params(mechanism: "Mechanism", params: Params | Mapping[str, Json], senses: Mapping[str, Json]) -> str:
    """Hash of everything a round is scored under: mechanism, all parameters, ids and digests of senses."""
    named: dict[str, Json] = {
        "mechanism": mechanism.name,
        "params": params.model_dump(mode="json") if isinstance(params, Params) else dict(params),
        "senses": dict(senses),
    }
    return digest_json(named)


def describe_params_fault(fault: BaseException) -> str:
    """Describe why parameters are invalid: every field, in words."""
    if not isinstance(fault, ValidationError):
        return describe_exception(fault)
    return "; ".join(map(_describe_field, fault.errors()))


def _describe_field(error: Mapping[str, Any]) -> str:
    name = ".".join(map(str, error["loc"][:1]))
    if error["type"] == "extra_forbidden":
        return f"no parameter is called {name}"
    if error["type"] == "missing":
        return f"{name} has no default"
    return f"{name} is {error['input']!r}: {error['msg']}"
