"""Parameters from a file and from `--set name=value`."""

import json
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.json_files import load_json, load_text

MAX_PARAMS_BYTES = 1_000_000


def load_overrides(file: Path | None, settings: list[str] | None) -> dict[str, Any]:
    """The parameters of the file, then those set one by one."""
    overrides = {} if file is None else _load_file(file)
    for setting in settings or []:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise WeighbeamError("bad_setting", f"--set {setting!r} has no value", "write --set name=value")
        overrides[name] = parse_value(text)
    return overrides


def parse_value(text: str) -> Any:
    """JSON where it is JSON, else the text itself.

    >>> parse_value("0.5"), parse_value("null"), parse_value("exp")
    (0.5, None, 'exp')
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _load_file(file: Path) -> dict[str, Any]:
    if file.suffix == ".toml":
        import tomllib

        try:
            return tomllib.loads(load_text(file, MAX_PARAMS_BYTES))
        except (ValueError, RecursionError) as fault:
            raise WeighbeamError("bad_params", f"{file} is not TOML: {fault}", "correct the file") from None
    data = load_json(file)
    if not isinstance(data, dict):
        raise WeighbeamError("bad_params", f"{file} is not an object", 'write {"name": value}')
    return data
