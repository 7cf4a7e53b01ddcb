"""A committed round, read back from the journal."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Answer, Mechanism, Observation, Params, Scored
from weighbeam.mechanisms.make_params import make_params
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob, read_blobs
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class KeptRound:
    """A committed round as the journal holds it."""

    params: Params
    observation: Observation
    scored: Scored
    answers: tuple[Answer, ...]


def read_round(store: Store, round_id: str, mechanism: Mechanism, texts: bool = False) -> KeptRound:
    """A round from the journal, scored again: pure, so it is what was committed; with its texts, if wanted."""
    with store.read() as connection:
        digest = connection.scalar(select(tables.rounds.c.body).where(tables.rounds.c.id == round_id))
        if digest is None:
            raise WeighbeamError("unknown_round", f"no round is called {round_id!r}", "see weighbeam rounds")
        body = json.loads(read_blob(connection, digest))
        said = _read_texts(connection, round_id, body) if texts else {}
        observation = Observation.unpack(read_blob(connection, body["observation"]), said)
        answers = json.loads(read_blob(connection, body["answers"]))
    params = make_params(mechanism, body["params"])
    return KeptRound(params, observation, mechanism.score(params, observation), tuple(map(_read_answer, answers)))


def find_mechanism(store: Store, round_id: str) -> str:
    """Whose round it is; `unknown_round` if nobody's that was scored."""
    columns = tables.rounds.c
    query = select(columns.mechanism).where(columns.id == round_id, columns.state == "scored")
    with store.read() as connection:
        name = connection.scalar(query)
    if name is None:
        raise WeighbeamError("unknown_round", f"no scored round is called {round_id!r}", "see weighbeam rounds")
    return str(name)


def _read_texts(connection: Connection, round_id: str, body: Mapping[str, Any]) -> dict[str, str]:
    """By digest, everything a round refers to that is a text; an outcome among them is harmless."""
    links = tables.round_blobs.c
    known = {body["task"], body["answers"], body["observation"]}
    digests = set(connection.scalars(select(links.digest).where(links.round == round_id))) - known
    found = read_blobs(connection, digests)
    return {digest: content.decode("utf-8", "surrogatepass") for digest, content in found.items()}


def _read_answer(row: list[Any]) -> Answer:
    hotkey, uid, status, seconds, payload, reason, proof = row
    return Answer(hotkey, payload, seconds, status, uid, reason, proof)
