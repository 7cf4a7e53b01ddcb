"""Audit a desk's record or export: ledger chain and sums, signatures, payments, pieces and vectors computed again."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION, to_micro
from weighbeam.engine.journal.head import select_head
from weighbeam.mechanism.params import hash_params, recall_params
from weighbeam.mechanisms.novelty.desk.bulk_import import split_lines
from weighbeam.mechanisms.novelty.desk.desk import EMBEDDER
from weighbeam.mechanisms.novelty.desk.export import parse_export
from weighbeam.mechanisms.novelty.desk.known import find_run_faults
from weighbeam.mechanisms.novelty.desk.ledger import (
    DESK,
    GENESIS,
    TREASURY,
    check_entries,
    find_spending_faults,
    held_account,
    own_account,
)
from weighbeam.mechanisms.novelty.desk.piece_vectors import (
    select_dimensions,
    select_last_vector,
    select_vectors_between,
)
from weighbeam.mechanisms.novelty.desk.record import DeskRecord, Line, select_record
from weighbeam.mechanisms.novelty.desk.seals import find_desk_head_faults, find_seal_faults
from weighbeam.mechanisms.novelty.facts import NoveltyFacts, Valuation, parse_facts, value_contribution
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.tables import accounts, contributions, novelty_ledger, pieces
from weighbeam.network.receipts import check_receipt
from weighbeam.senses.adapters.corpus.open_index import open_index
from weighbeam.senses.ports.vectors import NO_ROW, VectorIndex
from weighbeam.store.memory import look_up

LEDGER = novelty_ledger.c
Nearest = tuple[int | None, int | None]


@dataclass(slots=True)
class AuditedPieces:
    """How many pieces each contribution has, and what was nearest to it when it came."""

    counts: dict[int, int] = field(default_factory=dict)
    nearest: dict[int, Nearest] = field(default_factory=dict)
    sentences: dict[int, list[int]] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)


def count_pieces(record: DeskRecord, found: AuditedPieces, deep: bool) -> Iterator[str]:
    """List faults of the pieces; fills `found`."""
    size = 4 * int((record.embedder or {}).get("dimensions") or 0)
    index = open_index(size // 4) if deep and size else None
    owners: list[int] = []
    for contribution, group in groupby(record.pieces, key=lambda row: row["contribution"]):
        rows = list(group)
        if contribution in found.counts:
            yield f"the pieces of contribution {contribution} lie apart"
        found.counts[contribution] = found.counts.get(contribution, 0) + len(rows)
        damaged = [row["id"] for row in rows if is_damaged(row, size)]
        yield from (f"piece {id} of contribution {contribution} is damaged" for id in damaged)
        if index is not None and not damaged and all(row["vector"] is not None for row in rows):
            try:
                found.rows[contribution] = len(owners)
                last = len(_list_sentences(record, contribution))
                placed = _place(rows, last, contribution, index, owners)
                found.nearest[contribution], found.sentences[contribution] = placed
            except WeighbeamError as fault:
                yield f"contribution {contribution} cannot be measured: {fault.message}"


def _list_sentences(record: DeskRecord, contribution: int) -> list[Any]:
    """The sentences that a contribution's last pieces are said to be of."""
    facts = (record.facts.get(contribution) or {}).get("facts") or {}
    found = facts.get("sentences")
    return found if isinstance(found, list) else []


def describe_similarity(row: Line, found: AuditedPieces, facts: NoveltyFacts | None) -> Iterator[str]:
    """Whether a contribution was as near to its nearest as it was paid for, and each of its sentences to its own."""
    measured = found.nearest.get(row["id"])
    if measured is not None and measured != (row["nearest"], row["micro"]):
        said = f"{row['micro']} millionths to {row['nearest']}"
        yield f"it was paid for {said}, and {measured[1]} to {measured[0]} are measured"
    if measured is not None and facts is not None:
        if [micro for _, micro in facts.sentences] != found.sentences.get(row["id"]):
            yield "its sentences were nearer or farther than its facts say"
        if facts.rows != found.rows.get(row["id"]):
            yield f"its facts say that {facts.rows} pieces were there, and {found.rows.get(row['id'])} were"


