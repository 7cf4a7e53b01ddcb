"""The rows of a pure stage's input: lists of objects, or `bad_shape`."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_number

MOST = 1_000_000

Input = Mapping[str, Any]
Row = Mapping[str, Any]


def read_list(given: Input, name: str) -> Sequence[Any]:
    """A list; absent ones are empty."""
    values = given.get(name, [])
    if not isinstance(values, list):
        raise WeighbeamError("bad_shape", f"{name} is no list")
    return values


def read_rows(given: Input, name: str) -> Sequence[Row]:
    rows = read_list(given, name)
    if not all(isinstance(row, dict) for row in rows):
        raise WeighbeamError("bad_shape", f"{name} holds something that is no object")
    return rows


def read_text(row: Row, name: str) -> str:
    text = row.get(name)
    if not isinstance(text, str):
        raise WeighbeamError("bad_shape", f"{name} is no text")
    return text


def read_within(row: Row, name: str, least: float, most: float) -> float:
    number = row.get(name)
    if not is_number(number, least) or number > most:
        raise WeighbeamError("bad_shape", f"{name} is no number from {least:g} to {most:g}")
    return float(number)
