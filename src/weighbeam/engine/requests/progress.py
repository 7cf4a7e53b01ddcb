"""Progress of requests, selected for any number of them at once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.requests.queue import ENDED, PROGRESS_COLUMNS, number_queue
from weighbeam.engine.scoring import format_tree
from weighbeam.mechanism.base import Mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store

COLUMNS = tables.requests.c
MANY = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """A request without its text. `position` is its place in the queue; `observed` says that its answers are in."""

    id: str
    mechanism: str
    state: str
    at: float
    priority: int
    caller: str | None
    ranked: bool
    wanted: tuple[str, ...]
    round: str | None
    observed: bool
    position: int | None
    result: Mapping[str, Any] | None

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def stage(self) -> str:
        return "observed" if self.state == "taken" and self.observed else self.state


def select_progress(store: Store, ids: Collection[str], now: float) -> dict[str, Progress]:
    """By id, those that there are."""
    joined = tables.requests.outerjoin(tables.rounds, COLUMNS.round == tables.rounds.c.id)
    query = select(*PROGRESS_COLUMNS, COLUMNS.result, tables.rounds.c.state.label("outcome")).select_from(joined)
    wanted = sorted(ids)
    with store.read() as connection:
        rows = [
            row
            for start in range(0, len(wanted), MANY)
            for row in connection.execute(query.where(COLUMNS.id.in_(wanted[start : start + MANY])))
        ]
        lines = {row.mechanism for row in rows if row.state == "waiting"}
        places = {name: number_queue(connection, name, now) for name in lines}
    return {row.id: parse_progress(row, places.get(row.mechanism, {}).get(row.id)) for row in rows}


def parse_progress(row: Any, position: int | None = None) -> Progress:
    """A row of `PROGRESS_COLUMNS`, with its result and the state of its round (`outcome`) if they were looked up."""
    return Progress(
        row.id,
        row.mechanism,
        row.state,
        row.at,
        row.priority,
        row.caller,
        bool(row.ranked),
        tuple(row.wanted),
        row.round,
        getattr(row, "outcome", None) in ("observed", "scored"),
        position,
        getattr(row, "result", None),
    )


def explain_result(store: Store, progress: Progress, find: Callable[[str], Mechanism]) -> dict[str, Any] | None:
    """The result, with how its score came about and who was wanted and not asked, as long as its round is kept."""
    if progress.result is None or progress.state != "done":
        return None if progress.result is None else dict(progress.result)
    told: dict[str, Any] = {**progress.result, "explanation": None, "not_asked": []}
    try:
        mechanism = find(progress.mechanism)
        kept = select_round(store, str(progress.round), mechanism, texts=True)
        tree = mechanism.explain(kept.params, kept.observation, kept.scored, told["hotkey"])
    except WeighbeamError as fault:
        if fault.code == "store_fault":
            raise
        return told
    asked = {answer.hotkey for answer in kept.answers}
    return {**told, "explanation": format_tree(tree), "not_asked": [key for key in progress.wanted if key not in asked]}
