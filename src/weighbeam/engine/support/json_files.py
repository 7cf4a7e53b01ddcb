"""Load files given by users, which may be too large, not UTF-8, not JSON, too deeply nested or contain NaN."""

import json
from pathlib import Path
from typing import Any, NoReturn

from weighbeam.core.errors import WeighbeamError

MAX_JSON_BYTES = 64 * 1024 * 1024


def load_bytes(path: Path, limit: int) -> bytes:
    """The bytes of a file of at most `limit` bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise WeighbeamError("no_such_file", f"{path} does not exist", "check the path") from None
    except OSError as fault:
        raise WeighbeamError("unreadable_file", f"{path}: {fault.strerror}", "give a file you may read") from None
    if len(data) > limit:
        raise WeighbeamError("file_too_large", f"{path} has more than {limit:,} bytes", "give a smaller file")
    return data


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; one that no file system takes is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def load_text(path: Path, limit: int) -> str:
    """The text of a UTF-8 file; a byte order mark is dropped."""
    try:
        return load_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise WeighbeamError(
            "not_utf8", f"{path} is not UTF-8: bad byte at {fault.start}", "save it as UTF-8"
        ) from None


def load_json(path: Path) -> Any:
    """Load a JSON file; NaN and Infinity are invalid."""
    text = load_text(path, MAX_JSON_BYTES)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise WeighbeamError("not_json", f"{path} is nested too deeply", "flatten it") from None
    except ValueError as fault:
        raise WeighbeamError("not_json", f"{path} is not JSON: {fault}", "correct it at that place") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
