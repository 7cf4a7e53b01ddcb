"""One round with its answers, read from its record and not scored again; texts of users can be withheld."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rounds.trimming import encode_payload
from weighbeam.engine.views.rounds import Kind, is_collected, name_kind
from weighbeam.mechanism.params import recall_params
from weighbeam.mechanism.records import Observation, Scored
from weighbeam.mechanism.registry import UNUSABLE, load_mechanism
from weighbeam.store import tables
from weighbeam.store.blobs import select_blob
from weighbeam.store.database import Store

KEY = re.compile(r"[a-z0-9_]{1,40}", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
WITHHELD = "withheld"


def withhold_texts(value: Any, known: Collection[str]) -> Any:
    """The same record with its numbers, and of its texts only hashes and those that are `known`, such as hotkeys.

    A key stays if it is known, or looks like a field's name and not like a host or a sentence.

    >>> withhold_texts({"similarity": 0.5, "said": "my secret", "by": "5Alice"}, {"5Alice"})
    {'similarity': 0.5, 'said': 'withheld', 'by': '5Alice'}
    """
    if isinstance(value, str):
        return value if value in known or DIGEST.fullmatch(value) else WITHHELD
    if isinstance(value, Mapping):
        named = {str(key): inner for key, inner in value.items()}
        return {key: withhold_texts(inner, known) for key, inner in named.items() if key in known or KEY.fullmatch(key)}
    if isinstance(value, (list, tuple)):
        return [withhold_texts(inner, known) for inner in value]
    return value


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A round's place in the chain of the journal."""

    sequence: int
    hash: str
    previous: str


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """`scored` is None until the round is; `answers` are rows as `journal.write_answers` writes them."""

    row: Row[Any]
    body: Mapping[str, Any]
    task: Mapping[str, Any]
    answers: list[list[Any]]
    entry: JournalEntry | None
    scored: Mapping[str, Any] | None

    @property
    def is_organic(self) -> bool:
        return bool(self.task["kind"] == "organic")


def select_round_record(connection: Connection, round_id: str) -> RoundRecord:
    """Everything of a round but its observation; `unknown_round` if it is not here, or not any more."""
    row = connection.execute(select(tables.rounds).where(tables.rounds.c.id == round_id)).one_or_none()
    if row is None:
        raise _refuse(connection, round_id)
    body = json.loads(select_blob(connection, row.body))
    task, answers = (json.loads(select_blob(connection, body[name])) for name in ("task", "answers"))
    entry, scored = _select_outcome(connection, round_id)
    return RoundRecord(row, body, task, answers, entry, scored)


def _select_outcome(connection: Connection, round_id: str) -> tuple[JournalEntry | None, Mapping[str, Any] | None]:
    columns = tables.entries.c
    query = select(tables.entries).where(columns.kind == "round", columns.ref == round_id)
    found = connection.execute(query).one_or_none()
    if found is None:
        return None, None
    outcome = json.loads(select_blob(connection, found.body))
    return JournalEntry(found.sequence, found.hash, found.previous), outcome["scored"]


