"""Parse a miner's payload, which may be anything (spec § 1)."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.text import LONE_SURROGATE, has_lone_surrogate
from weighbeam.mechanism.records import Answer
from weighbeam.mechanisms.evidence.excerpt.checks import REPLACEMENT

MAX_PAYLOAD = 256 << 10
MAX_KEPT = 4096
PayloadStatus = Literal["ok", "unreachable", "invalid", "fault"]
STATUSES: dict[str, PayloadStatus] = {"validator_error": "fault", "malformed": "invalid", "too_large": "invalid"}


@dataclass(frozen=True, slots=True)
class ParsedPayload:
    """An answer's standing, the entries that are processed, and how many more there were."""

    status: PayloadStatus
    entries: tuple[dict[str, Any], ...] = ()
    extra: int = 0


def parse_payload(answer: Answer, limit: int) -> ParsedPayload:
    """Parse an answer. Overlong texts are cut: they fail their checks anyway, and records stay small. Half a
    character, which no record can hold, removes a URL and makes an excerpt fail every check.
    """
    if answer.status != "ok":
        return ParsedPayload(STATUSES.get(answer.status, "unreachable"))
    payload = answer.payload
    rows = payload.get("snippets") if isinstance(payload, dict) else None
    if not isinstance(rows, list) or _is_too_much(payload):
        return ParsedPayload("invalid")
    return ParsedPayload("ok", tuple(_parse_entry(row) for row in rows[:limit]), max(0, len(rows) - limit))


def _is_too_much(payload: object) -> bool:
    """As it would be written in UTF-8; what is nested beyond writing is too much as well."""
    try:
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError):
        return True
    return len(text.encode("utf-8", "surrogatepass")) > MAX_PAYLOAD


def _parse_entry(row: Any) -> dict[str, Any]:
    entry = row if isinstance(row, dict) else {}
    url, excerpt = _cut(entry.get("url")), _cut(entry.get("excerpt"))
    if url is not None and has_lone_surrogate(url):
        url = None
    return {"url": url, "excerpt": None if excerpt is None else LONE_SURROGATE.sub(REPLACEMENT, excerpt)}


def _cut(value: Any) -> str | None:
    return value[:MAX_KEPT] if isinstance(value, str) else None
