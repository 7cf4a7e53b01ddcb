"""A file of endpoints, `{hotkey: url}` or `{hotkey: {"url": url, "dialect": dialect}}`: the operator's own word."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.address import read_endpoint
from weighbeam.network.dialects.known import find_dialect
from weighbeam.network.keys import is_address
from weighbeam.network.strict_json import read_strict


def read_endpoint_file(path: Path, dialect: str) -> dict[str, tuple[str, str]]:
    """hotkey → (url, dialect), where `dialect` is for those that name none."""
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise WeighbeamError(
            "no_endpoint_file", f"{path}: {fault.strerror or fault}", "create it, or leave `static` out"
        ) from None
    try:
        value = read_strict(data)
        if not isinstance(value, dict):
            raise WeighbeamError("malformed", "not an object")
        return {hotkey: _read_entry(hotkey, entry, dialect) for hotkey, entry in value.items()}
    except WeighbeamError as fault:
        raise WeighbeamError(
            "bad_endpoint_file", f"{path}: {fault.message}", 'write {"<hotkey>": "http://host:port"}'
        ) from None


def _read_entry(hotkey: str, entry: Any, dialect: str) -> tuple[str, str]:
    if not is_address(hotkey):
        raise WeighbeamError("bad_hotkey", f"{hotkey!r} is no hotkey")
    given: Mapping[str, Any] = entry if isinstance(entry, dict) else {"url": entry}
    url, named = given.get("url"), given.get("dialect", dialect)
    if not isinstance(url, str) or not isinstance(named, str) or not given.keys() <= {"url", "dialect"}:
        raise WeighbeamError("bad_value", f"the entry of {hotkey} is neither a url nor {{url, dialect}}")
    read_endpoint(url)
    find_dialect(named)
    return url, named
