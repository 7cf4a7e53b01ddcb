"""JSON from a stranger: capped depth, no duplicate keys, no NaN."""

import json
import math
from typing import Any, NoReturn

from weighbeam.core.errors import WeighbeamError

MAX_DEPTH = 32


def parse_strict(data: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value, or `malformed`.

    >>> parse_strict(b'{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    try:
        value = json.loads(
            data.decode("utf-8"), parse_constant=_refuse, parse_float=_parse_finite, object_pairs_hook=_unique
        )
    except (ValueError, RecursionError) as fault:
        raise WeighbeamError("malformed", f"not JSON: {fault}", "send plain JSON") from None
    if not _is_shallow(value, max_depth):
        raise WeighbeamError("malformed", f"nested deeper than {max_depth}", "flatten it")
    return value


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
        raise ValueError("a key comes twice")
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
