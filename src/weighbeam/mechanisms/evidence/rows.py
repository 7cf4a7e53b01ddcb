"""The rows of a pure stage's input: lists of objects, and numbers within limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_number
from weighbeam.mechanisms.evidence.read_input import Input, read_list

MOST = 1_000_000

Row = Mapping[str, Any]


def read_rows(given: Input, name: str) -> Sequence[Row]:
    rows = read_list(given, name)
    if not all(isinstance(row, dict) for row in rows):
        raise WeighbeamError("bad_input", f"{name} holds something that is no object")
    return rows


def read_within(row: Row, name: str, least: float, most: float) -> float:
    number = row.get(name)
    if not is_number(number, least) or number > most:
        raise WeighbeamError("bad_input", f"{name} is no number from {least:g} to {most:g}")
    return float(number)
