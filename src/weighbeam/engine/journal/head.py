"""The signed head of a journal: where its chain ends and what its rows of evidence add up to.

A head is signed in every transaction that appends an entry or changes a row of evidence. The newest is kept in the
store and, so that a store that was set back is noticed, in a file beside it.
"""

import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.engine import make_url

from weighbeam.core.canonical import Json, canonical_json
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.journal.hash_chain import select_end
from weighbeam.network.keys import Hotkey, is_address, is_signed
from weighbeam.network.signatures import SCHEMES
from weighbeam.store import tables
from weighbeam.store.database import Store, find_file
from weighbeam.store.seals import LANES, SEALED_TABLES, WATCHED, PendingSums, format_sum, select_sums, touch

JOURNAL = "journal"
ENTRIES = "entries"
JOURNAL_ROWS = (*(table.name for table in SEALED_TABLES), *WATCHED)
FORMAT = "head/1"
MAX_HEAD_BYTES = 64 << 10
EMPTY = format_sum(0, bytes(2 * LANES))
DIFFERS = "the journal differs from its last signed head"
REMEDY = (
    "see weighbeam replay --verify and restore a backup; after a backup was restored on purpose, remove its .head file"
)

FindEnd = Callable[[Connection], tuple[int, str]]


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

    A head is only signed on top of the one before it, and only if that one is ours: signed by this process, or by
    another with the same hotkey. If the store no longer holds what it says, somebody else has written to the store, and
    `journal_differs` stops the transaction.
    """

    def __init__(
        self,
        hotkey: Hotkey,
        now: Callable[[], float],
        name: str = JOURNAL,
        rows: Sequence[str] = JOURNAL_ROWS,
        end: FindEnd = select_end,
        file: Path | None = None,
    ) -> None:
        self.name, self.file = name, file
        self._hotkey, self._now, self._rows, self._end = hotkey, now, tuple(rows), end
        self._chain = ENTRIES if name == JOURNAL else name
        self._last: Head | None = None
        self._saving = threading.Lock()

    def before_commit(self, connection: Connection, pending: PendingSums) -> Head | None:
        if {self._chain, *self._rows}.isdisjoint(pending.touched):
            return None
        before = select_head(connection, self.name)
        if before is None or not before.is_signed:
            require(self._last is None, "journal_differs", f"{DIFFERS}: its head is missing", REMEDY)
            return self._sign(connection, before, select_sums(connection, self._rows))
        self._require_own(before)
        ended = pending.ends.get(self._chain) or self._end(connection)
        changed = [name for name in self._rows if name in pending.before]
        same = ended == (before.sequence, before.hash)
        same &= all(before.sums.get(name, EMPTY) == pending.before[name] for name in changed)
        require(same, "journal_differs", DIFFERS, REMEDY)
        sums = {**before.sums, **{name: pending.after[name] for name in changed}}
        return self._sign(connection, before, {name: one for name, one in sums.items() if one[0]})

    def after_commit(self, signed: Head) -> None:
        """Remember what was committed, and keep the newest head beside the store; commits of threads may cross."""
        with self._saving:
            if self._last is None or signed.number > self._last.number:
                self._last = signed
                if self.file is not None:
                    save_head(signed, self.file)

    def check(self, connection: Connection, witness: Head | None) -> bool:
        """Whether there is a signed head to go on from; `journal_differs` if the store is not what it says."""
        head = select_head(connection, self.name)
        faults = list(find_head_faults(connection, head, witness, self._end))
        if head is None and (self._end(connection)[0] or select_sums(connection, self._rows)):
            faults.append("it has no head")
        if head is not None and head.is_signed:
            if select_sums(connection, self._rows) != head.sums:
                faults.append("rows of evidence were added or removed")
            if head.hotkey != self._hotkey.address:
                told = f"this store belongs to {head.hotkey}, and {self._hotkey.address} may not write to it"
                remedy = "use the key that created it (--config names a wallet), or another store"
                raise WeighbeamError("journal_differs", told, remedy)
        for fault in faults:
            raise WeighbeamError("journal_differs", f"{DIFFERS}: {fault}", REMEDY)

        self._last = head if head is not None and head.is_signed else None
        return self._last is not None

    def begin(self, connection: Connection) -> None:
        """Sign what is there already; the head is written beside the store when this transaction commits."""
        touch(connection, self._chain)

    def _require_own(self, before: Head) -> None:
        """A head that this process did not sign is one of another process with the same hotkey, and newer."""
        if before == self._last:
            return
        newer = self._last is None or before.number > self._last.number
        own = before.hotkey == self._hotkey.address and before.find_fault() is None
        require(newer and own, "journal_differs", f"{DIFFERS}: its head is forged or an older one", REMEDY)

    def _sign(self, connection: Connection, before: Head | None, sums: Mapping[str, Any]) -> Head:
        sequence, digest = self._end(connection)
        number = before.number + 1 if before else 1
        key = self._hotkey
        head = Head(self.name, number, sequence, digest, sums, self._now(), key.address, key.scheme, "")
        values = {name: getattr(head, name) for name in SIGNED}
        values["signature"] = key.sign(head.signed_bytes()).hex()
        if before is None:
            connection.execute(insert(tables.heads).values(**values))
        else:
            connection.execute(update(tables.heads).where(tables.heads.c.name == self.name).values(**values))
        return Head(**values)


def sign_heads(store: Store, signer: HeadSigner) -> None:
    """Let `signer` sign every change from now on, once what is there is what was signed before.

    A store that has a signer of this name keeps it. The witness is loaded first: another process may go on meanwhile,
    and its newer head in the store is sound where a newer one in the file would not be.
    """
    if any(one.name == signer.name for one in store.signers):
        return
    witness = load_witness(signer.file)
    with store.read() as connection:
        begun = signer.check(connection, witness)
    store.signers.append(signer)
    if not begun:
        with store.write() as connection:
            signer.begin(connection)


def find_head_faults(
    connection: Connection, head: Head | None, witness: Head | None, end: FindEnd = select_end
) -> Iterator[str]:
    """List faults at the end of a chain, given the head in its store and one that was kept elsewhere."""
    if head is not None and head.is_signed:
        if (fault := head.find_fault()) is not None:
            yield f"head {head.number} is forged: {fault}"
        found = end(connection)
        if found != (head.sequence, head.hash):
            signed = f"head {head.number} signs entry {head.sequence} {head.hash[:16]}"
            yield f"the chain ends at entry {found[0]}, {signed}"
    if witness is None:
        return
    if (fault := witness.find_fault()) is not None:
        yield f"the head kept elsewhere is forged: {fault}"
    elif head is None or head.number < witness.number:
        newest = f"head {head.number}" if head is not None else "no head"
        yield f"the store holds {newest}, head {witness.number} was signed: its newest entries or its log are missing"
    elif head.number == witness.number and head != witness:
        yield f"head {head.number} is not the one kept elsewhere"


def select_head(connection: Connection, name: str = JOURNAL) -> Head | None:
    row = connection.execute(select(tables.heads).where(tables.heads.c.name == name)).one_or_none()
    return None if row is None else Head(**row._mapping)


def list_heads(connection: Connection) -> list[Head]:
    return [Head(**row._mapping) for row in connection.execute(select(tables.heads).order_by(tables.heads.c.name))]


def find_head_file(place: str, name: str = JOURNAL) -> Path | None:
    """Where the head of a store in a file is kept, beside it; None for a database server or one in memory.

    >>> str(find_head_file("sqlite:///my/journal.db?timeout=5")), find_head_file("postgresql://host/journal")
    ('my/journal.db.head', None)
    """
    file = find_file(make_url(place)) if "://" in place else Path(place)
    return None if file is None else name_head_file(file, name)


def name_head_file(file: Path, name: str = JOURNAL) -> Path:
    return file.with_name(f"{file.name}.head" if name == JOURNAL else f"{file.name}.{name}.head")


def save_head(head: Head, file: Path) -> None:
    """Whole or not at all. A disk that fails here loses a witness, not a record: the next head is written again."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}.new")
    with suppress(OSError):
        with draft.open("wb") as opened:
            opened.write(canonical_json(head.as_json()) + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(file)


def load_head(file: Path) -> Head:
    """`bad_head` if the file cannot be read or holds something else."""
    try:
        with file.open("rb") as opened:
            return parse_head(opened.read(MAX_HEAD_BYTES))
    except OSError as fault:
        raise WeighbeamError("bad_head", f"{file}: {fault.strerror}", "check the path") from None


def load_witness(file: Path | None) -> Head | None:
    """The head that is kept in a file, if there is one."""
    return load_head(file) if file is not None and file.exists() else None


def list_witnesses(place: str) -> tuple[Head, ...]:
    """The head kept beside a journal, if there is one."""
    found = load_witness(find_head_file(place))
    return () if found is None else (found,)


def parse_head(content: bytes | str) -> Head:
    try:
        given = json.loads(content)
        head = Head(**{name: given[name] for name in (*SIGNED, "signature")})
        sound = isinstance(head.sequence, int) and isinstance(head.number, int) and is_address(head.hotkey)
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        remedy = "give the JSON that a validator wrote; remove a damaged .head file"
        raise WeighbeamError("bad_head", "this is not the head of a journal", remedy)
    return head
