"""Released parameters: the defaults of each version, and how parameters differ from them."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("released.json")
Defaults = Mapping[str, Any]


@cache
def load_released() -> dict[str, dict[str, dict[str, Any]]]:
    """Defaults by version, the newest last, and by mechanism."""
    released: dict[str, dict[str, dict[str, Any]]] = json.loads(FILE.read_text("utf-8"))
    return released


def find_changes(defaults: Defaults, params: Defaults) -> dict[str, Any]:
    """Parameters with another value; removed ones are None.

    >>> find_changes({"alpha": 0.2, "gone": 1}, {"alpha": 0.3, "new": 2})
    {'alpha': 0.3, 'gone': None, 'new': 2}
    """
    names = sorted({*defaults, *params})
    return {name: params.get(name) for name in names if defaults.get(name) != params.get(name)}


def name_version(mechanism: str, params: Defaults) -> tuple[str, dict[str, Any]] | None:
    """The version with the nearest defaults, the newest of equals, and the differing parameters; None without any."""
    found = [
        (version, find_changes(defaults[mechanism], params))
        for version, defaults in reversed(load_released().items())
        if mechanism in defaults
    ]
    return min(found, key=lambda one: len(one[1]), default=None)


def describe_version(mechanism: str, params: Defaults) -> str:
    """Describe the version: `defaults of 0.1.0`, or the differing parameters."""
    named = name_version(mechanism, params)
    if named is None:
        return f"{mechanism} is not of weighbeam"
    version, changes = named
    told = ", ".join(f"{name} = {json.dumps(value)}" for name, value in changes.items())
    return f"defaults of {version}" + (f", but {told}" if told else "")
