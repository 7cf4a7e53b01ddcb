"""Whether a file that nobody wrote stays so while it is looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weighbeam.core.errors import WeighbeamError


@dataclass(frozen=True, slots=True)
class Mark:
    """Which file it is, when it was written, how large it is, and its logs; an empty log holds nothing yet."""

    file: tuple[int, int, int] | None
    logs: tuple[int | None, ...]

    @property
    def is_logged(self) -> bool:
        return any(size is not None for size in self.logs)

    def is_same(self, other: "Mark") -> bool:
        return self.file == other.file and not any(other.logs)


def take_mark(file: Path) -> Mark:
    logs = tuple(_measure(file.with_name(f"{file.name}{ending}")) for ending in ("-wal", "-journal"))
    try:
        found = file.stat()
    except OSError:
        return Mark(None, logs)
    return Mark((found.st_ino, found.st_mtime_ns, found.st_size), logs)


def _measure(log: Path) -> int | None:
    try:
        return log.stat().st_size
    except OSError:
        return None


class Watch:
    """How a file was when it was first opened as one that nobody writes; if it never was, there is nothing to watch."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._mark: Mark | None = None

    def begin(self) -> bool:
        """Whether nobody writes the file now."""
        mark = take_mark(self._file)
        if mark.is_logged:
            return False
        self._mark = self._mark or mark
        return True

    def check(self) -> None:
        if self._mark is not None and not self._mark.is_same(take_mark(self._file)):
            told = f"{self._file} was written while it was looked at"
            raise WeighbeamError("journal_changed", told, "run it again")

    @contextmanager
    def guard(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.check()
            raise
        self.check()
