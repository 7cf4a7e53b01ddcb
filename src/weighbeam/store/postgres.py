"""A store on a PostgreSQL server."""

import re
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, func, select, text
from sqlalchemy.engine import URL

from weighbeam.core.errors import WeighbeamError

CONNECT_SECONDS = 10
DRIVER = "postgresql+psycopg"
SILENT_SECONDS, PROBE_SECONDS, PROBES = 30, 10, 3
"""Silence before a peer is probed, time between probes, and number of probes."""
UNHEARD_MS = 60_000
"""Time without an acknowledgement after which the peer counts as lost."""
DURABLE = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
WRITE_LOCK = 0x57424A4C
UNREACHABLE = "start the server, or check host and port; nothing committed is lost, and work continues by itself"
REMEDIES = (
    (r'password|role "|peer authentication|pg_hba', "check user, password and rights in the URL"),
    (
        r'database ".*" does not exist',
        "create it: createdb --encoding=UTF8 --template=template0 NAME; or check its name in the URL",
    ),
    (r"lock timeout", "another program holds the store: stop it; work then continues by itself"),
    (
        r"No space left|disk full",
        "free space on the server's disk; nothing committed is lost, and work continues by itself",
    ),
    (r"permission denied|must be owner", "let the role of the URL own the database"),
    (r"too many clients|connection slots", "raise max_connections of the server, or stop other programs"),
    (r"connection option|invalid integer|sslmode", "write postgresql://user:password@host/name"),
    (r"connect|timeout|resolve|server closed|the database system is|terminat|shut ?down|EOF", UNREACHABLE),
)


def connect_postgres(url: URL, busy_seconds: float, **settings: Any) -> Engine:
    """Connections that notice a lost or restarted server, and wait no longer than SQLite's for a lock.

    Commits are synchronous, whatever the server's default is.
    """
    plain = url.drivername in ("postgresql", "postgres")
    named = url.set(drivername=DRIVER) if plain else url
    usual = {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": SILENT_SECONDS,
        "keepalives_interval": PROBE_SECONDS,
        "keepalives_count": PROBES,
        "tcp_user_timeout": UNHEARD_MS,
        "application_name": "weighbeam",
    }
    named = named.update_query_dict({key: str(value) for key, value in usual.items() if key not in named.query})
    engine = create_engine(named, pool_pre_ping=True, isolation_level="READ COMMITTED", **settings)

    def prepare(connection: Any, _: Any) -> None:
        connection.execute(DURABLE)
        connection.execute(f"SET lock_timeout = {max(1, int(busy_seconds * 1000))}")
        connection.execute(f"SET tcp_keepalives_idle = {SILENT_SECONDS}")
        connection.execute(f"SET tcp_keepalives_interval = {PROBE_SECONDS}")
        connection.execute(f"SET tcp_keepalives_count = {PROBES}")
        connection.commit()

    event.listen(engine, "connect", prepare)
    return engine


def is_postgres(engine: Engine) -> bool:
    return engine.dialect.name == "postgresql"


def choose_reader(engine: Engine) -> Engine:
    """One whose transactions see a single moment, however many statements they have."""
    if not is_postgres(engine):
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def wait_to_write(connection: Connection) -> None:
    """One writer at a time, and each sees all that was committed before it."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(WRITE_LOCK)))


def require_unicode(connection: Connection) -> None:
    """Refuse a database that cannot store every Unicode character."""
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        told = f"this database is encoded in {encoding}"
        raise WeighbeamError(
            "store_unusable", told, "create one in UTF8: createdb --encoding=UTF8 --template=template0 NAME"
        )


def vacuum(engine: Engine, table: Table) -> None:
    """Take what was deleted out of a table's pages; the server's log keeps it until it is rotated."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f'VACUUM "{table.name}"')


def advise(said: str) -> str:
    """Remedy for an error of the server or its driver.

    >>> advise('FATAL:  password authentication failed for user "me"')
    'check user, password and rights in the URL'
    """
    return next((remedy for words, remedy in REMEDIES if re.search(words, said)), "see the log of the server")
