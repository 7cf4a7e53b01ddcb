"""What each miner said in a round, and what it got."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.engine.reading.round_record import Record
from weighbeam.engine.reading.withhold import withhold_texts


@dataclass(frozen=True, slots=True)
class AnswerView:
    """What one miner said and got. `payload` is None if it is withheld or too much for a page.

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


def view_answers(record: Record, best: str | None, hidden: bool, most: int) -> tuple[AnswerView, ...]:
    """In the order asked; payloads while all of them together have no more than `most` bytes."""
    scores = {} if record.scored is None else {row["hotkey"]: row for row in record.scored["scores"]}
    hotkeys, left, views = {row[0] for row in record.answers}, most, []
    for hotkey, uid, reply, seconds, payload, reason, _ in record.answers:
        score = scores.get(hotkey, {})
        size = 0 if payload is None else len(write_payload(payload))
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


def write_payload(payload: Any) -> bytes:
    """An answer's bytes in the journal: JSON in ASCII with sorted keys and no blanks."""
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
