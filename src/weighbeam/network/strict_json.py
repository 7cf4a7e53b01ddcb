"""JSON from a stranger: capped depth and number of values, no duplicate keys, no NaN."""

import json
import math
from typing import Any, NoReturn

import numpy as np

from weighbeam.core.errors import WeighbeamError

MAX_DEPTH = 32
MAX_NODES = 1 << 17
QUOTE = ord('"')
MARKS = b",:[{"
"""Each stands for at most one value or key."""
OTHERS = bytes(byte for byte in range(256) if byte not in MARKS and byte != QUOTE)
BLOCK = 1 << 18


def parse_strict(data: bytes, max_depth: int = MAX_DEPTH, max_nodes: int = MAX_NODES) -> Any:
    """The value; `malformed`, or `too_large` if it would have more than `max_nodes` values and keys.

    >>> parse_strict(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    if not has_few_nodes(data, max_nodes):
        raise WeighbeamError("too_large", f"more than {max_nodes:,} JSON values", "send fewer values")
    try:
        value = json.loads(
            data.decode("utf-8"), parse_constant=_refuse, parse_float=_parse_finite, object_pairs_hook=_unique
        )
    except (ValueError, RecursionError) as fault:
        raise WeighbeamError("malformed", f"not JSON: {fault}", "send plain JSON") from None
    if not _is_shallow(value, max_depth):
        raise WeighbeamError("malformed", f"nested deeper than {max_depth}", "flatten it")
    return value


def has_few_nodes(data: bytes, limit: int) -> bool:
    """Whether JSON has at most so many values and keys, counted in its bytes before any of them is built.

    An empty list costs 2 bytes here and 80 as an object. Marks in texts do not count.

    >>> has_few_nodes(b'[[], [], "a, b, [c]"]', 6), has_few_nodes(b'[[], [], []]', 5)
    (True, False)
    """
    if 1 + sum(data.count(mark) for mark in MARKS) <= limit:
        return True
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    count, inside = 1, False
    for start in range(0, len(plain), BLOCK):
        marks = plain[start : start + BLOCK].translate(None, OTHERS)
        is_quote = np.frombuffer(marks, np.uint8) == QUOTE
        in_text = np.logical_xor.accumulate(is_quote) ^ inside
        count += int(np.count_nonzero(~in_text & ~is_quote))
        inside ^= bool(np.count_nonzero(is_quote) % 2)
        if count > limit:
            return False
    return True


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _parse_finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large for a number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _is_shallow(value: Any, limit: int) -> bool:
    """Level by level, so that a deep value costs no recursion."""
    level = [value]
    for _ in range(limit + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner and not any(isinstance(item, (dict, list)) for item in level):
            return True
        level = inner
    return False
