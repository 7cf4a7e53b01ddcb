"""The input of the pure stages (spec § 15): shapes are checked, hostile contents are not this file's business."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer
from weighbeam.mechanisms.evidence.lists import Lists, read_lists
from weighbeam.mechanisms.evidence.params import EvidenceParams

Input = Mapping[str, Any]


def read_params(given: Input) -> EvidenceParams:
    """`unknown_parameter` before `bad_parameter`."""
    overrides = given.get("params") or {}
    require(isinstance(overrides, dict), "bad_parameter")
    require(set(overrides) <= set(EvidenceParams.model_fields), "unknown_parameter")
    try:
        return EvidenceParams(**overrides)
    except ValidationError:
        raise WeighbeamError("bad_parameter") from None


def read_given_lists(given: Input) -> Lists:
    return read_lists(given.get("blacklist"), given.get("approved"), given.get("extra_suffixes"))


def read_list(given: Input, name: str) -> list[Any]:
    """A list, empty if absent."""
    value = given.get(name)
    require(value is None or isinstance(value, list), "bad_input", f"{name} is no list")
    return value or []


def read_text(given: Input, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise WeighbeamError("bad_input", f"{name} is no text")
    return value


def read_spans(given: Input, name: str) -> list[tuple[int, int]]:
    spans = read_list(given, name)
    sound = all(isinstance(span, list) and len(span) == 2 and all(map(is_integer, span)) for span in spans)
    require(sound, "bad_input", f"{name} are no pairs of offsets")
    return [(start, end) for start, end in spans]
