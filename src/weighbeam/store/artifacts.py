"""Artifacts (heatmaps, reports): files below a folder, or objects in an S3-compatible store, chosen by URL."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from weighbeam.core.errors import WeighbeamError, require

LONGEST_NAME = 200
PART = r"[A-Za-z0-9_][A-Za-z0-9._=+-]*"
NAME = re.compile(rf"{PART}(?:/{PART})*")


class Artifacts(Protocol):
    """Named bytes, written whole or not at all. Every fault is `artifact_fault` with a remedy."""

    def put(self, name: str, data: bytes, kind: str) -> str:
        """Store `data` of content type `kind` under a name, replacing older data; return its path or URL."""
        ...

    def get(self, name: str) -> bytes:
        """The bytes, or `no_such_artifact`."""
        ...

    def has(self, name: str) -> bool: ...

    def remove(self, name: str) -> None:
        """Remove the artifact, if it exists."""
        ...

    def list(self, prefix: str = "") -> tuple[str, ...]:
        """Sorted names of all that lies under these leading parts of a name."""
        ...


def open_artifacts(url: str) -> Artifacts:
    """`PATH`, `file:///PATH`, or `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        return _open_folder(url)
    if scheme == "file":
        parts = urlsplit(url)
        local = parts.netloc in ("", "localhost") and not parts.query
        require(local, "bad_artifacts_url", "a file URL names a path of this machine", "write file:///path")
        return _open_folder(unquote(parts.path))
    if scheme == "s3":
        from weighbeam.store.artifacts_s3 import S3Artifacts, parse_s3_url

        return S3Artifacts(parse_s3_url(url))
    raise WeighbeamError(
        "bad_artifacts_url", f"artifacts cannot be stored at {scheme[:20]!r}://", "write a path or s3://bucket/prefix"
    )


def check_name(name: str) -> str:
    """Return the name if it is safe below a folder: plain characters, no part that begins with a dot.

    >>> check_name("heatmaps/round-1.png")
    'heatmaps/round-1.png'
    """
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise WeighbeamError(
            "bad_artifact_name",
            f"{name[:80]!r} cannot name an artifact",
            f"use up to {LONGEST_NAME} letters, digits and ._=+- with / between parts",
        )
    return name


def _open_folder(path: str) -> Artifacts:

    require(bool(path.strip()) and "\0" not in path, "bad_artifacts_url", "the URL names no folder", "write a path")
    return FolderArtifacts(path)


class FolderArtifacts:
    """Files appear whole, under their name, after they are on disk; nothing is read or written through a link."""

    def __init__(self, path: str) -> None:
        self.root = Path(path).expanduser().resolve()

    def put(self, name: str, data: bytes, kind: str) -> str:
        with _wrap_faults(name):
            place = self._place(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_name(f".{secrets.token_hex(8)}")
            try:
                with draft.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(place)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
            _sync_folder(place.parent)
        return str(place)

    def get(self, name: str) -> bytes:
        with _wrap_faults(name):
            return self._place(name).read_bytes()

    def has(self, name: str) -> bool:
        with _wrap_faults(name):
            return self._place(name).is_file()

    def remove(self, name: str) -> None:
        with _wrap_faults(name):
            self._place(name).unlink(missing_ok=True)

    def list(self, prefix: str = "") -> tuple[str, ...]:
        with _wrap_faults(prefix):
            start = self._place(prefix) if prefix else self.root
            files = (Path(folder, name) for folder, _, names in os.walk(start) for name in names)
            found = (file.relative_to(self.root).as_posix() for file in files if not file.is_symlink())
            return tuple(sorted(name for name in found if NAME.fullmatch(name)))

    def _place(self, name: str) -> Path:
        place = self.root / check_name(name)
        if place.resolve() != place:
            raise WeighbeamError(
                "artifact_fault", f"{name!r} leads through a symbolic link", "remove links from the artifacts' folder"
            )
        return place


@contextmanager
def _wrap_faults(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise WeighbeamError(
            "no_such_artifact", f"there is no {name!r}", "it was never drawn, or it was removed"
        ) from None
    except OSError as fault:
        raise WeighbeamError(
            "artifact_fault",
            f"{name!r} could not be kept or read: {fault.strerror}",
            "check the folder's disk and permissions",
        ) from fault


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
