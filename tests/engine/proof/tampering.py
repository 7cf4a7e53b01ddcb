"""A catalogue of changes to a journal that nobody may make unseen: single cells, rows, whole tables, and forgeries that
take our own code but not the hotkey.

Each change is made in a transaction, the journal is proved inside it, and the transaction is rolled back.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Connection, LargeBinary, Table, delete, func, insert, select, update

from weighbeam.core.canonical import canonical_json
from weighbeam.core.zstd import compress_each
from weighbeam.engine.journal.checkpoint import Checkpoint, insert_checkpoint
from weighbeam.engine.journal.encoding import encode_outcome, encode_texts
from weighbeam.engine.journal.hash_chain import GENESIS, hash_entry, select_end
from weighbeam.engine.journal.head import HeadSigner, select_head
from weighbeam.engine.journal.state import ReplayState, apply_round
from weighbeam.engine.proof.prove import Pins, ProofSummary, prove
from weighbeam.engine.proof.tables import UNPROVEN
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Observation, Standing
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network.keys import Hotkey
from weighbeam.store import tables
from weighbeam.store.blobs import BESIDE, PLANES, RUN, digest_bytes, select_blob
from weighbeam.store.columns import String
from weighbeam.store.database import Store
from weighbeam.store.seals import collect_seals, digest_row, format_key, name_row, put_seal, update_sums

STRANGER = Hotkey.from_uri("//Mallory")
Make = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class Tampering:
    """A change, and words one of which must occur in what is said about it."""

    name: str
    make: Make
    named: tuple[str, ...]


class Borrowed:
    """A store that reads through one open transaction."""

    file = None

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        yield self._connection


def judge(store: Store, tampering: Tampering, pins: Pins) -> ProofSummary:
    """The proof of a journal that was tampered with; the journal stays as it is."""
    with store.engine.connect() as connection, connection.begin() as transaction:
        try:
            tampering.make(connection)
            return prove(Borrowed(connection), load_mechanism, pins)
        finally:
            transaction.rollback()


def is_named(tampering: Tampering, summary: ProofSummary) -> bool:
    said = [f"{one.ref}: {one.fault}" for one in summary.faults]
    return any(word in line for word in tampering.named for line in said)


def list_tamperings(connection: Connection) -> list[Tampering]:
    """Everything that can be done to this journal."""
    tables.load_mechanism_tables()
    found: list[Tampering] = []
    for table in tables.metadata.sorted_tables:
        rows = connection.scalar(select(func.count()).select_from(table))
        if table.name in UNPROVEN or not rows:
            continue
        found += [
            Tampering(f"change {table.name}.{one.name}", change_cell(table, one), name_faults(table)) for one in table.c
        ]
        if table.name not in DISPENSABLE:
            found.append(Tampering(f"delete a row of {table.name}", delete_last(table), name_faults(table)))
            found.append(Tampering(f"delete all rows of {table.name}", delete_all(table), name_faults(table)))
        if table.name not in UNCOPIED:
            found.append(Tampering(f"add a row to {table.name}", copy_last(table), name_faults(table)))
    return found + list_forgeries(connection)


DISPENSABLE = {"folds"}
"""An average that is missing is folded again."""
UNCOPIED = {"blobs", "sums", "checkpoints", "round_blobs"}
"""A further blob, link or sum is read by nobody; a further checkpoint is a forgery of its own."""
FAULT_WORDS: Mapping[str, tuple[str, ...]] = {
    "blobs": ("content", "damaged", "missing"),
    "entries": ("entry", "chain", "hash"),
    "rounds": ("round",),
    "folds": ("folds", "average"),
    "heads": ("head",),
    "seals": ("seals", "row", "contribution"),
    "sums": ("sum", "seals"),
    "checkpoints": ("checkpoint",),
    "round_blobs": ("round_blobs", "records"),
    "standing_history": ("standings over time", "standing_history"),
    "contributions": ("contribution", "audit"),
    "contribution_facts": ("facts", "a fact belongs"),
    "forms": ("form", "audit", "contribution"),
    "pieces": ("piece", "audit", "contribution"),
    "settlements": ("settlement", "audit", "contribution"),
    "novelty_ledger": ("entry", "ledger", "audit"),
    "accounts": ("account",),
}


def name_faults(table: Table) -> tuple[str, ...]:
    return (table.name, *FAULT_WORDS.get(table.name, ()))


def select_last(connection: Connection, table: Table) -> dict[str, Any]:
    """The last row by key; of a table in which some rows are no evidence, the last that is."""
    query = select(table).order_by(*(column.desc() for column in table.primary_key.columns))
    if table is tables.rounds:
        query = query.where(table.c.state == "scored")
    if table is tables.blobs:
        query = query.where(table.c.digest.in_(select(tables.entries.c.body)))
    if table is tables.round_blobs:
        query = query.where(table.c.digest.in_(select(tables.rounds.c.body)))
    if table is tables.heads:
        query = query.where(table.c.hotkey != "")
    return dict(connection.execute(query.limit(1)).mappings().one())


def find_row(table: Table, row: Mapping[str, Any]) -> Any:
    clause = True
    for column in table.primary_key.columns:
        clause = (column == row[column.name]) & clause
    return clause


def change_cell(table: Table, column: Column[Any]) -> Make:
    def make(connection: Connection) -> None:
        row = select_last(connection, table)
        values = {column.name: alter(column, row[column.name])}
        connection.execute(update(table).where(find_row(table, row)).values(**values))

    return make


def alter(column: Column[Any], value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(column.type, Boolean):
        return not value
    if isinstance(column.type, JSON):
        return {**value, "forged": 1} if isinstance(value, dict) else [*(value or []), "forged"]
    if isinstance(column.type, LargeBinary):
        return bytes([value[0] ^ 1]) + value[1:]
    if isinstance(column.type, String):
        return "x" if not value else value[:-1] + ("0" if value[-1] != "0" else "1")
    return 1 if value is None else value + 1


def delete_last(table: Table) -> Make:
    return lambda connection: connection.execute(delete(table).where(find_row(table, select_last(connection, table))))


def delete_all(table: Table) -> Make:
    return lambda connection: connection.execute(delete(table))


def copy_last(table: Table) -> Make:
    """The last row once more, under another key."""

    def make(connection: Connection) -> None:
        row = select_last(connection, table)
        for column in table.c:
            unique = column.unique or column.primary_key
            if unique and not (
                column.primary_key and len(table.primary_key.columns) > 1 and column.name in ("round", "mechanism")
            ):
                row[column.name] = alter(column, row[column.name])
        if table is tables.entries:
            row["ref"] += "x"
        connection.execute(insert(table).values(**row))

    return make


def list_forgeries(connection: Connection) -> list[Tampering]:
    """What takes more than one statement: everything is made consistent except what needs the hotkey."""
    made = [
        Tampering("cut the tail of the chain", cut_tail, ("head",)),
        Tampering("cut the tail and sign it as a stranger", cut_and_sign, ("head",)),
        Tampering("append an entry that follows from the chain", append_forged, ("head", "chain")),
        Tampering("replace all history by a stranger's checkpoint", replace_by_checkpoint, ("checkpoint", "head")),
        Tampering("sign the journal as a stranger", sign_as_stranger, ("signed by",)),
        Tampering(
            "sign as a stranger without a pinned hotkey", sign_as_stranger, ("reply", "kept elsewhere", "expected")
        ),
        Tampering("take the signature away", unsign, ("not signed", "head")),
        Tampering("set the head back", set_head_back, ("head",)),
        Tampering("forge a confirmed submission with its seal", forge_sealed(tables.submissions), ("seals",)),
        Tampering("forge an alert with its seal", forge_sealed(tables.alerts), ("seals",)),
        Tampering("remove an alert with its seal", remove_sealed(tables.alerts), ("seals",)),
        Tampering("remove a submission with its seal", remove_sealed(tables.submissions), ("seals",)),
        Tampering("remove an audit with its seal", remove_sealed(tables.audits), ("seals",)),
        Tampering("move a miner's average", change_cell(tables.folds, tables.folds.c.ema), ("average",)),
        Tampering("swap two miners in every round", swap_throughout, ("head", "reply", "entry")),
        Tampering("swap two miners and sign as a stranger", swap_and_sign, ("reply", "signed by", "head")),
        Tampering("swap two standings", swap_standings, ("standings",)),
        Tampering("collect all contributions again", collect_again, ("collected",)),
        Tampering("collect no contribution any more", collect_nothing, ("collected",)),
        Tampering("have a forged round scored", observe_forged, ("observed",)),
        Tampering("put other texts in a round", change_texts, ("content", "damaged")),
        Tampering("have an answer refer to another task", swap_bases, ("content", "damaged")),
        Tampering("move the integers of an observation", shift_planes, ("content", "damaged")),
    ]
    return [one for one in made if is_possible(connection, one)]


def is_possible(connection: Connection, tampering: Tampering) -> bool:
    needs = {"alert": tables.alerts, "submission": tables.submissions, "audit": tables.audits, "average": tables.folds}
    needs["contributions"] = tables.memory
    forms = {"refer": BESIDE, "integers": PLANES}
    kept = [data[:4] for data in connection.scalars(select(tables.blobs.c.data))]
    if any(word in tampering.name and kept.count(form) < 2 for word, form in forms.items()):
        return False
    wanted = [table for word, table in needs.items() if word in tampering.name]
    return all(connection.scalar(select(func.count()).select_from(table)) for table in wanted)


def cut_tail(connection: Connection) -> None:
    """The last entry and all that follows from it, as if it had never been."""
    entry = select_last(connection, tables.entries)
    connection.execute(delete(tables.entries).where(tables.entries.c.sequence == entry["sequence"]))
    for table in (tables.scores, tables.evaluations, tables.standing_history, tables.round_blobs, tables.copies):
        connection.execute(delete(table).where(table.c.round == entry["ref"]))
    connection.execute(delete(tables.rounds).where(tables.rounds.c.id == entry["ref"]))


def sign_with(connection: Connection, key: Hotkey) -> None:
    """A head over whatever is there, by our own code."""
    connection.execute(delete(tables.heads).where(tables.heads.c.name == "journal"))
    signer = HeadSigner(key, lambda: 1.0)
    with collect_seals(connection) as pending:
        signer.begin(connection)
        signer.before_commit(connection, pending)


def cut_and_sign(connection: Connection) -> None:
    cut_tail(connection)
    sign_with(connection, STRANGER)


def sign_as_stranger(connection: Connection) -> None:
    sign_with(connection, STRANGER)


def unsign(connection: Connection) -> None:
    sequence, digest = select_end(connection)
    blank = {"number": 0, "sequence": sequence, "hash": digest, "sums": {}, "hotkey": "", "scheme": "", "signature": ""}
    connection.execute(update(tables.heads).where(tables.heads.c.name == "journal").values(**blank))


def append_forged(connection: Connection) -> None:
    last = select_last(connection, tables.entries)
    row = {**last, "sequence": last["sequence"] + 1, "ref": "forged", "previous": last["hash"]}
    row["hash"] = hash_entry(last["hash"], last["kind"], "forged", last["body"])
    connection.execute(insert(tables.entries).values(**row))


def replace_by_checkpoint(connection: Connection) -> None:
    """E3: made-up standings instead of all entries, signed by somebody."""
    sequence, digest = select_end(connection)
    standing = Standing("5Forged", 1e6, {})
    insert_checkpoint(
        connection,
        Checkpoint(sequence, digest, 1.0, STRANGER.address, {"chunking": ReplayState((standing,))}),
        STRANGER.sign,
    )
    connection.execute(delete(tables.entries))


def set_head_back(connection: Connection) -> None:
    """As if an older head had been kept: its number is lower, and nothing else is touched."""
    head = select_head(connection)
    assert head is not None
    connection.execute(update(tables.heads).where(tables.heads.c.name == "journal").values(number=head.number - 1))


def forge_sealed(table: Table) -> Make:
    """A further row, with a seal and a sum as our own code makes them."""

    def make(connection: Connection) -> None:
        copy_last(table)(connection)
        row = connection.execute(select(table).order_by(table.c.id.desc()).limit(1)).mappings().one()
        with collect_seals(connection) as pending:
            put_seal(connection, table.name, format_key(name_row(table, row)), digest_row(table, row))
            update_sums(connection, pending)

    return make


def remove_sealed(table: Table) -> Make:
    def make(connection: Connection) -> None:
        row = connection.execute(select(table).order_by(table.c.id.desc()).limit(1)).mappings().one()
        with collect_seals(connection) as pending:
            put_seal(connection, table.name, format_key(name_row(table, row)), None)
            update_sums(connection, pending)
        connection.execute(delete(table).where(table.c.id == row["id"]))

    return make


def swap_standings(connection: Connection) -> None:
    """Of two miners that do not stand alike."""
    table = tables.standings
    rows = connection.execute(select(table).order_by(table.c.mechanism, table.c.place)).mappings().all()
    first, second = next(
        (one, other)
        for one, other in pairwise(rows)
        if one["mechanism"] == other["mechanism"] and one["value"] != other["value"]
    )
    for one, other in ((first, second), (second, first)):
        values = {"value": other["value"], "detail": other["detail"]}
        connection.execute(update(table).where(find_row(table, one)).values(**values))


def collect_again(connection: Connection) -> None:
    connection.execute(delete(tables.memory).where(tables.memory.c.key.startswith("collected:")))


def collect_nothing(connection: Connection) -> None:
    cursor = tables.memory.c.key.startswith("collected:")
    connection.execute(update(tables.memory).where(cursor).values(value=[999_999_999, 999_999]))


def observe_forged(connection: Connection) -> None:
    """A round that waits to be scored, so that a restart commits it."""
    row = select_last(connection, tables.rounds)
    connection.execute(insert(tables.rounds).values(**{**row, "id": "forged", "state": "observed", "sequence": None}))


def change_texts(connection: Connection) -> None:
    """What a round keeps for people, in the same form and under the same digest."""
    for digest in connection.scalars(select(tables.rounds.c.body).where(tables.rounds.c.state == "scored")):
        body = json.loads(select_blob(connection, digest))
        if "texts" in body:
            _overwrite(connection, body["texts"], next(compress_each([encode_texts(["forged"]) or b""], 3)))
            return


def _overwrite(connection: Connection, digest: str, data: bytes) -> None:
    connection.execute(update(tables.blobs).where(tables.blobs.c.digest == digest).values(data=data))


def _select_form(connection: Connection, form: bytes) -> list[tuple[str, bytes]]:
    query = select(tables.blobs.c.digest, tables.blobs.c.data).order_by(tables.blobs.c.digest)
    return [(digest, data) for digest, data in connection.execute(query) if data[:4] == form]


def swap_bases(connection: Connection) -> None:
    """Of a content that refers to another, the base of a content that refers elsewhere."""
    first, *rest = _select_form(connection, BESIDE)
    other = next((data for _, data in rest if data[4:36] != first[1][4:36]), bytes(36))
    _overwrite(connection, first[0], BESIDE + other[4:36] + first[1][36:])


def shift_planes(connection: Connection) -> None:
    """The first run one byte further on: nothing that is compressed is touched."""
    digest, data = _select_form(connection, PLANES)[0]
    width, offset, count = RUN.unpack_from(data, 5)
    _overwrite(connection, digest, data[:5] + RUN.pack(width, offset + 1, count - 1) + data[5 + RUN.size :])


def swap_and_sign(connection: Connection) -> None:
    swap_throughout(connection)
    sign_with(connection, STRANGER)


def swap_throughout(connection: Connection) -> None:
    """E2: two miners change places in every asked round of one mechanism, and all of it is recorded again."""
    pair = _find_pair(connection)
    previous, changed = GENESIS, {}
    standings: dict[str, tuple[Standing, ...]] = {}
    for row in connection.execute(select(tables.entries).order_by(tables.entries.c.sequence)).all():
        body = row.body
        if row.kind == "round":
            body = _record_again(connection, row, pair, standings)
        digest = hash_entry(previous, row.kind, row.ref, body)
        changed[row.sequence] = {"previous": previous, "hash": digest, "body": body}
        previous = digest
    for sequence, values in changed.items():
        connection.execute(update(tables.entries).where(tables.entries.c.sequence == sequence).values(**values))


def _find_pair(connection: Connection) -> dict[str, str]:
    query = select(tables.scores.c.hotkey).where(tables.scores.c.status == "valid").distinct().limit(2)
    one, other = connection.scalars(query.order_by(tables.scores.c.hotkey)).all()
    return {one: other, other: one}


def _record_again(
    connection: Connection, row: Any, pair: Mapping[str, str], before: dict[str, tuple[Standing, ...]]
) -> str:
    outcome = json.loads(select_blob(connection, row.body))
    body = json.loads(select_blob(connection, outcome["body"]))
    swapped = {name: _put(connection, _swap(select_blob(connection, body[name]), pair)) for name in ("task", "answers")}
    packed = select_blob(connection, body["observation"])
    observation = Observation.unpack(packed)
    facts = json.loads(_swap(canonical_json(dict(observation.facts)), pair))
    swapped["observation"] = _put(connection, Observation(facts, observation.arrays, observation.texts).pack())
    fresh = _put(connection, canonical_json({**body, **swapped}))
    mechanism = load_mechanism(body["mechanism"])
    params = make_params(mechanism, body["params"])
    known = before.get(mechanism.name, ())
    scored, after = apply_round(
        mechanism, params, body["departed"], Observation.unpack(select_blob(connection, swapped["observation"])), known
    )
    before[mechanism.name] = after
    return _put(connection, encode_outcome(fresh, scored, after))


def _swap(content: bytes, pair: Mapping[str, str]) -> bytes:
    one, other = pair
    return content.replace(one.encode(), b"\0").replace(other.encode(), one.encode()).replace(b"\0", other.encode())


def _put(connection: Connection, content: bytes) -> str:
    digest = digest_bytes(content)
    if connection.scalar(select(tables.blobs.c.digest).where(tables.blobs.c.digest == digest)) is None:
        connection.execute(insert(tables.blobs).values(digest=digest, data=next(compress_each([content], 3))))
    return digest
