"""Artifacts as files below one folder."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.artifacts import NAME, check_name


class FolderArtifacts:
    """Files appear whole, under their name, after they are on disk; nothing is read or written through a link."""

    def __init__(self, path: str) -> None:
        self.root = Path(path).expanduser().resolve()

    def put(self, name: str, data: bytes, kind: str) -> str:
        with _told(name):
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
        with _told(name):
            return self._place(name).read_bytes()

    def has(self, name: str) -> bool:
        with _told(name):
            return self._place(name).is_file()

    def remove(self, name: str) -> None:
        with _told(name):
            self._place(name).unlink(missing_ok=True)

    def list(self, prefix: str = "") -> tuple[str, ...]:
        with _told(prefix):
            start = self._place(prefix) if prefix else self.root
            files = (Path(folder, name) for folder, _, names in os.walk(start) for name in names)
            found = (file.relative_to(self.root).as_posix() for file in files if not file.is_symlink())
            return tuple(sorted(name for name in found if NAME.fullmatch(name)))

    def _place(self, name: str) -> Path:
        place = self.root / check_name(name)
        if place.resolve() != place:
            raise WeighbeamError(
                "artifact_fault", f"{name!r} leads through a link", "remove links from the artifacts' folder"
            )
        return place


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise WeighbeamError("no_such_artifact", f"there is no {name!r}", "it was never drawn, or removed") from None
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