def is_damaged(row: Line, size: int) -> bool:
    vector = row["vector"]
    return vector is not None and (len(vector) != size or zlib.crc32(vector) != row["crc"])


def _place(
    rows: list[Line], sentences: int, contribution: int, index: VectorIndex, owners: list[int]
) -> tuple[Nearest, list[int]]:
    """The nearest of everything before, of equals the oldest, and the highest of each of the last rows, which are
    sentences; then it is there itself."""
    vectors = np.stack([np.frombuffer(row["vector"], "<i4") for row in rows]).astype(np.int32)
    places, products = (found.tolist() for found in index.nearest(vectors))
    nearest: Nearest = (None, None)
    whole = len(rows) - sentences
    if places[0] != NO_ROW:
        pairs = zip(products[:whole], places[:whole], strict=True)
        product, place = max(pairs, key=lambda pair: (pair[0], -pair[1]))
        nearest = (owners[place], to_micro(product))
    index.add(vectors)
    owners += [contribution] * len(rows)
    return nearest, [to_micro(product) for product in products[whole:]]


AT_ONCE = 1000


def compare_vectors(connection: Connection) -> Iterator[str]:
    """List differences from the pieces; later pieces are not copied yet, which is normal. Nothing on SQLite."""
    size = select_dimensions(connection)
    if size is None:
        return
    last, end = 0, select_last_vector(connection)
    columns = (pieces.c.id, pieces.c.vector, pieces.c.crc)
    while last < end:
        query = select(*columns).where(pieces.c.id > last, pieces.c.id <= end).order_by(pieces.c.id).limit(AT_ONCE)
        rows = connection.execute(query).all()
        first, last = last + 1, rows[-1].id if len(rows) == AT_ONCE else end
        copied = select_vectors_between(connection, first, last)
        for row in rows:
            copy = copied.pop(row.id, None)
            if copy is None:
                yield f"piece {row.id} is not in the table of vectors"
            elif not is_damaged(row._asdict(), 4 * size) and not np.array_equal(np.frombuffer(row.vector, "<i4"), copy):
                yield f"piece {row.id} is another in the table of vectors"
        yield from (f"the table of vectors has a piece {id}, which is missing" for id in copied)


SPENT = {"paid": "pay", "held": "hold"}
SETTLED = {"released": "release", "rejected": "reject"}
STATUSES = ("paid", "held", "duplicate", "imported")
SAID = ("id", "contributor", "at", "status", "text_sha256", "nearest", "micro", "units")


@dataclass(slots=True)
class DeskAuditCounts:
    """Counts of an audit, and the signers it found."""

    contributions: int = 0
    pieces: int = 0
    entries: int = 0
    units: int = 0
    nodes: set[str] = field(default_factory=set)


