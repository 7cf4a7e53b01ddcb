"""Queue the jobs of a committed round in the transaction that commits it: alerts, faults of its mechanism, records of
copies, its narrative.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert

from weighbeam.core.canonical import canonical_json
from weighbeam.engine.alerts.alerts import Alerts, Level, neutralise
from weighbeam.engine.alerts.notices import is_open
from weighbeam.engine.outbox.metrics import count_round
from weighbeam.engine.outbox.queue import OutboxItem, insert_item
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Observation, Scored
from weighbeam.mechanism.untrusted import put_on_one_line
from weighbeam.store import tables
from weighbeam.store.seals import seal_new

NAMED = 10
FAULT = "mechanism_fault"
MAX_FAULT = 300
LEVELS: Mapping[str, Level] = {"info": "info", "warning": "warning", "critical": "critical"}
Shape = Mapping[str, type | tuple[type, ...]]
ALERT: Shape = {"code": str, "severity": str, "hotkeys": (list, tuple)}
COPIES: Shape = {"hotkeys": (list, tuple), "cosine": (int, float), "overlap": (int, float)}
SENTENCES = {
    "void_round": "too few answers arrived, so nothing was scored",
    "all_low_quality": "every answer was flagged as low quality",
    "duplicate_answers": "the same answer came from",
    "low_quality_cluster": "possibly coordinated low-quality answers by",
}


def enqueue_round_jobs(
    connection: Connection,
    round_id: str,
    at: float,
    mechanism: Mechanism,
    scored: Scored,
    sinks: Sequence[str] = (),
    fault: str | None = None,
    void: bool = False,
) -> None:
    """Enqueue jobs in the transaction that commits the round; `fault` explains unscored answers.

    A round that is `void` because our machine was late says nothing about miners or mechanism; its alert exists.
    """
    if not void:
        count_round(connection, mechanism, scored)
        _enqueue_alerts(connection, round_id, at, mechanism, scored, fault)
        if mechanism.narrates:
            insert_item(connection, "story", round_id, mechanism.name, at, {})
    for sink in sinks:
        insert_item(connection, sink, round_id, mechanism.name, at, {})


def _enqueue_alerts(
    connection: Connection, round_id: str, at: float, mechanism: Mechanism, scored: Scored, fault: str | None
) -> None:
    alerts, copies = _parse_rows(scored, "alerts", ALERT), _parse_rows(scored, "copies", COPIES)
    over = fault is None and is_open(connection, FAULT, mechanism.name)
    if alerts or over or fault is not None:
        level = "warning" if any(score.status == "valid" for score in scored.scores) else "critical"
        body = {"alerts": alerts, "fault": fault, "level": level, "over": over}
        insert_item(connection, "alerts", round_id, mechanism.name, at, body)
    if copies:
        _insert_copies(connection, round_id, at, mechanism.name, copies)
        insert_item(connection, "copies", round_id, mechanism.name, at, {"copies": copies})


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
    seal_new(connection, tables.copies, [(round_id, number) for number in range(len(rows))])


async def raise_alerts(alerts: Alerts, item: OutboxItem) -> None:
    """The delivery of `alerts`."""
    for alert in item.body["alerts"]:
        level = LEVELS.get(alert["severity"], "warning")
        await asyncio.to_thread(alerts.tell, alert["code"], level, format_alert(item.ref, alert), item.mechanism)
    if (fault := item.body.get("fault")) is not None:
        await asyncio.to_thread(alerts.tell, FAULT, LEVELS[item.body["level"]], f"{item.ref}: {fault}", item.mechanism)
    if item.body.get("over"):
        await asyncio.to_thread(alerts.end, {FAULT: f"{item.ref} has no such fault"}, item.mechanism)


def find_fault(mechanism: Mechanism, params: Params, observation: Observation, scored: Scored) -> str | None:
    """Why answers that arrived are unscored: what `measure` or `grade` raised; None if neither did.

    A mechanism with an `observe` or `score` of its own says in its reasons what it could not judge.
    """
    kind = type(mechanism)
    if kind.observe is not Mechanism.observe:
        return None
    rows = observation.facts["rows"]
    unmeasured = [row for row in rows if row["status"] == "validator_error" and row["reason"] is not None]
    unscored = {score.hotkey for score in scored.scores if score.status == "unscored"}
    graded = [row for row in rows if row["facts"] is not None] if kind.score is Mechanism.score else []
    ungraded = [row for row in graded if row["hotkey"] in unscored]
    if unmeasured:
        raised = f"measure raised {unmeasured[0]['reason']}"
    elif ungraded:
        raised = f"grade {_find_grade_fault(mechanism, params, ungraded[0]['facts'])}"
    else:
        return None
    told = f"{len(unmeasured) + len(ungraded)} of {len(rows)} answers are unscored: {raised}"
    return neutralise(put_on_one_line(told), MAX_FAULT)


def _find_grade_fault(mechanism: Mechanism, params: Params, facts: Mapping[str, Any]) -> str:
    """Find the fault by calling `grade` again: it is pure, so it raises the same exception."""
    try:
        parts = dict(mechanism.grade(params, facts))
        canonical_json([mechanism.recompute(parts), parts])
    except (Exception, SystemExit) as fault:
        return f"raised {type(fault).__name__}: {fault}"
    return "returned no usable number"


def format_alert(round_id: str, alert: Mapping[str, Any]) -> str:
    """
    >>> format_alert("r1", {"code": "duplicate_answers", "hotkeys": ["a", "b"]})
    'r1: the same answer came from a, b'
    """
    hotkeys = alert["hotkeys"]
    more = f" and {len(hotkeys) - NAMED} more" if len(hotkeys) > NAMED else ""
    named = ", ".join(hotkeys[:NAMED]) + more
    sentence = SENTENCES.get(alert["code"], alert["code"].replace("_", " "))
    return f"{round_id}: {sentence} {named}" if sentence.endswith((" by", " from")) else f"{round_id}: {sentence}"
