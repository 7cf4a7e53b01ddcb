"""The desk's head: every contribution is sealed, and the ledger's end and all seals are signed by the desk's key.

A seal covers a contribution with its form, its pieces and its settlement. Its text is covered by its hash, so that a
withdrawn text leaves a sound seal.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from weighbeam.core.canonical import Json
from weighbeam.engine.journal.head import (
    HeadSigner,
    find_head_faults,
    load_witness,
    name_head_file,
    select_head,
    sign_heads,
)
from weighbeam.mechanisms.novelty.desk.ledger import DESK, select_ledger_end
from weighbeam.mechanisms.novelty.desk.pieces import encode_vector
from weighbeam.mechanisms.novelty.tables import contributions, forms, pieces, settlements
from weighbeam.network.keys import Hotkey
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import BROKEN, add_up_seals, digest_values, format_key, put_seal, select_seal, select_sums

SEALED = contributions.name
ROWS = [column for column in contributions.c if column.name != "text"]
AT_ONCE = 500

Line = Mapping[str, Any]


def digest_contribution(row: Line, forms: Sequence[str], pieces: Sequence[Line], settlement: Line | None) -> str:
    vectors: list[Json] = [[one["id"], one["crc"], hashlib.sha256(one["vector"]).hexdigest()] for one in pieces]
    said = {column.name: row[column.name] for column in ROWS}
    return digest_values([said, sorted(forms), vectors, None if settlement is None else dict(settlement)])


def select_digests(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Expected seals, by contribution."""
    rows = connection.execute(select(*ROWS).where(contributions.c.id.in_(ids)).order_by(contributions.c.id))
    known: dict[int, list[str]] = {}
    for row in connection.execute(select(forms).where(forms.c.contribution.in_(ids))):
        known.setdefault(row.contribution, []).append(row.digest)
    parts: dict[int, list[Line]] = {}
    for row in connection.execute(select(pieces).where(pieces.c.contribution.in_(ids)).order_by(pieces.c.id)):
        parts.setdefault(row.contribution, []).append(row._asdict())
    query = select(settlements).where(settlements.c.contribution.in_(ids))
    settled = {row.contribution: row._asdict() for row in connection.execute(query)}
    return {
        row.id: digest_contribution(row._asdict(), known.get(row.id, []), parts.get(row.id, []), settled.get(row.id))
        for row in rows
    }


def select_digest(connection: Connection, id: int) -> str:
    return select_digests(connection, [id])[id]


def seal_taken(connection: Connection, row: Line, form: str | None, vectors: NDArray[np.int32] | None) -> None:
    """Seal a contribution that was just taken in, from what was written: nothing is read back but piece numbers."""
    data = [] if vectors is None else [encode_vector(vector) for vector in vectors]
    numbers = select(pieces.c.id).where(pieces.c.contribution == row["id"]).order_by(pieces.c.id)
    ids = connection.scalars(numbers).all() if data else []
    parts = [{"id": id, "crc": zlib.crc32(one), "vector": one} for id, one in zip(ids, data, strict=True)]
    digest = digest_contribution(row, [form] if form else [], parts, None)
    put_seal(connection, SEALED, format_key((row["id"],)), digest, new=True)


def seal_contribution(connection: Connection, id: int, sound: bool = True) -> None:
    """Seal it as it is now; `sound` says whether it was what its seal said before it was changed."""
    put_seal(connection, SEALED, format_key((id,)), select_digest(connection, id) if sound else BROKEN)


def is_sound(connection: Connection, id: int) -> bool:
    return select_seal(connection, SEALED, format_key((id,))) == select_digest(connection, id)


def sign_desk(store: Store, key: Hotkey, now: Callable[[], float]) -> None:
    """Sign every change of the desk from now on; what an older version took in is sealed first."""
    with store.read() as connection:
        begun = select_head(connection, DESK) is not None or SEALED in select_sums(connection, [SEALED])
    if not begun:
        _seal_older(store)
    file = None if store.file is None else name_head_file(store.file, DESK)
    sign_heads(store, HeadSigner(key, now, DESK, (SEALED,), select_ledger_end, file))


def _seal_older(store: Store) -> None:
    ids: list[int] | None = None
    while ids is None or ids:
        with store.write() as connection:
            ids = _select_ids(connection, ids[-1] if ids else 0)
            for id, digest in select_digests(connection, ids).items():
                put_seal(connection, SEALED, format_key((id,)), digest)


def _select_ids(connection: Connection, after: int) -> list[int]:
    query = select(contributions.c.id).where(contributions.c.id > after).order_by(contributions.c.id)
    return list(connection.scalars(query.limit(AT_ONCE)))


def find_seal_faults(connection: Connection) -> Iterator[str]:
    """Contributions that are not what was sealed."""
    columns = tables.seals.c
    kept = {row.key: row.digest for row in connection.execute(select(tables.seals).where(columns.name == SEALED))}
    ids: list[int] | None = None
    while ids is None or ids:
        ids = _select_ids(connection, ids[-1] if ids else 0)
        for id, digest in select_digests(connection, ids).items():
            sealed = kept.pop(format_key((id,)), None)
            if sealed is None:
                yield f"contribution {id} was added"
            elif sealed == BROKEN:
                yield f"contribution {id} was changed before it was last written"
            elif sealed != digest:
                yield f"contribution {id}, a form, a piece or a settlement of it was changed"
    yield from (f"contribution {key} was removed" for key in sorted(kept))


def find_desk_head_faults(connection: Connection, file: Path | None) -> Iterator[str]:
    """List faults of the desk's head and of the sum of its seals."""
    head = select_head(connection, DESK)
    taken = connection.scalar(select(func.count()).select_from(contributions)) or 0
    if head is None:
        if taken:
            yield "the desk has no head: it was removed, or no version that signs one has run yet"
        return
    witness = load_witness(None if file is None else name_head_file(file, DESK))
    yield from find_head_faults(connection, head, witness, select_ledger_end)
    signed = head.sums.get(SEALED)
    if add_up_seals(connection, [SEALED]).get(SEALED) != signed:
        yield "the seals of contributions differ from those that were signed"
    elif select_sums(connection, [SEALED]).get(SEALED) != signed:
        yield "the sum stored for contributions differs from the signed one"
