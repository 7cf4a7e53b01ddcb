"""A store made whole or not at all: its tables and everything in it appear with one commit."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection, inspect

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import connect, make_tables, opened, told
from weighbeam.store.postgres import require_unicode, wait_to_write


@contextmanager
def make_store(place: str) -> Iterator[Connection]:
    """Tables to fill, by path or URL; `store_not_empty` where there is anything already.

    What is interrupted leaves nothing, and no file where there was none.
    """
    file = _find_file(place)
    new = file is not None and not file.exists()
    with opened(place):
        engine = connect(place if file is None else f"sqlite:///{file}")
    try:
        with told(), engine.execution_options(immediate=True).begin() as connection:
            wait_to_write(connection)
            require_unicode(connection)
            _require_empty(connection)
            make_tables(connection)
            yield connection
    except BaseException:
        engine.dispose()
        if file is not None and new:
            _remove(file)
        raise
    engine.dispose()


def _find_file(place: str) -> Path | None:
    if "://" in place and not place.startswith("sqlite:///"):
        return None
    return Path(place.removeprefix("sqlite:///"))


def _require_empty(connection: Connection) -> None:
    if inspect(connection).get_table_names():
        remedy = "name a file that does not exist, or make another: createdb --encoding=UTF8 --template=template0 NAME"
        raise WeighbeamError("store_not_empty", "the place to copy to holds something already", remedy)


def _remove(file: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            file.with_name(f"{file.name}{ending}").unlink(missing_ok=True)
