"""A store on a server to look at, through connections that cannot write; its validator alone brings it up to date."""

from sqlalchemy import Connection, Engine, event, inspect, text

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import Store, connect, opened
from weighbeam.store.postgres import choose_reader
from weighbeam.store.revision import VERSION, check_revision, find_head


class ServerView(Store):
    """One whose tables are up to date already."""

    def __init__(self, engine: Engine) -> None:
        self._folder = None
        self._use(engine)


def view_server(url: str) -> Store:
    """The store at `url`; `store_unusable` if it is none, or another version's."""
    with opened(url):
        engine = connect(url)
        event.listen(engine, "begin", _refuse_writes)
        with choose_reader(engine).begin() as connection:
            found = check_revision(_read_revision(connection))
    if found != find_head():
        told = f"this journal is of an older version ({found})"
        raise WeighbeamError("store_unusable", told, "start its validator with this version of weighbeam once")
    return ServerView(engine)


def _read_revision(connection: Connection) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if not tables:
        told = "this database holds no journal"
        raise WeighbeamError("empty_journal", told, "name the journal of a validator")
    return connection.scalar(text(VERSION)) if "alembic_version" in tables else None


def _refuse_writes(connection: Connection) -> None:
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")
