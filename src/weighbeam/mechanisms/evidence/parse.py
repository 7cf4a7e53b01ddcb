"""Parse the JSON input of the pure stages (spec § 15)."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.url.lists import Lists, parse_lists

Input = Mapping[str, Any]


def parse_params(given: Input) -> EvidenceParams:
    """`unknown_parameter` before `bad_parameter`."""
    overrides = given.get("params") or {}
    require(isinstance(overrides, dict), "bad_parameter")
    require(set(overrides) <= set(EvidenceParams.model_fields), "unknown_parameter")
    try:
        return EvidenceParams(**overrides)
    except ValidationError:
        raise WeighbeamError("bad_parameter") from None


def parse_given_lists(given: Input) -> Lists:
    return parse_lists(given.get("blacklist"), given.get("approved"), given.get("extra_suffixes"))


def parse_list(given: Input, name: str) -> list[Any]:
    """A list, empty if absent."""
    value = given.get(name)
    require(value is None or isinstance(value, list), "bad_input", f"{name} is not a list")
    return value or []


def parse_text(given: Input, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise WeighbeamError("bad_input", f"{name} is not a string")
    return value


def parse_spans(given: Input, name: str) -> list[tuple[int, int]]:
    spans = parse_list(given, name)
    sound = all(isinstance(span, list) and len(span) == 2 and all(map(is_integer, span)) for span in spans)
    require(sound, "bad_input", f"{name} are not pairs of offsets")
    return [(start, end) for start, end in spans]


MAX_STAGE_NUMBER = 1_000_000

Row = Mapping[str, Any]


def parse_rows(given: Input, name: str) -> Sequence[Row]:
    rows = parse_list(given, name)
    if not all(isinstance(row, dict) for row in rows):
        raise WeighbeamError("bad_input", f"{name} holds a value that is not an object")
    return rows


def parse_within(row: Row, name: str, least: float, limit: float) -> float:
    number = row.get(name)
    if not is_number(number, least) or number > limit:
        raise WeighbeamError("bad_input", f"{name} is not a number from {least:g} to {limit:g}")
    return float(number)
