"""Queue the jobs of a committed round in the transaction that commits it: alerts, records of copies, its narrative."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert

from weighbeam.engine.alerts.alerts import Alerts, Level
from weighbeam.engine.outbox.metrics import count_round
from weighbeam.engine.outbox.queue import OutboxItem, insert_item
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Scored
from weighbeam.store import tables

NAMED = 10
LEVELS: Mapping[str, Level] = {"info": "info", "warning": "warning", "critical": "critical"}
Shape = Mapping[str, type | tuple[type, ...]]
ALERT: Shape = {"code": str, "severity": str, "hotkeys": (list, tuple)}
COPIES: Shape = {"hotkeys": (list, tuple), "cosine": (int, float), "overlap": (int, float)}
SENTENCES = {
    "void_round": "too few answers arrived; nothing was scored",
    "all_low_quality": "every answer was flagged as of low quality",
    "duplicate_answers": "the same answer was given by",
    "low_quality_cluster": "possibly coordinated answers of low quality by",
}


def enqueue_round_jobs(
    connection: Connection,
    round_id: str,
    at: float,
    mechanism: Mechanism,
    scored: Scored,
    sinks: Sequence[str] = (),
) -> None:
    """Within the transaction that commits the round."""
    count_round(connection, mechanism, scored)
    alerts, copies = _parse_rows(scored, "alerts", ALERT), _parse_rows(scored, "copies", COPIES)
    if alerts:
        insert_item(connection, "alerts", round_id, mechanism.name, at, {"alerts": alerts})
    if copies:
        _insert_copies(connection, round_id, at, mechanism.name, copies)
        insert_item(connection, "copies", round_id, mechanism.name, at, {"copies": copies})
    if mechanism.narrates:
        insert_item(connection, "story", round_id, mechanism.name, at, {})
    for sink in sinks:
        insert_item(connection, sink, round_id, mechanism.name, at, {})


def _parse_rows(scored: Scored, name: str, shape: Shape) -> list[dict[str, Any]]:
    """The rows of a summary that look as they should: whatever a mechanism writes there, no round is lost for it."""
    rows = scored.summary.get(name)
    sound = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, (list, tuple)) else []
    return [dict(row) for row in sound if all(isinstance(row.get(key), kind) for key, kind in shape.items())]


def _insert_copies(
    connection: Connection, round_id: str, at: float, mechanism: str, copies: Sequence[Mapping[str, Any]]
) -> None:
    rows = [
        {
            "round": round_id,
            "number": number,
            "mechanism": mechanism,
            "at": at,
            "hotkeys": list(group["hotkeys"]),
            "cosine": group["cosine"],
            "overlap": group["overlap"],
        }
        for number, group in enumerate(copies)
    ]
    connection.execute(insert(tables.copies), rows)


async def raise_alerts(alerts: Alerts, item: OutboxItem) -> None:
    """The delivery of `alerts`."""
    for alert in item.body["alerts"]:
        level = LEVELS.get(alert["severity"], "warning")
        await asyncio.to_thread(alerts.tell, alert["code"], level, format_alert(item.ref, alert), item.mechanism)


def format_alert(round_id: str, alert: Mapping[str, Any]) -> str:
    """
    >>> format_alert("r1", {"code": "duplicate_answers", "hotkeys": ["a", "b"]})
    'r1: the same answer was given by a, b'
    """
    hotkeys = alert["hotkeys"]
    more = f" and {len(hotkeys) - NAMED} more" if len(hotkeys) > NAMED else ""
    named = ", ".join(hotkeys[:NAMED]) + more
    sentence = SENTENCES.get(alert["code"], alert["code"].replace("_", " "))
    return f"{round_id}: {sentence} {named}" if sentence.endswith(" by") else f"{round_id}: {sentence}"
