"""The submission ledger: an intent is durable before the call, and an unknown outcome is settled by reading the chain.

    planned → sent → included → confirmed        sent → unknown → confirmed | included | failed        any → failed

Never more than one row per mechanism is planned, sent or unknown, so nothing is ever sent twice.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, or_, select, update

from weighbeam.chain.contract import Chain, ChainFault, ChainRules, Metagraph, StoredWeights, SubmissionReceipt
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.stats import to_u16
from weighbeam.engine.rules.intents import OPEN, REACHED, UNSETTLED, State, WeightsIntent, WeightsPlan, judge
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import insert_sealed, sealing

MAX_BLOCKS = 10


class Ledger:
    """The intents of one mechanism. `fence` fails in the transaction of a step that only one process may take."""

    def __init__(self, store: Store, mechanism: str, fence: Callable[[Connection], None] = lambda _: None) -> None:
        self.store = store
        self.mechanism = mechanism
        self._fence = fence

    def rows(self, limit: int | None = None) -> list[WeightsIntent]:
        """The intents, oldest first; with `limit`, the newest of them only."""
        columns = tables.submissions.c
        query = select(tables.submissions).where(columns.mechanism == self.mechanism).order_by(columns.id.desc())
        with self.store.read() as connection:
            return [_parse_intent(row) for row in connection.execute(query.limit(limit))][::-1]

    def unsettled(self) -> WeightsIntent | None:
        """The newest row whose fate is not known yet, if there is one."""
        return self._newest(UNSETTLED)

    def last_submitted_at(self) -> float | None:
        """When the newest row that reached the chain was planned."""
        row = self._newest(REACHED)
        return None if row is None else row.at

    def last_included_block(self) -> int | None:
        """Where the newest row that reached the chain was included, if that is known."""
        row = self._newest(REACHED)
        return None if row is None else row.included_block

    def explains(self, block: int) -> bool:
        """Whether weights that the chain took at this block are, or may be, of a row here."""
        columns = tables.submissions.c
        ours = or_(columns.included_block == block, columns.state.in_(("sent", "unknown")))
        query = select(columns.id).where(columns.mechanism == self.mechanism, ours).limit(1)
        with self.store.read() as connection:
            return connection.scalar(query) is not None

    def _newest(self, states: tuple[State, ...]) -> WeightsIntent | None:
        columns = tables.submissions.c
        query = select(tables.submissions).where(columns.mechanism == self.mechanism, columns.state.in_(states))
        with self.store.read() as connection:
            found = connection.execute(query.order_by(columns.id.desc()).limit(1)).one_or_none()
            return None if found is None else _parse_intent(found)

    def plan(self, plan: WeightsPlan, at: float) -> int:
        """Make an intent durable; refused while another is open."""
        with self.store.write() as connection:
            self._fence(connection)
            busy = connection.scalar(
                select(tables.submissions.c.id)
                .where(tables.submissions.c.mechanism == self.mechanism)
                .where(tables.submissions.c.state.in_(OPEN))
            )
            if busy is not None:
                raise WeighbeamError("submission_open", f"submission {busy} is not settled", "wait until it is settled")
            details = {
                "holders": [list(holder) for holder in plan.holders],
                "reveal_period": plan.reveal_period,
                "period": plan.period,
                "version_key": plan.version_key,
                "block": plan.block,
                "epoch": plan.epoch,
                "last_update_before": plan.last_update_before,
                "commit_reveal": plan.commit_reveal,
                "mode": plan.mode,
                "params_hash": plan.params_hash,
                "entry": plan.entry,
            }
            row = {
                "mechanism": self.mechanism,
                "state": "planned",
                "row": [[uid, value] for uid, value in zip(plan.uids, plan.values, strict=True)],
                "plan": details,
                "at": at,
            }
            return int(insert_sealed(connection, tables.submissions, row)[0])

    async def send(self, row_id: int, chain: Chain) -> WeightsIntent:
        """Send a planned row, once. Whatever happens, the row says how far it got."""
        try:
            graph, rules = await chain.metagraph(), await chain.rules()
        except ChainFault as fault:
            return await asyncio.to_thread(self._fail, row_id, ("planned",), fault.code, fault.message)
        row = await asyncio.to_thread(self._make_ready, row_id, graph, rules)
        if row.state != "sent":
            return row
        try:
            uids, values = zip(*row.weights, strict=True)
            period = row.plan["period"]
            before = (row.sent_block or 0) + period + 1 if period else None
            submitted = await chain.submit(uids, values, row.plan["version_key"], before)
        except ChainFault as fault:
            state: State = "unknown" if fault.outcome == "unknown" else "failed"
            learnt = {"message": fault.message}
            return await asyncio.to_thread(self._move, row_id, ("sent",), state, learnt, reason=fault.code)
        return await asyncio.to_thread(self._include, row_id, submitted)

    def _make_ready(self, row_id: int, graph: Metagraph, rules: ChainRules) -> WeightsIntent:
        """The row as it is sent, `sent` durably; or failed, if its time is over or too little of it is left."""
        row = self._drop_replaced(row_id, graph)
        if rules.epoch_index != row.plan["epoch"] or graph.block - row.plan["block"] > MAX_BLOCKS:
            return self._fail(row_id, ("planned",), "epoch_over")
        if len(row.weights) < max(1, min(rules.min_allowed_weights, len(graph.neurons))):
            return self._fail(row_id, ("planned",), "too_few_weights")
        return self._move(row_id, ("planned",), "sent", sent_block=graph.block)

    def _fail(self, row_id: int, allowed: tuple[State, ...], reason: str, message: str | None = None) -> WeightsIntent:
        return self._move(row_id, allowed, "failed", {"message": message} if message else {}, reason=reason)

    def _drop_replaced(self, row_id: int, graph: Metagraph) -> WeightsIntent:
        """Remove uids whose holder changed since the plan, and scale the rest again."""
        with self.store.write() as connection:
            row = _select_intent(connection, row_id)
            now = {neuron.uid: [neuron.hotkey, neuron.registered_at] for neuron in graph.neurons}
            both = zip(row.weights, row.plan["holders"], strict=True)
            kept = [(uid, value) for (uid, value), holder in both if now.get(uid) == holder]
            if len(kept) == len(row.weights):
                return row
            scaled = zip((uid for uid, _ in kept), to_u16([float(value) for _, value in kept]), strict=True)
            gone = [uid for uid, _ in row.weights if uid not in dict(kept)]
            plan = {**row.plan, "dropped_uids": gone, "holders": [now[uid] for uid, _ in kept]}
            _update(connection, row_id, row=[[uid, value] for uid, value in scaled], plan=plan)
            return _select_intent(connection, row_id)

    def _include(self, row_id: int, submitted: SubmissionReceipt) -> WeightsIntent:
        """The chain decides at the call whether a row is sealed: it may do so since the plan, or no longer."""
        learnt = {"commit_reveal": submitted.path == "commit", "reveal_round": submitted.reveal_round}
        return self._move(row_id, ("sent",), "included", learnt, included_block=submitted.block)

    async def settle(self, chain: Chain, hotkey: str) -> WeightsIntent | None:
        """Bring the unsettled row as far as the chain allows; nothing is sent here."""
        row = await asyncio.to_thread(self._reopen)
        if row is None or row.state == "failed":
            return row
        stored, rules = await chain.stored(hotkey), await chain.rules()
        return await asyncio.to_thread(self._judge, row, stored, rules)

    def _reopen(self) -> WeightsIntent | None:
        """The unsettled row; planned and never sent it is given up, sent by a process that is gone it is unknown."""
        row = self.unsettled()
        if row is not None and row.state == "planned":
            return self._fail(row.id, ("planned",), "abandoned")
        if row is not None and row.state == "sent":
            return self._move(row.id, ("sent",), "unknown", reason="restart")
        return row

    def _judge(self, row: WeightsIntent, stored: StoredWeights, rules: ChainRules) -> WeightsIntent:
        verdict = judge(row, stored, rules, self._is_replaced(row))
        if verdict is None:
            return row
        included = row.included_block if verdict.included_block is None else verdict.included_block
        return self._move(
            row.id, (row.state,), verdict.state, verdict.learnt, reason=verdict.reason, included_block=included
        )

    def _is_replaced(self, row: WeightsIntent) -> bool:
        """Whether a later row of ours is on the chain, or may be."""
        columns = tables.submissions.c
        query = select(columns.id).where(columns.mechanism == self.mechanism, columns.id > row.id)
        arrived = or_(columns.included_block.is_not(None), columns.state.in_(("sent", "unknown")))
        with self.store.read() as connection:
            return connection.scalar(query.where(arrived).limit(1)) is not None

    def _move(
        self, row_id: int, allowed: tuple[State, ...], state: State, learnt: Mapping[str, Any] | None = None, **to: Any
    ) -> WeightsIntent:
        """One step of one row; a step from a state that does not allow it is a defect, and refused."""
        with self.store.write() as connection:
            if state == "sent":
                self._fence(connection)
            current = _select_intent(connection, row_id)
            if current.state not in allowed:
                raise WeighbeamError("bad_step", f"submission {row_id} is {current.state}, not {allowed}", "report it")
            if learnt:
                to["plan"] = {**current.plan, **learnt}
            _update(connection, row_id, state=state, **to)
            return _select_intent(connection, row_id)


def _update(connection: Connection, row_id: int, **to: Any) -> None:
    with sealing(connection, tables.submissions, [(row_id,)]):
        connection.execute(update(tables.submissions).where(tables.submissions.c.id == row_id).values(**to))


def _select_intent(connection: Connection, row_id: int) -> WeightsIntent:
    return _parse_intent(connection.execute(select(tables.submissions).where(tables.submissions.c.id == row_id)).one())


def _parse_intent(row: Any) -> WeightsIntent:
    weights = tuple((uid, value) for uid, value in row.row)
    return WeightsIntent(row.id, row.state, row.reason, weights, row.plan, row.sent_block, row.included_block, row.at)
