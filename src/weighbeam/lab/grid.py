"""All combinations of some parameters' values, each checked before one is played."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import require
from weighbeam.lab.params import check_params

MOST_POINTS = 256
Grid = Mapping[str, Sequence[Any]]


def expand_grid(mechanism: str, grid: Grid) -> list[dict[str, Any]]:
    """The default first, then every combination that differs from it.

    >>> expand_grid("inference", {"quality_threshold": [0.35, 0.5]})
    [{}, {'quality_threshold': 0.5}]
    """
    require(len(grid) > 0, "bad_grid", "there is nothing to vary", "write --grid name=value,value")
    for name, values in grid.items():
        require(len(values) > 0, "bad_grid", f"{name} has no value", "write --grid name=value,value")
    count = count_points(grid)
    require(count <= MOST_POINTS, "bad_grid", f"{count:,} combinations", f"give at most {MOST_POINTS}")
    seen, points = {_spell(mechanism, {})}, [dict[str, Any]()]
    for values in itertools.product(*grid.values()):
        params = dict(zip(grid, values, strict=True))
        spelt = _spell(mechanism, params)
        if spelt not in seen:
            seen.add(spelt)
            points.append(params)
    return points


def count_points(grid: Grid) -> int:
    """
    >>> count_points({"a": [1, 2, 3], "b": [1, 2]})
    6
    """
    count = 1
    for values in grid.values():
        count *= len(values)
    return count


def _spell(mechanism: str, params: Mapping[str, Any]) -> bytes:
    """All parameters in one spelling, so that what is the same is played once."""
    return canonical_json(check_params(mechanism, params).model_dump(mode="json"))