def _refuse(connection: Connection, round_id: str) -> WeighbeamError:
    oldest = connection.execute(select(tables.rounds.c.id).order_by(tables.rounds.c.at).limit(1)).scalar()
    cleaned = connection.execute(select(tables.checkpoints.c.sequence).limit(1)).first() is not None
    told = f"no round is called {round_id[:100]!r}"
    if cleaned:
        told += f"; it may have been removed: the oldest round kept is {oldest}"
    return WeighbeamError("unknown_round", told, "see weighbeam journal rounds or /v1/rounds")


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Answer and score of one miner. `payload` is None if it is withheld or too large for a page.

    `status` is None while the round is not scored.
    """

    hotkey: str
    uid: int | None
    reply: str
    reason: str | None
    seconds: float
    status: Literal["valid", "failed", "unscored"] | None
    value: float | None
    reasons: tuple[str, ...]
    parts: Mapping[str, Any] | None
    best: bool
    payload: Any
    payload_bytes: int
    name: str | None = None


def view_answers(record: RoundRecord, best: str | None, hidden: bool, limit: int) -> tuple[AnswerView, ...]:
    """In the order asked; payloads while all of them together have no more than `limit` bytes."""
    scores = {} if record.scored is None else {row["hotkey"]: row for row in record.scored["scores"]}
    hotkeys, left, views = {row[0] for row in record.answers}, limit, []
    for hotkey, uid, reply, seconds, payload, reason, _ in record.answers:
        score = scores.get(hotkey, {})
        size = 0 if payload is None else len(encode_payload(payload))
        left -= size
        parts = score.get("parts")
        views.append(
            AnswerView(
                hotkey=hotkey,
                uid=uid,
                reply=reply,
                reason=reason,
                seconds=seconds,
                status=score.get("status"),
                value=score.get("value"),
                reasons=tuple(score.get("reasons", ())),
                parts=withhold_texts(parts, hotkeys) if hidden else parts,
                best=hotkey == best,
                payload=None if hidden or left < 0 else payload,
                payload_bytes=size,
            )
        )
    return tuple(views)


MAX_PAYLOADS = 1 << 20


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round. `withheld`: it is a user's, and question and answers are hidden.

    `void`: none of its answers counts. `lateness` is the delay of our own machine, if that is the reason.
    """

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
    entry: JournalEntry | None
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
    void: bool = False
    lateness: Mapping[str, Any] | None = None

    @property
    def outcome(self) -> str:
        """The state for people: a void round was scored, but does not look like one."""
        return "void" if self.void else self.state


def select_round_view(store: Store, round_id: str, withhold: bool, max_payloads: int = MAX_PAYLOADS) -> RoundView:
    """A round in any state; with `withhold`, an organic one without its texts.

    Answers are given whole while all of them together have no more than `max_payloads` bytes.
    """
    with store.read() as connection:
        record = select_round_record(connection, round_id)
        told = _select_extras(connection, round_id)
        best = _choose_best(connection, record)
    hidden = withhold and record.is_organic
    body, task, answers = record.body, record.task, view_answers(record, best, hidden, max_payloads)
    summary = None if record.scored is None else record.scored["summary"]
    narrative = told.get("narrative")
    return RoundView(
        id=record.row.id,
        mechanism=record.row.mechanism,
        kind=name_kind(record.is_organic, is_collected(task)),
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
        void=bool(answers) and all(one.status == "unscored" for one in answers),
        lateness=body.get("lateness"),
    )


def _point_here(narrative: str, told: Mapping[str, tuple[str, str]], round_id: str) -> str:
    """URL of the picture instead of its place on disk."""
    picture = told.get("heatmap")
    return narrative if picture is None else narrative.replace(picture[0], f"/v1/rounds/{round_id}/heatmap.png")


def find_answer(view: RoundView, hotkey: str) -> AnswerView:
    """Find a miner's answer in a round; `unknown_hotkey` if it was not asked."""
    for answer in view.answers:
        if answer.hotkey == hotkey:
            return answer
    told = f"{hotkey[:100]!r} has no answer in {view.id}"
    raise WeighbeamError("unknown_hotkey", told, "see which miners the round asked")


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


def _select_extras(connection: Connection, round_id: str) -> dict[str, tuple[str, str]]:
    """Extras of a round added after it: by kind, the text or place, and its author."""
    columns = tables.extras.c
    query = select(columns.kind, columns.value, columns.maker).where(columns.round == round_id)
    return {row.kind: (row.value, row.maker) for row in connection.execute(query) if row.value is not None}


def _choose_best(connection: Connection, record: RoundRecord) -> str | None:
    """The answer that a user would get; none if the round's mechanism is not installed."""
    if record.scored is None:
        return None
    try:
        mechanism = load_mechanism(record.row.mechanism)
        params = recall_params(mechanism, record.body["params"])
        observation = Observation.unpack(select_blob(connection, record.body["observation"]))
        return mechanism.best(params, observation, Scored.from_json(record.scored))
    except WeighbeamError as fault:
        if fault.code in UNUSABLE | {"unknown_mechanism", "bad_params"}:
            return None
        raise
