"""A miner's payload, read as what it is: anything at all (spec § 1)."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.surrogates import has_lone_surrogate
from weighbeam.mechanisms.contract import Answer

MAX_PAYLOAD = 256 << 10
MOST_KEPT = 4096
Standing = Literal["ok", "unreachable", "invalid", "fault"]
STATUSES: dict[str, Standing] = {"validator_error": "fault", "malformed": "invalid", "too_large": "invalid"}


@dataclass(frozen=True, slots=True)
class Given:
    """An answer's standing, the entries that are processed, and how many more there were."""

    status: Standing
    entries: tuple[dict[str, Any], ...] = ()
    extra: int = 0


def read_payload(answer: Answer, most: int) -> Given:
    """What an answer holds. Texts beyond any use are cut: they fail their checks, and a record stays small."""
    if answer.status != "ok":
        return Given(STATUSES.get(answer.status, "unreachable"))
    payload = answer.payload
    rows = payload.get("snippets") if isinstance(payload, dict) else None
    if not isinstance(rows, list) or len(json.dumps(payload)) > MAX_PAYLOAD:
        return Given("invalid")
    return Given("ok", tuple(_read_entry(row) for row in rows[:most]), max(0, len(rows) - most))


def _read_entry(row: Any) -> dict[str, Any]:
    entry = row if isinstance(row, dict) else {}
    url = entry.get("url")
    spoilt = isinstance(url, str) and has_lone_surrogate(url)
    return {"url": None if spoilt else _cut(url), "excerpt": _cut(entry.get("excerpt"))}


def _cut(value: Any) -> str | None:
    """A text as it can be written down; half a character becomes a sign that no check lets pass."""
    if not isinstance(value, str):
        return None
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value[:MOST_KEPT])