class DeskAudit:
    """One pass over a record. `node` is who must have signed, None for anyone; `deep` measures similarities again."""

    def __init__(self, record: DeskRecord, node: str | None = None, deep: bool = False) -> None:
        self.counted = DeskAuditCounts(entries=len(record.entries), units=-record.accounts.get(TREASURY, 0))
        self._record, self._node, self._deep = record, node, deep
        self._chain = {GENESIS, *(row["hash"] for row in record.entries)}
        self._moves: dict[int, list[Line]] = {}
        for row in record.entries:
            self._moves.setdefault(row["contribution"], []).append(row)
        self._settled = {row["contribution"]: row for row in record.settlements}
        self._forms: dict[int, list[str]] = {}
        for row in record.forms:
            self._forms.setdefault(row["contribution"], []).append(row["digest"])
        self._charged: dict[tuple[str, str], int] = {}
        self._told = set(record.facts)
        self._params = {name: _parse_params(name, line) for name, line in record.params.items()}

    def find_faults(self) -> Iterator[str]:
        """Everything that is off, in words; nothing if all is well."""
        yield from check_entries(self._record.entries, self._record.accounts)
        yield from (f"the parameters {name[:16]} do not match their hash" for name, p in self._params.items() if not p)
        found = AuditedPieces()
        for fault in count_pieces(self._record, found, self._deep):
            yield fault
        self.counted.pieces = sum(found.counts.values())
        last = 0
        for row in self._record.contributions:
            self.counted.contributions += 1
            last = row["id"]
            try:
                yield from (f"contribution {last}: {fault}" for fault in self._check(row, found))
            except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as fault:
                yield f"contribution {last} cannot be read: {type(fault).__name__}: {fault}"
        for kind, left in (
            ("piece", found.counts),
            ("form", self._forms),
            ("entry", self._moves),
            ("settlement", self._settled),
            ("fact", self._told),
        ):
            yield from (f"a {kind} belongs to contribution {id}, which is missing" for id in left)

    def _check(self, row: Line, found: AuditedPieces) -> Iterator[str]:
        id, status = row["id"], row["status"]
        moves, settled = self._moves.pop(id, []), self._settled.pop(id, None)
        yield from self._check_text(row, self._forms.pop(id, []), found.counts.pop(id, 0))
        if status not in STATUSES:
            yield f"its status is {status!r}"
        yield from self._check_receipt(row["receipt"], {name: row[name] for name in SAID})
        yield from self._check_facts(row)
        yield from self._check_units(row)
        kept = self._record.facts.get(id)
        self._charged[row["contributor"], str(id)] = row["units"] if kept is None else kept["charged"]
        self._told.discard(id)
        if _list_moves(row, settled) != [(m["kind"], m["debit"], m["credit"], m["units"]) for m in moves]:
            yield "its entries in the ledger differ from its pay"
        if settled is not None:
            said = {"id": id, "contributor": row["contributor"], "at": settled["at"], "status": settled["kind"],
                    "text_sha256": row["text_sha256"], "units": row["units"]}  # fmt: skip
            yield from self._check_receipt(settled["receipt"], said)
            if status != "held" or settled["units"] != row["units"]:
                yield f"it was {settled['kind']}, and was never held so"
        if self._deep and status != "duplicate":
            yield from describe_similarity(row, found, self._find_facts(id))

    def _check_text(self, row: Line, forms: list[str], pieces: int) -> Iterator[str]:
        duplicate, text = row["status"] == "duplicate", row["text"]
        if pieces != row["pieces"] or (pieces == 0) != duplicate:
            yield f"it has {pieces} pieces, and says {row['pieces']}"
        if len(forms) != (not duplicate):
            yield f"{len(forms)} texts are known by it"
        if duplicate and (row["micro"] != MILLION or row["nearest"] is None):
            yield "it is a duplicate of nothing"
        if row["nearest"] is not None and not 0 < row["nearest"] < row["id"]:
            yield f"its nearest is {row['nearest']}, which came later"
        if (text is None) != (duplicate or bool(row["withdrawn"])):
            yield "its text exists although it should be deleted" if text is not None else "its text is missing"
        if text is not None and digest_text(text) != row["text_sha256"]:
            yield "its text does not match its hash"
        if text is not None and forms and digest_form(text) not in forms:
            yield "its text differs from its indexed form"

    def _check_receipt(self, receipt: Any, said: Line) -> Iterator[str]:
        try:
            signer = check_receipt(receipt, self._node)
        except WeighbeamError as fault:
            yield fault.message
            return
        self.counted.nodes.add(signer)
        yield from (f"its receipt says another {name}" for name, value in said.items() if receipt.get(name) != value)
        if receipt.get("ledger") not in self._chain:
            yield "its receipt names an entry that the ledger does not have"

    def _check_units(self, row: Line) -> Iterator[str]:
        if row["status"] in ("duplicate", "imported"):
            if row["units"] != 0:
                yield f"it is {row['status']} and got {row['units']} units"
            return
        params = self._params.get(str((row["receipt"] or {}).get("params_hash")))
        if params is None:
            yield "the parameters under which it was paid are unknown"
            return
        value = value_contribution(row["micro"] or 0, self._find_facts(row["id"]), params)
        if row["units"] != value.units:
            yield f"it got {row['units']} units, and {row['micro'] or 0} millionths pay {value.units}"
        yield from self._check_value(row, value)

    def _find_facts(self, id: int) -> NoveltyFacts | None:
        """Find recorded facts; None also if the record is invalid or has extra fields."""
        kept = (self._record.facts.get(id) or {}).get("facts")
        try:
            facts = parse_facts(kept)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
        return facts if facts is not None and facts.as_json() == kept else None

    def _check_facts(self, row: Line) -> Iterator[str]:
        """Whether the facts are those that its receipt names, and its kin are its contributor's."""
        facts, named = self._find_facts(row["id"]), (row["receipt"] or {}).get("facts")
        if (None if facts is None else facts.digest) != named:
            yield "its facts differ from those that its receipt names"
        for one in facts.kin if facts is not None else ():
            if self._charged.get((row["contributor"], one.id)) != one.charged:
                yield f"its kin {one.id} is not of {row['contributor']}, or counts for something else"

    def _check_value(self, row: Line, value: Valuation) -> Iterator[str]:
        kept = self._record.facts.get(row["id"])
        if kept is None:
            return
        if kept["charged"] != value.charged:
            yield f"it counts for {kept['charged']} units, and its facts make {value.charged}"
        if (row["receipt"] or {}).get("similarity") != value.similarity:
            yield "its receipt says another similarity than its facts make"


