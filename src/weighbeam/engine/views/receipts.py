"""Receipts of scores: what an answer got and in which entry of the journal, signed by the validator."""

from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rounds.trimming import encode_payload
from weighbeam.engine.views.round_view import AnswerView, find_answer, select_round_view
from weighbeam.mechanism.records import TRIMMED
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import sign_receipt
from weighbeam.store.blobs import digest_bytes
from weighbeam.store.database import Store

KIND = "score"
NO_LIMIT = 1 << 40


def issue_receipt(store: Store, round_id: str, hotkey: str, key: Hotkey) -> dict[str, Any]:
    """Issue the receipt of one answer. It contains only the hash of the text, so that it may be shown to anyone."""
    view = select_round_view(store, round_id, withhold=False, max_payloads=NO_LIMIT)
    answer = find_answer(view, hotkey)
    if view.entry is None or answer.status is None:
        raise WeighbeamError("not_scored", f"round {view.id} is {view.state}, not scored", "ask again once it is")
    body = {
        "kind": KIND,
        "round": view.id,
        "mechanism": view.mechanism,
        "hotkey": answer.hotkey,
        "at": view.at,
        "block": view.block,
        "status": answer.status,
        "value": answer.value,
        "reasons": list(answer.reasons),
        "params_hash": view.params_hash,
        "seed": view.seed,
        "answer_sha256": _hash_whole(answer),
        "entry": view.entry.hash,
        "sequence": view.entry.sequence,
    }
    return sign_receipt(body, key)


def _hash_whole(answer: AnswerView) -> str | None:
    """Of the answer as the miner sent it, also where the journal keeps only its beginning."""
    if answer.reply == "ok" and answer.reason == TRIMMED:
        return str(answer.payload[TRIMMED]["sha256"])
    return hash_answer(answer.payload)


def hash_answer(payload: Any) -> str | None:
    """SHA-256 of an answer as the journal holds it; None if there was none.

    >>> hash_answer({"b": 1, "a": "é"}) == digest_bytes(b'{"a":"\\\\u00e9","b":1}')
    True
    """
    return None if payload is None else digest_bytes(encode_payload(payload))
