"""The tables, as the newest migration leaves them.

`entries` is the journal proper: an append-only chain in which each entry names the hash of the one before. `rounds`,
`scores`, `evaluations`, `standings` and `miners` are what the entries say, laid out for reading; a replay checks them.
`checkpoints` stand in for entries that retention removed. `outbox` holds what is still to be done after a round,
`extras` what came of it; `copies` says who gave the same answer, and no clean-up ever removes it.
`standing_history` and `metagraphs` are for people to look at: standings after each round, what the chain said of all.
`seals` holds a digest of every row of evidence, `sums` their sums by table, `heads` what a hotkey signed of chain and
sums; docs/spec/journal.md says which tables are evidence.

A mechanism that ships with Weighbeam may keep tables of its own: it declares them on the same `metadata`, in the module
`tables` of its folder. The migrations of all tables are one chain, so no other package can add tables to a store.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Index,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
)

from weighbeam.store.columns import Float, Integer, String, Text

metadata = MetaData()
MECHANISMS = "weighbeam.mechanisms"


@cache
def load_mechanism_tables() -> tuple[Table, ...]:
    """The tables of mechanisms; loading them adds them to `metadata`."""
    folders = sorted(found.name for found in iter_modules(import_module(MECHANISMS).__path__) if found.ispkg)
    names = [f"{MECHANISMS}.{folder}.tables" for folder in folders]
    declared = [vars(import_module(name)).values() for name in names if find_spec(name) is not None]
    return tuple(one for values in declared for one in values if isinstance(one, Table))


blobs = Table(
    "blobs",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(16), nullable=False),
    Column("ref", String(64), nullable=False),
    Column("body", String(64), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    UniqueConstraint("kind", "ref"),
)

rounds = Table(
    "rounds",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("mechanism", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("at", Float, nullable=False),
    Column("block", Integer, nullable=False),
    Column("body", String(64), nullable=False),
    Column("sequence", Integer),
    Index("rounds_by_mechanism", "mechanism", "at"),
    Index("rounds_by_time", "at", "id"),
    Index("rounds_by_sequence", "mechanism", "sequence"),
    Index("rounds_by_state", "state", "at", "id"),
)

round_blobs = Table(
    "round_blobs",
    metadata,
    Column("round", String(64), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Index("round_blobs_by_digest", "digest"),
)

scores = Table(
    "scores",
    metadata,
    Column("round", String(64), primary_key=True),
    Column("hotkey", String(64), primary_key=True),
    Column("status", String(16), nullable=False),
    Column("value", Float),
    Column("reasons", JSON, nullable=False),
    Index("scores_by_hotkey", "hotkey", "round"),
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("mechanism", String(64), primary_key=True),
    Column("hotkey", String(64), primary_key=True),
    Column("round", String(64), primary_key=True),
    Column("at", Float, nullable=False),
    Column("emission", Float),
    Column("success", Boolean, nullable=False),
    Index("evaluations_in_window", "mechanism", "hotkey", "at"),
    Index("evaluations_by_round", "round"),
    Index("evaluations_by_time", "mechanism", "at"),
)

standings = Table(
    "standings",
    metadata,
    Column("mechanism", String(64), primary_key=True),
    Column("hotkey", String(64), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("value", Float),
    Column("detail", JSON, nullable=False),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("mechanism", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reason", String(64)),
    Column("row", JSON, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("at", Float, nullable=False),
    Column("sent_block", Integer),
    Column("included_block", Integer),
    Index("submissions_open", "mechanism", "state"),
    Index("submissions_by_mechanism", "mechanism", "id"),
)

locks = Table(
    "locks",
    metadata,
    Column("hotkey", String(64), primary_key=True),
    Column("holder", String(128), nullable=False),
    Column("beat", Float, nullable=False),
)

standing_history = Table(
    "standing_history",
    metadata,
    Column("mechanism", String(64), primary_key=True),
    Column("hotkey", String(64), primary_key=True),
    Column("round", String(64), primary_key=True),
    Column("at", Float, nullable=False),
    Column("value", Float),
    Index("standing_history_by_time", "mechanism", "hotkey", "at"),
    Index("standing_history_by_round", "round"),
)

miners = Table(
    "miners",
    metadata,
    Column("mechanism", String(64), primary_key=True),
    Column("hotkey", String(64), primary_key=True),
    Column("asked_at", Float, nullable=False),
    Column("success_at", Float),
)

folds = Table(
    "folds",
    metadata,
    Column("mechanism", String(64), primary_key=True),
    Column("hotkey", String(64), primary_key=True),
    Column("ema", Float, nullable=False),
    Column("folded", Integer, nullable=False),
    Column("oldest", String(64), nullable=False),
    Column("newest", String(64), nullable=False),
    Column("newest_at", Float, nullable=False),
    Column("settings", String(64), nullable=False),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("at", Float, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("hotkey", String(64), nullable=False),
    Column("signature", String(256), nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("mechanism", String(64)),
    Column("code", String(64), nullable=False),
    Column("level", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Index("alerts_by_time", "at"),
    Index("alerts_by_code", "code", "at"),
)

audits = Table(
    "audits",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("mechanism", String(64)),
    Column("kind", String(32), nullable=False),
    Column("mode", String(16)),
    Column("reason", String(64)),
    Column("detail", JSON, nullable=False),
    Index("audits_by_mechanism", "mechanism", "kind", "id"),
)

requests = Table(
    "requests",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("mechanism", String(64), nullable=False),
    Column("at", Float, nullable=False),
    Column("state", String(16), nullable=False),
    Column("body", JSON, nullable=False),
    Column("round", String(64)),
    Column("result", JSON),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("caller", String(128)),
    Index("requests_waiting", "mechanism", "state", "at"),
    Index("requests_by_priority", "mechanism", "state", "priority", "at"),
    Index("requests_by_caller", "caller", "at"),
    Index("requests_by_round", "round"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(32), nullable=False),
    Column("ref", String(160), nullable=False),
    Column("mechanism", String(64), nullable=False),
    Column("at", Float, nullable=False),
    Column("body", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("due", Float, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("fault", Text),
    UniqueConstraint("kind", "ref"),
    Index("outbox_waiting", "state", "due"),
)

copies = Table(
    "copies",
    metadata,
    Column("round", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("mechanism", String(64), nullable=False),
    Column("at", Float, nullable=False),
    Column("hotkeys", JSON, nullable=False),
    Column("cosine", Float, nullable=False),
    Column("overlap", Float, nullable=False),
    Index("copies_by_time", "at"),
)

extras = Table(
    "extras",
    metadata,
    Column("round", String(64), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("at", Float, nullable=False),
    Column("value", Text),
    Column("maker", String(512), nullable=False),
    Column("fault", Text),
)

metagraphs = Table(
    "metagraphs",
    metadata,
    Column("mechanism", String(64), primary_key=True),
    Column("block", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("body", JSON, nullable=False),
)

notices = Table(
    "notices",
    metadata,
    Column("code", String(64), primary_key=True),
    Column("mechanism", String(64), primary_key=True),
    Column("level", String(16), nullable=False),
    Column("text", Text, nullable=False),
    Column("opened", Float, nullable=False),
    Column("raised", Float, nullable=False),
    Column("count", Integer, nullable=False),
    Column("told", Float),
    Column("closed", Float),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(8), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("name", String(64), nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("per_minute", Float),
    Column("priority", Integer, nullable=False),
    Column("unranked", Boolean, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
)

seals = Table(
    "seals",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("digest", String(64), nullable=False),
)

sums = Table(
    "sums",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("rows", Integer, nullable=False),
    Column("lanes", LargeBinary, nullable=False),
)

heads = Table(
    "heads",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("sums", JSON, nullable=False),
    Column("at", Float, nullable=False),
    Column("hotkey", String(64), nullable=False),
    Column("scheme", String(16), nullable=False),
    Column("signature", String(256), nullable=False),
)

memory = Table(
    "memory",
    metadata,
    Column("key", String(128), primary_key=True),
    Column("value", JSON, nullable=False),
)
