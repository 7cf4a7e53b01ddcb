"""Built files, such as models, kept beside their checksums: built once, verified at each start, rebuilt if damaged."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from weighbeam.senses.minilm_files import hash_file


def cached_model(folder: Path, name: str, build: Callable[[], bytes]) -> Path | bytes:
    """The path of the model called `name`, built if need be; its bytes when the folder cannot be written."""
    return cached_file(folder / f"{name}.onnx", build)


def cached_file(path: Path, build: Callable[[], bytes]) -> Path | bytes:
    """The path, with what was built if need be; its bytes when the folder cannot be written."""
    if is_intact(path):
        return path
    data = build()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_atomically(path, data)
        _write_atomically(_checksum_file(path), hash_file(path).encode())
    except OSError:
        return data
    return path


def is_intact(path: Path) -> bool:
    """Whether the file is there and has the checksum recorded beside it."""
    try:
        return _checksum_file(path).read_text() == hash_file(path)
    except (OSError, UnicodeDecodeError):
        return False


def _checksum_file(path: Path) -> Path:
    return path.with_suffix(path.suffix + ".sha256")


def _write_atomically(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