def _list_moves(row: Line, settled: Line | None) -> list[tuple[str, str, str, int]]:
    """The entries that a contribution must have left."""
    name, units = row["contributor"], row["units"]
    if not units or row["status"] not in SPENT:
        return []
    own, held = own_account(name), held_account(name)
    moves = [(SPENT[row["status"]], TREASURY, own if row["status"] == "paid" else held, units)]
    if settled is not None and settled["kind"] in SETTLED:
        moves.append((SETTLED[settled["kind"]], held, own if settled["kind"] == "released" else TREASURY, units))
    return moves


def _parse_params(name: str, line: Line) -> NoveltyParams | None:
    """The parameters behind a hash; None if they are not the ones."""
    try:
        params = recall_params(Novelty(), line["params"])
        assert isinstance(params, NoveltyParams)
        return params if hash_params(Novelty(), line["params"], line["senses"]) == name else None
    except (ValueError, TypeError, KeyError, WeighbeamError):
        return None


def audit_store(
    connection: Connection, file: Path | None, node: str | None = None, deep: bool = False
) -> tuple[DeskAudit, Iterator[str]]:
    """Audit a desk's store, and list its faults, one sentence each; `file` is the store's file.

    A desk has one key: the signer of its head, or `node` if given, must have signed every receipt.
    """
    head = select_head(connection, DESK)
    audit = DeskAudit(select_record(connection), node or (head.hotkey if head is not None else None), deep)
    return audit, _find_store_faults(connection, audit, file)


def _find_store_faults(connection: Connection, audit: DeskAudit, file: Path | None) -> Iterator[str]:
    yield from audit.find_faults()
    yield from compare_vectors(connection)
    yield from find_run_faults(connection)
    yield from find_desk_head_faults(connection, file)
    if select_head(connection, DESK) is not None:
        yield from find_seal_faults(connection)
    entries = [dict(row) for row in connection.execute(select(novelty_ledger).order_by(LEDGER.sequence)).mappings()]
    kept = {row.name: (int(row.day), int(row.spent)) for row in connection.execute(select(accounts))}
    yield from find_spending_faults(entries, kept)
    yield from _find_embedder_faults(connection)


def _find_embedder_faults(connection: Connection) -> Iterator[str]:
    """Whether the newest receipt names the embedder that the corpus is recorded as made by."""
    query = select(contributions.c.receipt).order_by(contributions.c.id.desc()).limit(1)
    receipt, said = connection.scalar(query), look_up(connection, EMBEDDER)
    named = {name: (said or {}).get(name) for name in ("id", "digest")}
    if receipt is not None and receipt.get("embedder") != named:
        yield f"the corpus is recorded as made by {named['id']}, the newest receipt names another embedder"


def verify_export(path: Path, node: str | None, deep: bool) -> tuple[DeskAudit, list[str]]:
    """The audit of an export, and all it found; `bad_export` if it cannot be read."""
    with path.open("rb") as file:
        try:
            audit = DeskAudit(parse_export(split_lines(file)), node, deep)
            return audit, list(audit.find_faults())
        except (ValueError, TypeError, KeyError, ArithmeticError) as fault:
            told = f"{path} holds data that no desk writes: {type(fault).__name__}: {fault}"
            raise WeighbeamError("bad_export", told, "export it again") from None
