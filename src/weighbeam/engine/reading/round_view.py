"""One round with all that a page about it needs, read from its record and not scored again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.reading.answers import AnswerView, view_answers
from weighbeam.engine.reading.round_record import Entry, Record, read_record
from weighbeam.engine.reading.rounds import Kind, name_kind
from weighbeam.engine.reading.withhold import withhold_texts
from weighbeam.mechanisms.contract import Observation, Scored
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob
from weighbeam.store.database import Store

MOST_PAYLOADS = 1 << 20


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round. `withheld`: it is a user's, and neither question nor answers are told."""

    id: str
    mechanism: str
    kind: Kind
    state: str
    at: float
    block: int
    seed: str | int
    params: Mapping[str, Any]
    params_hash: str
    departed: tuple[str, ...]
    entry: Entry | None
    withheld: bool
    task: Mapping[str, Any] | None
    members: tuple[str, ...]
    extra: tuple[str, ...]
    ranked: bool
    answers: tuple[AnswerView, ...]
    summary: Mapping[str, Any] | None
    narrative: str | None
    narrator: str | None
    heatmap: bool


def read_round_view(store: Store, round_id: str, withhold: bool, most_payloads: int = MOST_PAYLOADS) -> RoundView:
    """A round in any state; with `withhold`, an organic one without its texts.

    Answers are given whole while all of them together have no more than `most_payloads` bytes.
    """
    with store.read() as connection:
        record = read_record(connection, round_id)
        told = _read_told(connection, round_id)
        best = _find_best(connection, record)
    hidden = withhold and record.is_organic
    body, task, answers = record.body, record.task, view_answers(record, best, hidden, most_payloads)
    summary = None if record.scored is None else record.scored["summary"]
    narrative = told.get("narrative")
    return RoundView(
        id=record.row.id,
        mechanism=record.row.mechanism,
        kind=name_kind(record.row.mechanism, record.is_organic),
        state=record.row.state,
        at=record.row.at,
        block=record.row.block,
        seed=body["seed"],
        params=body["params"],
        params_hash=body["params_hash"],
        departed=tuple(body["departed"]),
        entry=record.entry,
        withheld=hidden,
        task=None if hidden else task["body"],
        members=tuple(task["members"]),
        extra=tuple(task["extra"]),
        ranked=task["ranked"],
        answers=answers,
        summary=withhold_texts(summary, {one.hotkey for one in answers}) if hidden else summary,
        narrative=None if hidden or narrative is None else _point_here(narrative[0], told, round_id),
        narrator=None if hidden or narrative is None else narrative[1],
        heatmap="heatmap" in told,
    )


def _point_here(narrative: str, told: Mapping[str, tuple[str, str]], round_id: str) -> str:
    """Where the picture is for whoever reads over HTTP, and not on which disk."""
    picture = told.get("heatmap")
    return narrative if picture is None else narrative.replace(picture[0], f"/v1/rounds/{round_id}/heatmap.png")


def find_answer(view: RoundView, hotkey: str) -> AnswerView:
    """What one miner got in a round; `unknown_hotkey` if it was not asked."""
    for answer in view.answers:
        if answer.hotkey == hotkey:
            return answer
    told = f"{hotkey[:100]!r} has no answer in {view.id}"
    raise WeighbeamError("unknown_hotkey", told, "see whom the round asked")


def is_asked(store: Store, round_id: str) -> bool:
    """Whether a round answers somebody's question."""
    columns = tables.requests.c
    with store.read() as connection:
        return connection.execute(select(columns.id).where(columns.round == round_id).limit(1)).first() is not None


def is_asker(store: Store, round_id: str, caller: str) -> bool:
    """Whether a round answers a question of this caller."""
    columns = tables.requests.c
    query = select(columns.id).where(columns.round == round_id, columns.caller == caller).limit(1)
    with store.read() as connection:
        return connection.execute(query).first() is not None


def _read_told(connection: Connection, round_id: str) -> dict[str, tuple[str, str]]:
    """What was told of a round after it: by kind, the text or place, and who told it."""
    columns = tables.extras.c
    query = select(columns.kind, columns.value, columns.maker).where(columns.round == round_id)
    return {row.kind: (row.value, row.maker) for row in connection.execute(query) if row.value is not None}


def _find_best(connection: Connection, record: Record) -> str | None:
    """Whose answer a user would be given; nobody's if the mechanism of the time is not installed."""
    if record.scored is None:
        return None
    try:
        mechanism = load_mechanism(record.row.mechanism)
        params = make_params(mechanism, record.body["params"])
        observation = Observation.unpack(read_blob(connection, record.body["observation"]))
        return mechanism.best(params, observation, Scored.from_json(record.scored))
    except WeighbeamError as fault:
        if fault.code in ("unknown_mechanism", "broken_mechanism", "bad_params"):
            return None
        raise
