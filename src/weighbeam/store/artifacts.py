"""Where heatmaps and reports lie: files by name in a folder, or objects in any S3-compatible store, chosen by URL."""

import re
from typing import Protocol
from urllib.parse import unquote, urlsplit

from weighbeam.core.errors import WeighbeamError, require

LONGEST_NAME = 200
PART = r"[A-Za-z0-9_][A-Za-z0-9._=+-]*"
NAME = re.compile(rf"{PART}(?:/{PART})*")


class Artifacts(Protocol):
    """Named bytes, written whole or not at all. Every fault is `artifact_fault` with a remedy."""

    def put(self, name: str, data: bytes, kind: str) -> str:
        """Keep `data` of content type `kind`, in place of what had the name; gives the path or URL where it is."""
        ...

    def get(self, name: str) -> bytes:
        """The bytes, or `no_such_artifact`."""
        ...

    def has(self, name: str) -> bool: ...

    def remove(self, name: str) -> None:
        """Nothing has this name afterwards, whether something had it or not."""
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
        from weighbeam.store.artifacts_s3 import S3Artifacts, read_s3_url

        return S3Artifacts(read_s3_url(url))
    raise WeighbeamError(
        "bad_artifacts_url", f"artifacts cannot lie at {scheme[:20]!r}://", "write a path or s3://bucket/prefix"
    )


def check_name(name: str) -> str:
    """The name itself if it can be a file's below a folder: plain characters, no part that begins with a dot.

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
    from weighbeam.store.artifacts_folder import FolderArtifacts

    require(bool(path.strip()) and "\0" not in path, "bad_artifacts_url", "no folder is named", "write a path")
    return FolderArtifacts(path)
