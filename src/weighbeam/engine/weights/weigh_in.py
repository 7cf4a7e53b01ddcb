"""One weigh-in: settle open submissions, read the chain, decide, record the decision, and submit it through the
ledger.
"""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection

from weighbeam.chain.contract import ChainFault
from weighbeam.core.canonical import canonical_json
from weighbeam.engine.journal.hash_chain import append_entry
from weighbeam.engine.journal.projections import select_standings
from weighbeam.engine.rules.averages import stand_by_averages
from weighbeam.engine.rules.constants import hash_weighing
from weighbeam.engine.rules.decision import Burn, Decision
from weighbeam.engine.rules.intents import REACHED, WeightsIntent, WeightsPlan
from weighbeam.engine.rules.mode import Mode
from weighbeam.engine.support.process import run_in_thread
from weighbeam.engine.support.spans import trace
from weighbeam.engine.weights.assessment import (
    ChainSnapshot,
    WeighInAssessment,
    WeighInContext,
    assess,
    estimate_age,
    fetch_snapshot,
    is_late,
    name_blocks,
    recall_age,
)
from weighbeam.engine.weights.audit import insert_audit
from weighbeam.engine.weights.emissions import update_folds
from weighbeam.engine.weights.metrics import note_weighed
from weighbeam.store.blobs import insert_blobs
from weighbeam.store.memory import note


@dataclass(frozen=True, slots=True)
class WeighInResult:
    """Result of a weigh-in. `settled` is an older submission that was settled, `reading` the chain snapshot used."""

    decision: Decision
    mode: Mode
    excluded: Mapping[str, str]
    submission: WeightsIntent | None
    settled: WeightsIntent | None = None
    fault: ChainFault | None = None
    list_ok: bool = True
    future: int = 0
    burn: Burn | None = None
    late: bool = False
    reading: ChainSnapshot | None = None


async def weigh_in(context: WeighInContext, now: float) -> WeighInResult:
    """Decide and submit. A decision is in the journal before anything is sent."""
    settled = None
    with suppress(ChainFault):
        settled = await context.ledger.settle(context.chain, context.own_hotkey)
    with trace("read_chain", mechanism=context.mechanism.name):
        reading = await fetch_snapshot(context)
    assessed, entry = await run_in_thread(_decide, context, reading, now)
    submission = None
    if assessed.decision.action == "submit":
        with trace("submit", mechanism=context.mechanism.name) as span:
            submission = await _submit(context, assessed, reading, entry, now)
            if submission is not None:
                span.note(state=submission.state, reason=submission.reason)
    return WeighInResult(
        assessed.decision,
        assessed.mode,
        assessed.eligible.excluded,
        submission,
        settled,
        reading.fault,
        assessed.eligible.list_ok,
        assessed.future,
        assessed.weighing.burn,
        is_late(reading),
        reading,
    )


def _decide(context: WeighInContext, reading: ChainSnapshot, now: float) -> tuple[WeighInAssessment, str]:
    """Assess and write down in one transaction."""
    estimate = estimate_age(context, reading, now)
    with context.journal.store.write() as connection:
        assessed = assess(connection, context, reading, estimate, now)
        return assessed, _insert_entry(connection, context, assessed)


async def preview(context: WeighInContext, now: float, close: bool = False) -> tuple[ChainSnapshot, WeighInAssessment]:
    """Preview a weigh-in; nothing is written or sent."""
    reading = await fetch_snapshot(context)
    if close:
        await context.chain.close()
    with context.journal.store.read() as connection:
        return reading, assess(connection, context, reading, recall_age(context, now), now)


