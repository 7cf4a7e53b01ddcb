"""Looking at a store leaves no trace, whoever writes to it meanwhile."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tests_root import ROOT
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import count_entries, view_journal
from weighbeam.store.database import Store
from weighbeam.store.memory import recall, remember
from weighbeam.store.view import view_store

GOLDEN = ROOT / "golden/0.1.0/journal.sqlite"


def list_files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_nothing_is_written_and_nothing_left_behind(tmp_path: Path) -> None:
    for mode in ("DELETE", "WAL"):
        folder = tmp_path / mode
        folder.mkdir()
        (folder / "a journal #1?.db").write_bytes(GOLDEN.read_bytes())
        Store(f"sqlite:///{folder}/a journal %231%3F.db").close()
        with closing(sqlite3.connect(folder / "a journal #1?.db")) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
        before = list_files(folder)
        folder.chmod(0o500)
        store = view_journal(str(folder / "a journal #1?.db"))
        assert count_entries(store) > 40
        with pytest.raises(WeighbeamError, match="readonly"):
            remember(store, "key", 1)
        store.close()
        assert list_files(folder) == before
        folder.chmod(0o700)


def test_what_is_written_meanwhile_is_read_along(tmp_path: Path) -> None:
    writing = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    remember(writing, "key", 1)
    looking = view_store(tmp_path / "journal.db")
    assert recall(looking, "key") == 1
    remember(writing, "key", 2)
    assert recall(looking, "key") == 2
    looking.close()
    writing.close()


@pytest.mark.parametrize("vacuum", [False, True])
def test_who_begins_to_write_later_is_noticed(vacuum: bool, tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_bytes(GOLDEN.read_bytes())
    Store(f"sqlite:///{file}").close()
    looking = view_store(file)
    whole = count_entries(looking)
    writing = Store(f"sqlite:///{file}")
    assert count_entries(looking) == whole, "who has written nothing yet changes nothing"
    remember(writing, "key", 1)
    if vacuum:
        writing.close()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("DELETE FROM blobs")
            connection.commit()
            connection.execute("VACUUM")
    with pytest.raises(WeighbeamError, match="journal_changed"), looking.read() as connection:
        list(connection.execute(text("SELECT * FROM blobs")))
    with pytest.raises(WeighbeamError, match="journal_changed"):
        looking.close()
    writing.close()


def test_a_fault_of_a_file_that_stays_is_told_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_bytes(GOLDEN.read_bytes())
    with closing(sqlite3.connect(file)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'blobs'").fetchone()
    with file.open("r+b") as damaged:
        damaged.seek((page - 1) * size)
        damaged.write(b"?" * size)
    store = view_store(file)
    with pytest.raises(WeighbeamError, match="store_fault"), store.read() as connection:
        list(connection.execute(text("SELECT * FROM blobs")))
    store.close()


def test_an_older_version_is_brought_up_to_date_in_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_bytes(GOLDEN.read_bytes())
    downgrade(file)
    old = list_files(tmp_path)
    store = view_store(file)
    assert count_entries(store) > 40
    remember(store, "key", 1)
    store.close()
    assert list_files(tmp_path) == old


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    file.write_bytes(GOLDEN.read_bytes())
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(WeighbeamError, match="unknown to this weighbeam"):
        view_store(file)


def downgrade(file: Path) -> None:
    """To the version before the last."""
    from importlib.resources import files

    from alembic import command
    from alembic.config import Config

    store = Store(f"sqlite:///{file}")
    config = Config()
    config.set_main_option("script_location", str(files("weighbeam.store") / "migrations"))
    with store.engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.downgrade(config, "-1")
    store.close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


@pytest.mark.parametrize(("content", "told"), [(b"nothing of the kind", "cannot be read"), (None, "other tables")])
def test_another_file_is_refused(content: bytes | None, told: str, tmp_path: Path) -> None:
    file = tmp_path / "other"
    if content is None:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE other (x)")
    else:
        file.write_bytes(content * 40)
    with pytest.raises(WeighbeamError, match=told):
        view_store(file)
