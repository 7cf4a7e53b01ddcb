"""Data of a desk's store for the second look: texts, runs of letters with their first owners, and payments.

Runs are written for every text under any parameters, so that a desk may be opened under others later. A store
from before there were runs gets them when it is opened for writing; nothing else of it changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, insert, select

from weighbeam.core.canonical import digest_text
from weighbeam.core.quantise import to_micro
from weighbeam.mechanisms.novelty.compare import ReadText
from weighbeam.mechanisms.novelty.desk.pieces import select_pieces_of
from weighbeam.mechanisms.novelty.facts import NoveltyFacts
from weighbeam.mechanisms.novelty.known import read_known
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.tables import EARNED, contribution_facts, contribution_runs, contributions
from weighbeam.senses.ports.vectors import dot_exact
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up, note, recall

HOUR = 3600
ASKED_AT_ONCE = 500
INDEXED_AT_ONCE = 500
INDEXED = "novelty:runs-and-triples"
"""In the store's memory: that all contributions from before there were runs have theirs."""


OWN = (
    select(contributions.c.id, contributions.c.units, contribution_facts.c.charged)
    .select_from(contributions.outerjoin(contribution_facts, contribution_facts.c.contribution == contributions.c.id))
    .where(contributions.c.contributor == bindparam("who"), contributions.c.at > bindparam("since"))
    .where(contributions.c.status.in_(("paid", "held")), EARNED)
    .order_by(contributions.c.at.desc(), contributions.c.id.desc())
    .limit(bindparam("most"))
)
"""Made once: to write a query down takes longer than to answer it."""


class StoreKnowledge:
    """The second look's questions, answered in one transaction; `rows` is how many there are to compare with. It keeps
    which runs were `asked` for and `found`, so that they need not be looked up again to be written."""

    def __init__(self, connection: Connection, dimensions: int, rows: int, params: NoveltyParams, now: float) -> None:
        self._connection = connection
        self._dimensions = dimensions
        self._rows = rows
        self._since = now - params.window_hours * HOUR
        self.asked: set[int] = set()
        self.found: dict[int, int] = {}

    def count_rows(self) -> int:
        return self._rows

    def find_owners(self, runs: Sequence[int]) -> Mapping[int, str]:
        self.asked, self.found = set(runs), select_owners_of(self._connection, runs)
        return {run: str(owner) for run, owner in self.found.items()}

    def load_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        columns = contributions.c
        query = select(columns.id, columns.text).where(columns.id.in_([int(id) for id in ids]))
        return {str(row.id): row.text for row in self._connection.execute(query) if row.text is not None}

    def measure(self, ids: Sequence[str], rows: NDArray[np.int32]) -> Mapping[str, int]:
        near: dict[str, int] = {}
        if not ids:
            return near
        found = select_pieces_of(self._connection, [int(id) for id in ids], self._dimensions)
        best = dot_exact(rows, found.vectors).max(axis=0).tolist() if found.ids else []
        for owner, product in zip(found.owners, best, strict=True):
            micro = to_micro(product)
            near[str(owner)] = max(near.get(str(owner), micro), micro)
        return near

    def list_own(self, contributor: str, limit: int) -> Sequence[tuple[str, int]]:
        rows = self._connection.execute(OWN, {"who": contributor, "since": self._since, "most": limit})
        return [(str(row.id), int(row.units if row.charged is None else row.charged)) for row in rows]


def select_owners_of(connection: Connection, runs: Sequence[int]) -> dict[int, int]:
    """First owners of the known runs."""
    wanted, found = sorted(set(runs)), dict[int, int]()
    for start in range(0, len(wanted), ASKED_AT_ONCE):
        chosen = contribution_runs.c.run.in_(wanted[start : start + ASKED_AT_ONCE])
        found |= {row.run: row.contribution for row in connection.execute(select(contribution_runs).where(chosen))}
    return found


def insert_runs(connection: Connection, contribution: int, read: ReadText, known: StoreKnowledge | None = None) -> None:
    """The runs of a text that nobody has said; under the store's lock, so that nobody says one in between. `known` was
    asked for this same text under the same lock."""
    kept = read.list_kept()
    asked = known is not None and kept <= known.asked
    new = sorted(kept.difference(known.found if known and asked else select_owners_of(connection, list(kept))))
    if new:
        connection.execute(insert(contribution_runs), [{"run": run, "contribution": contribution} for run in new])


def insert_facts(connection: Connection, contribution: int, facts: NoveltyFacts, charged: int) -> None:
    row = {"contribution": contribution, "facts": facts.as_json(), "charged": charged}
    connection.execute(insert(contribution_facts).values(**row))


def index_older(store: Store) -> None:
    """Runs for the texts of a store from before there were any; interrupted, it goes on where it stopped."""
    state = recall(store, INDEXED) or {"last": 0, "done": False}
    while not state["done"]:
        with store.write() as connection:
            columns = contributions.c
            chosen = (columns.id > state["last"]) & columns.text.is_not(None)
            query = select(columns.id, columns.text).where(chosen).order_by(columns.id).limit(INDEXED_AT_ONCE)
            rows = connection.execute(query).all()
            for row in rows:
                insert_runs(connection, row.id, read_known(row.text))
            last = rows[-1].id if rows else state["last"]
            state = {"last": last, "done": len(rows) < INDEXED_AT_ONCE}
            note(connection, INDEXED, state)


def find_run_faults(connection: Connection) -> Iterator[str]:
    """Where `contribution_runs` is not what the texts say; a withdrawn text cannot say any more which runs it had.

    Whose a run is decides what later texts are paid. A text owns runs of its own alone, and of those it does not own
    somebody earlier must be the owner; so nobody owns a run that an earlier text has.
    """
    indexed = look_up(connection, INDEXED) or {"last": 0, "done": False}
    columns = contributions.c
    streamed = connection.execution_options(yield_per=INDEXED_AT_ONCE)
    owned = _OwnedRuns(connection)
    query = select(columns.id, columns.text, columns.text_sha256).order_by(columns.id)
    for id, text, said in streamed.execute(query):
        stray, mine = owned.take(id)
        yield from stray
        if text is None or digest_text(text) != said or not (mine or indexed["done"] or id <= indexed["last"]):
            continue
        expected = read_known(text).list_kept()
        others = expected - mine
        owners = select_owners_of(connection, list(others))
        if mine - expected or any(owners.get(run, id) >= id for run in others):
            yield f"contribution_runs: those of contribution {id} are not what its text says"
    yield from owned.take(None)[0]


class _OwnedRuns:
    """The runs of each contribution, read in the order of contributions."""

    def __init__(self, connection: Connection) -> None:
        columns = contribution_runs.c
        query = select(columns.contribution, columns.run).order_by(columns.contribution)
        rows = connection.execution_options(yield_per=INDEXED_AT_ONCE).execute(query)
        self._groups = groupby(rows, key=lambda row: row.contribution)
        self._next: tuple[int, set[int]] | None = None
        self._advance()

    def take(self, id: int | None) -> tuple[list[str], set[int]]:
        """The runs of contribution `id`, and a fault for each earlier owner that is not a contribution."""
        stray = []
        while self._next is not None and (id is None or self._next[0] < id):
            stray.append(f"contribution_runs: {self._next[0]} owns runs and is not a contribution")
            self._advance()
        if self._next is None or self._next[0] != id:
            return stray, set()
        mine = self._next[1]
        self._advance()
        return stray, mine

    def _advance(self) -> None:
        found = next(self._groups, None)
        self._next = None if found is None else (found[0], {row.run for row in found[1]})