async def _submit(
    context: WeighInContext, assessed: WeighInAssessment, reading: ChainSnapshot, entry: str, now: float
) -> WeightsIntent | None:
    waiting = await asyncio.to_thread(context.ledger.unsettled)
    if waiting is not None:
        detail = {"submission": waiting.id, "state": waiting.state, "sealed": _is_sealed(waiting, reading)}
        await asyncio.to_thread(_note, context, assessed, now, "skip", "submission_open", detail)
        return None
    plan = _plan(context, assessed, reading, entry)
    planned = await asyncio.to_thread(context.ledger.plan, plan, now)
    submission = await context.ledger.send(planned, context.chain)
    with suppress(ChainFault):
        submission = await context.ledger.settle(context.chain, context.own_hotkey) or submission
    kind = "failed" if submission.state in ("failed", "unknown") else "submitted"
    detail = {"submission": submission.id, "state": submission.state}
    await asyncio.to_thread(_note, context, assessed, now, kind, submission.reason, detail, has_landed(submission))
    return submission


def has_landed(row: WeightsIntent | None) -> bool:
    """Whether the chain took it, so that our weights are as old as its block."""
    return row is not None and row.state in REACHED


def _is_sealed(row: WeightsIntent, reading: ChainSnapshot) -> bool:
    """Whether a commit only waits for its reveal, which is not due before the end of this epoch."""
    sealed = row.state == "included" and row.plan["commit_reveal"]
    return bool(sealed and reading.rules is not None and row.count_due(reading.rules.epoch_index) <= 0)


def _note(
    context: WeighInContext,
    assessed: WeighInAssessment,
    now: float,
    kind: str,
    reason: str | None,
    detail: Mapping[str, Any],
    landed: bool = False,
) -> None:
    """A line of the audit trail; what landed makes our weights new, whatever was read before it was sent."""
    with context.journal.store.write() as connection:
        insert_audit(connection, now, kind, context.mechanism.name, assessed.mode.mode, reason, detail)
        if landed:
            note(connection, name_blocks(context.mechanism.name), {"blocks": 0, "at": now})


def _insert_entry(connection: Connection, context: WeighInContext, assessed: WeighInAssessment) -> str:
    """The decision and all it rests on, as a link of the journal; a skip leaves a line in the audit trail too."""
    name, decision = context.mechanism.name, assessed.decision
    if assessed.averages and assessed.mode.lookback:
        update_folds(connection, name, assessed.averages, assessed.weighing.now, context.averaging)
    body: dict[str, Any] = {
        "mechanism": name,
        "params": context.params.model_dump(mode="json"),
        "weighing": assessed.weighing.as_json(),
        "decision": asdict(decision),
    }
    (digest,) = insert_blobs(connection, [canonical_json(body)])
    if decision.action == "skip":
        counts = {"eligible": len(assessed.eligible.hotkeys), "excluded": len(assessed.eligible.excluded)}
        detail = {"counts": counts, "stale": list(decision.stale), "blocks": assessed.mode.blocks}
        insert_audit(connection, assessed.weighing.now, "skip", name, assessed.mode.mode, decision.reason, detail)
    averaged = context.mechanism.rule.standing == "emissions"
    kept = select_standings(connection, name)
    standings = stand_by_averages(assessed.averages, kept) if averaged else kept
    note_weighed(connection, context.mechanism, context.params, standings, assessed.weighing, decision)
    return append_entry(connection, "weigh_in", secrets.token_hex(16), digest)[1]


def _plan(context: WeighInContext, assessed: WeighInAssessment, reading: ChainSnapshot, entry: str) -> WeightsPlan:
    graph, rules = reading.graph, reading.rules
    assert graph is not None
    assert rules is not None
    own = graph.find(context.own_hotkey)
    holder = {neuron.uid: neuron for neuron in graph.neurons}
    return WeightsPlan(
        uids=assessed.decision.uids,
        values=assessed.decision.values,
        holders=tuple((holder[uid].hotkey, holder[uid].registered_at) for uid in assessed.decision.uids),
        version_key=context.version_key,
        reveal_period=rules.reveal_period,
        block=graph.block,
        epoch=rules.epoch_index,
        last_update_before=own.last_update if own else 0,
        commit_reveal=rules.commit_reveal,
        mode=assessed.mode.mode,
        params_hash=hash_weighing(context.mechanism.name, context.params.model_dump(mode="json"), context.averaging),
        entry=entry,
        period=context.chain.period,
    )
