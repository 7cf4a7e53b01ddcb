"""Values from outside: the pydantic model that describes one also parses it, and a fault has a code and a remedy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from weighbeam.core.errors import WeighbeamError, require

Model = TypeVar("Model", bound=BaseModel)
MAX_UNKNOWN = 100
MAX_PLACE = 100
VALUE_ERROR = "Value error, "


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """In a field's annotation: the code of a bad value, and of a missing one. The default of both is `bad_FIELD`."""

    code: str
    missing: str | None = None


class AnyFields(BaseModel):
    """The task of a mechanism of somebody else, with its own fields."""

    model_config = ConfigDict(extra="allow")


def extend_model(model: type[Model], more: type[BaseModel] | None, named: type[BaseModel] | None = None) -> type[Model]:
    """The model with the fields of `more` too, and with the name of `named`, or of `more`; None allows any other field.

    Fields of the same name are those of `model`. Unless `more` has a rule for unknown fields, that of `model` holds.
    """
    added = AnyFields if more is None else more
    shown = added if named is None else named
    return cast(type[Model], create_model(shown.__name__, __base__=(model, added), __doc__=shown.__doc__))


def validate_model(model: type[Model], given: Any, code: str, remedy: str, field_code: str | None = None) -> Model:
    """Parse JSON that was read already: values must have exactly the types described.

    `code` is the error of another shape or an unknown field, `field_code` that of a bad value of any field.

    >>> class Counted(BaseModel):
    ...     count: int
    >>> validate_model(Counted, {"count": 2}, "bad_body", "send a count")
    Counted(count=2)
    >>> validate_model(Counted, {"count": "2"}, "bad_body", "send a count")
    Traceback (most recent call last):
    ...
    weighbeam.core.errors.WeighbeamError: bad_count: count: Input should be a valid integer (send a count)
    """
    if not isinstance(given, Mapping):
        raise WeighbeamError(code, f"not a JSON object of {', '.join(model.model_fields)}", remedy)
    few = len(given) <= len(model.model_fields) + MAX_UNKNOWN or model.model_config.get("extra") != "forbid"
    require(few, code, f"{len(given)} fields are too many", remedy)
    try:
        return model.model_validate(given, strict=True)
    except ValidationError as fault:
        raise _describe_fault(model, fault, code, remedy, field_code) from None


def _describe_fault(
    model: type[BaseModel], fault: ValidationError, code: str, remedy: str, field_code: str | None
) -> WeighbeamError:
    """The first error alone; it repeats no value, and names in ASCII."""
    first = fault.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ascii(".".join(map(str, first["loc"])))[1:-1][:MAX_PLACE]
    if first["type"] == "extra_forbidden":
        return WeighbeamError(code, f"unknown field: {place}", remedy)
    if first["loc"] and first["loc"][0] in model.model_fields:
        code = field_code or _find_code(model, str(first["loc"][0]), first["type"] == "missing")
    told = first["msg"].removeprefix(VALUE_ERROR)
    return WeighbeamError(code, f"{place}: {told}" if place else told, remedy)


def _find_code(model: type[BaseModel], name: str, is_missing: bool) -> str:
    marks = [mark for mark in model.model_fields[name].metadata if isinstance(mark, ErrorCode)]
    named = marks[0] if marks else ErrorCode(f"bad_{name}")
    return named.missing or named.code if is_missing else named.code
