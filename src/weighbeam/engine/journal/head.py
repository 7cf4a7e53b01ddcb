"""The signed head of a journal: where its chain ends and what its rows of evidence add up to.

A head is signed in every transaction that appends an entry or changes a row of evidence. The newest is kept in the
store and, so that a store that was set back is noticed, in a file beside it.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.journal.hash_chain import select_end, select_hash
from weighbeam.network.keys import Hotkey, is_address, is_signed
from weighbeam.network.signatures import SCHEMES
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import LANES, SEALED_TABLES, PendingSums, format_sum, select_sums, touch

JOURNAL = "journal"
ENTRIES = "entries"
JOURNAL_ROWS = tuple(table.name for table in SEALED_TABLES)
FORMAT = "head/1"
MAX_HEAD_BYTES = 64 << 10
EMPTY = format_sum(0, bytes(2 * LANES))
DIFFERS = "the journal is not what its last head signed"
REMEDY = (
    "see weighbeam replay --verify and restore a backup; after a backup was restored on purpose, remove its .head file"
)

FindEnd = Callable[[Connection], tuple[int, str]]
FindHash = Callable[[Connection, int], str | None]


@dataclass(frozen=True, slots=True)
class Head:
    """`number` counts the heads of a journal; `sums` holds the number of rows by table, and the digest of their sum."""

    name: str
    number: int
    sequence: int
    hash: str
    sums: Mapping[str, Any]
    at: float
    hotkey: str
    scheme: str
    signature: str

    @property
    def is_signed(self) -> bool:
        """Whether somebody claims to have signed it; `find_fault` says whether they did."""
        return bool(self.hotkey)

    def signed_bytes(self) -> bytes:
        return canonical_json({"weighbeam": FORMAT, **{name: getattr(self, name) for name in SIGNED}})

    def as_json(self) -> Json:
        return {"weighbeam": FORMAT, **{name: getattr(self, name) for name in (*SIGNED, "signature")}}

    def find_fault(self) -> str | None:
        try:
            signature = bytes.fromhex(self.signature)
        except ValueError:
            return "its signature is not hexadecimal"
        if self.scheme not in SCHEMES:
            return f"its scheme is {self.scheme!r}"
        if not is_signed(self.signed_bytes(), signature, self.hotkey, self.scheme):
            return f"it is not signed by {self.hotkey}"
        return None


SIGNED = ("name", "number", "sequence", "hash", "sums", "at", "hotkey", "scheme")


class HeadSigner:
    """Signs the head of one chain and its rows of evidence. `end` gives the last entry's number and hash.

    A head is only signed on top of the one before it: if the store no longer holds what that one says, somebody else
    has written to it, and `journal_differs` stops the transaction.
    """

    def __init__(
        self,
        hotkey: Hotkey,
        now: Callable[[], float],
        name: str = JOURNAL,
        rows: Sequence[str] = JOURNAL_ROWS,
        end: FindEnd = select_end,
        find_hash: FindHash = select_hash,
        file: Path | None = None,
    ) -> None:
        self.name = name
        self._hotkey, self._now, self._rows = hotkey, now, tuple(rows)
        self._end, self._find_hash, self._file = end, find_hash, file
        self._covers = {ENTRIES if name == JOURNAL else name, *rows}
        self._head: Head | None = None

    def before_commit(self, connection: Connection, pending: PendingSums) -> bool:
        if self._covers.isdisjoint(pending.touched):
            return False
        before = select_head(connection, self.name)
        if before is None or not before.is_signed:
            self._sign(connection, before, select_sums(connection, self._rows))
            return True
        kept = self._find_hash(connection, before.sequence)
        same = kept in (None, before.hash) and (kept is not None or not before.sequence)
        changed = [name for name in self._rows if name in pending.before]
        same &= all(before.sums.get(name, EMPTY) == pending.before[name] for name in changed)
        require(same, "journal_differs", DIFFERS, REMEDY)
        after = {name: pending.after[name] for name in changed}
        sums = {name: one for name, one in {**before.sums, **after}.items() if one[0]}
        self._sign(connection, before, sums)
        return True

    def after_commit(self) -> None:
        if self._file is not None and self._head is not None:
            save_head(self._head, self._file)

    def check(self, connection: Connection) -> None:
        """Whether the store still ends where its newest head says; `journal_differs` if not."""
        head = select_head(connection, self.name)
        witness = load_head(self._file) if self._file is not None and self._file.exists() else None
        for fault in find_head_faults(connection, head, witness, self._end, self._find_hash):
            raise WeighbeamError("journal_differs", f"{DIFFERS}: {fault}", REMEDY)
        if head is not None and head.is_signed and head.name == JOURNAL and head.hotkey != self._hotkey.address:
            told = f"this journal belongs to {head.hotkey}, and {self._hotkey.address} is to write to it"
            raise WeighbeamError("journal_differs", told, "name the store of this hotkey, or a new one")

    def begin(self, connection: Connection) -> None:
        """Sign what is there already; the head is written beside the store when this transaction commits."""
        touch(connection, next(iter(self._covers)))

    def _sign(self, connection: Connection, before: Head | None, sums: Mapping[str, Any]) -> None:
        sequence, digest = self._end(connection)
        number = before.number + 1 if before else 1
        key = self._hotkey
        head = Head(self.name, number, sequence, digest, sums, self._now(), key.address, key.scheme, "")
        values = {name: getattr(head, name) for name in SIGNED}
        self._head = Head(**values, signature=key.sign(head.signed_bytes()).hex())
        values["signature"] = self._head.signature
        if before is None:
            connection.execute(insert(tables.heads).values(**values))
        else:
            connection.execute(update(tables.heads).where(tables.heads.c.name == self.name).values(**values))


def sign_heads(store: Store, signer: HeadSigner) -> None:
    """Let `signer` sign every change from now on, once what is there is what was signed before.

    A store that has a signer of this name keeps it.
    """
    if any(one.name == signer.name for one in store.signers):
        return
    with store.read() as connection:
        signer.check(connection)
    store.signers.append(signer)
    with store.write() as connection:
        signer.begin(connection)


def find_head_faults(
    connection: Connection,
    head: Head | None,
    witness: Head | None,
    end: FindEnd = select_end,
    find: FindHash = select_hash,
) -> Iterator[str]:
    """What is wrong with the end of a chain, given the head in its store and one that was kept elsewhere."""
    if head is not None and head.is_signed:
        if (fault := head.find_fault()) is not None:
            yield f"head {head.number} is forged: {fault}"
        if end(connection) != (head.sequence, head.hash):
            found, _ = end(connection)
            yield f"the chain ends at entry {found}, head {head.number} signs entry {head.sequence} {head.hash[:16]}"
    if witness is None:
        return
    if (fault := witness.find_fault()) is not None:
        yield f"the head kept elsewhere is forged: {fault}"
    elif head is None or head.number < witness.number:
        newest = f"head {head.number}" if head is not None else "no head"
        yield f"the store holds {newest}, head {witness.number} was signed: the newest entries or the log are missing"
    elif find(connection, witness.sequence) not in (witness.hash, None):
        yield f"entry {witness.sequence} is another one than head {witness.number} signed"


def select_head(connection: Connection, name: str = JOURNAL) -> Head | None:
    row = connection.execute(select(tables.heads).where(tables.heads.c.name == name)).one_or_none()
    return None if row is None else Head(**row._mapping)


def list_heads(connection: Connection) -> list[Head]:
    return [Head(**row._mapping) for row in connection.execute(select(tables.heads).order_by(tables.heads.c.name))]


def find_head_file(place: str, name: str = JOURNAL) -> Path | None:
    """Where the head of a store in a file is kept, beside it; None for a database server.

    >>> str(find_head_file("sqlite:///my/journal.db")), find_head_file("postgresql://host/journal")
    ('my/journal.db.head', None)
    """
    path = place.removeprefix("sqlite:///")
    ending = "head" if name == JOURNAL else f"{name}.head"
    return None if "://" in path or path in ("", ":memory:") else Path(f"{path}.{ending}")


def save_head(head: Head, file: Path) -> None:
    """Whole or not at all. A disk that fails here loses a witness, not a record: the next head is written again."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.new")
    with suppress(OSError):
        draft.write_bytes(canonical_json(head.as_json()) + b"\n")
        draft.replace(file)


def load_head(file: Path) -> Head:
    """`bad_head` if the file cannot be read or holds something else."""
    try:
        with file.open("rb") as opened:
            return parse_head(opened.read(MAX_HEAD_BYTES))
    except OSError as fault:
        raise WeighbeamError("bad_head", f"{file}: {fault.strerror}", "check the path") from None


def list_witnesses(place: str) -> tuple[Head, ...]:
    """The head kept beside a journal, if there is one."""
    file = find_head_file(place)
    return (load_head(file),) if file is not None and file.exists() else ()


def parse_head(content: bytes | str) -> Head:
    try:
        given = json.loads(content)
        head = Head(**{name: given[name] for name in (*SIGNED, "signature")})
        sound = isinstance(head.sequence, int) and isinstance(head.number, int) and is_address(head.hotkey)
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise WeighbeamError("bad_head", "this is not the head of a journal", "give the JSON that a validator wrote")
    return head
