"""Records of a journal as rows of the export's tables. Nothing is computed again and no mechanism is loaded, so the
journal of a stranger, or of a mechanism that is not installed here, is exported like any other.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Row

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.export.schema import TABLES, Unsuitable
from weighbeam.engine.journal.fold import RecordedEntry

Values = tuple[Any, ...]
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def list_entry_rows(entry: RecordedEntry) -> Iterator[tuple[str, Values]]:
    """Rows of one entry, each with the name of its table; `bad_record` if the entry is not one that we write."""
    with _explain_record(f"entry {entry.sequence}"):
        rows = _list_round_rows(entry) if entry.kind == "round" else _list_weigh_in_rows(entry)
        for name, given in rows:
            yield name, _suit(name, given)


def make_submission_row(row: Row[Any]) -> Values:
    """One submission of the ledger; `bad_record` if it is not one that we write."""
    with _explain_record(f"submission {row.id}"):
        plan = row.plan
        return _suit(
            "submissions",
            {
                **row._mapping,
                "unix_time": row.at,
                "message": plan.get("message"),
                "mode": plan.get("mode"),
                "block": plan.get("block"),
                "entry_hash": plan.get("entry"),
                "uids": [uid for uid, _ in row.row],
                "weights": [value for _, value in row.row],
                "hotkeys": [holder[0] for holder in plan.get("holders", ())],
                "plan": plan,
            },
        )


def _list_round_rows(entry: RecordedEntry) -> Iterator[tuple[str, Mapping[str, Any]]]:
    body, outcome = entry.body, json.loads(entry.load(entry.digest))
    task, answers = json.loads(entry.load(body["task"])), json.loads(entry.load(body["answers"]))
    scored, summary = outcome["scored"]["scores"], outcome["scored"]["summary"]
    statuses, emissions = [score["status"] for score in scored], summary.get("emissions", {})
    named = {"entry": entry.sequence, "round": entry.ref, "mechanism": body["mechanism"], "unix_time": body["at"]}
    yield (
        "rounds",
        {
            **body,
            **named,
            "hash": entry.hash,
            "lateness": body.get("lateness"),
            "task_id": task["id"],
            "task_kind": task["kind"],
            "ranked": task.get("ranked", True),
            "task": task["body"],
            "asked": len(answers),
            "valid": statuses.count("valid"),
            "unscored": statuses.count("unscored"),
            "void": 0 < len(statuses) == statuses.count("unscored"),
            "summary": summary,
        },
    )
    for position, (hotkey, uid, status, seconds, payload, reason, proof) in enumerate(answers):
        given = {"uid": uid, "status": status, "seconds": seconds, "payload": payload, "reason": reason, "proof": proof}
        yield "answers", {**named, "position": position, "hotkey": hotkey, **given}
    for position, score in enumerate(scored):
        yield "scores", {**named, "position": position, **score, "emission": emissions.get(score["hotkey"])}
    for position, (hotkey, value, detail) in enumerate(outcome["standings"]):
        yield "standings", {**named, "position": position, "hotkey": hotkey, "value": value, "detail": detail}


def _list_weigh_in_rows(entry: RecordedEntry) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """One row for the decision, and one for each miner that could be paid."""
    body, weighing, decision = entry.body, entry.body["weighing"], entry.decision or {}
    named = {
        "entry": entry.sequence,
        "weigh_in": entry.ref,
        "mechanism": body["mechanism"],
        "unix_time": weighing["now"],
    }
    yield (
        "weigh_ins",
        {
            **named,
            "hash": entry.hash,
            "action": decision.get("action"),
            "reason": decision.get("reason"),
            "mode": weighing["mode"],
            "blocks": weighing["blocks"],
            "uniform": decision.get("uniform"),
            "eligible": len(weighing["payees"]),
            "stale": decision.get("stale", ()),
            "burn": weighing.get("burn"),
            "params": body["params"],
        },
    )
    shares, sent = (
        decision.get("weights", {}),
        dict(zip(decision.get("uids", ()), decision.get("values", ()), strict=True)),
    )
    for position, (hotkey, uid, raw, last_success_at) in enumerate(weighing["payees"]):
        given = {"raw": raw, "last_success_at": last_success_at, "weight": shares.get(hotkey), "value": sent.get(uid)}
        yield "weights", {**named, "position": position, "hotkey": hotkey, "uid": uid, **given}


def _suit(name: str, given: Mapping[str, Any]) -> Values:
    return tuple(column.suit(given[column.name]) for column in TABLES[name])


@contextmanager
def _explain_record(which: str) -> Iterator[None]:
    """A record that is not one of ours is named by its number: what it says is not repeated."""
    try:
        yield
    except MALFORMED as fault:
        why = str(fault) if isinstance(fault, Unsuitable) else "a part is missing or has another form"
        told = f"{which} of the journal cannot be exported: {why}"
        raise WeighbeamError("bad_record", told, "see weighbeam replay, and restore a backup") from None
