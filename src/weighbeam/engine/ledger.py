"""The submission ledger: an intent is durable before the call, and an unknown outcome is settled by reading the chain.

    planned → sent → included → confirmed        sent → unknown → confirmed | included | failed        any → failed

Never more than one row per mechanism is planned, sent or unknown, so nothing is ever sent twice.
"""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update

from weighbeam.chain.contract import Chain, ChainFault, Stored, Submitted
from weighbeam.core.errors import WeighbeamError
from weighbeam.store import tables
from weighbeam.store.database import Store

State = Literal["planned", "sent", "unknown", "included", "confirmed", "failed"]
OPEN = ("planned", "sent", "unknown")
UNSETTLED = (*OPEN, "included")


@dataclass(frozen=True, slots=True)
class Plan:
    """A vector to submit and what it was planned against."""

    uids: tuple[int, ...]
    values: tuple[int, ...]
    version_key: int
    block: int
    epoch: int
    last_update_before: int
    commit_reveal: bool
    mode: str
    params_hash: str
    entry: str


@dataclass(frozen=True, slots=True)
class Row:
    """One intent and how far it got."""

    id: int
    state: State
    reason: str | None
    weights: tuple[tuple[int, int], ...]
    plan: dict[str, Any]
    sent_block: int | None
    included_block: int | None


class Ledger:
    """The intents of one mechanism."""

    def __init__(self, store: Store, mechanism: str) -> None:
        self.store = store
        self.mechanism = mechanism

    def rows(self) -> list[Row]:
        query = select(tables.submissions).where(tables.submissions.c.mechanism == self.mechanism)
        with self.store.read() as connection:
            return [_read(row) for row in connection.execute(query.order_by(tables.submissions.c.id))]

    def unsettled(self) -> Row | None:
        """The row whose fate is not known yet, if there is one."""
        return next((row for row in reversed(self.rows()) if row.state in UNSETTLED), None)

    def plan(self, plan: Plan, at: float) -> int:
        """Make an intent durable; refused while another is open."""
        with self.store.write() as connection:
            busy = connection.scalar(
                select(tables.submissions.c.id)
                .where(tables.submissions.c.mechanism == self.mechanism)
                .where(tables.submissions.c.state.in_(OPEN))
            )
            if busy is not None:
                raise WeighbeamError("submission_open", f"submission {busy} is not settled", "wait until it is")
            details = {
                "version_key": plan.version_key,
                "block": plan.block,
                "epoch": plan.epoch,
                "last_update_before": plan.last_update_before,
                "commit_reveal": plan.commit_reveal,
                "mode": plan.mode,
                "params_hash": plan.params_hash,
                "entry": plan.entry,
            }
            done = connection.execute(
                insert(tables.submissions).values(
                    mechanism=self.mechanism,
                    state="planned",
                    row=[[uid, value] for uid, value in zip(plan.uids, plan.values, strict=True)],
                    plan=details,
                    at=at,
                )
            )
            primary = done.inserted_primary_key
            assert primary is not None
            return int(primary[0])

    async def send(self, row_id: int, chain: Chain) -> Row:
        """Send a planned row, once. Whatever happens, the row says how far it got."""
        row = self._move(row_id, ("planned",), "sent", sent_block=(await chain.head()).block)
        try:
            uids, values = zip(*row.weights, strict=True)
            submitted = await chain.submit(uids, values, row.plan["version_key"])
        except ChainFault as fault:
            state: State = "unknown" if fault.outcome == "unknown" else "failed"
            return self._move(row_id, ("sent",), state, reason=fault.code)
        return self._include(row_id, submitted)

    def _include(self, row_id: int, submitted: Submitted) -> Row:
        return self._move(row_id, ("sent",), "included", included_block=submitted.block)

    async def settle(self, chain: Chain, hotkey: str) -> Row | None:
        """Bring the unsettled row as far as the chain allows; nothing is sent here."""
        row = self.unsettled()
        if row is None:
            return None
        if row.state == "planned":
            return self._move(row.id, ("planned",), "failed", reason="abandoned")
        if row.state == "sent":
            row = self._move(row.id, ("sent",), "unknown", reason="restart")
        stored = await chain.stored(hotkey)
        if row.state == "unknown":
            return self._settle_unknown(row, stored)
        return self._confirm(row, stored, await self._epoch(chain))

    def _settle_unknown(self, row: Row, stored: Stored) -> Row:
        """The chain moved on since the plan, or it did not: that decides."""
        moved = (stored.last_update or 0) > row.plan["last_update_before"]
        if not moved:
            return self._move(row.id, ("unknown",), "failed", reason="not_included")
        if row.plan["commit_reveal"]:
            ours = any(commit.block >= (row.sent_block or 0) for commit in stored.commits)
            return self._move(
                row.id, ("unknown",), "included" if ours else "failed", reason=None if ours else "overwritten"
            )
        same = stored.row == row.weights
        return self._move(
            row.id, ("unknown",), "confirmed" if same else "failed", reason=None if same else "overwritten"
        )

    def _confirm(self, row: Row, stored: Stored, epoch: int) -> Row:
        if stored.row == row.weights:
            return self._move(row.id, ("included",), "confirmed")
        if row.plan["commit_reveal"]:
            late = epoch > row.plan["epoch"] + 2
            return self._move(row.id, ("included",), "failed", reason="reveal_missing") if late else row
        newer = (stored.last_update or 0) > (row.included_block or 0)
        return self._move(row.id, ("included",), "failed", reason="superseded" if newer else "weights_differ")

    @staticmethod
    async def _epoch(chain: Chain) -> int:
        return (await chain.rules()).epoch_index

    def _move(self, row_id: int, allowed: tuple[State, ...], state: State, **values: Any) -> Row:
        """One step of one row; a step from a state that does not allow it is a defect, and refused."""
        with self.store.write() as connection:
            current = _find(connection, row_id)
            if current.state not in allowed:
                raise WeighbeamError("bad_step", f"submission {row_id} is {current.state}, not {allowed}", "report it")
            connection.execute(
                update(tables.submissions).where(tables.submissions.c.id == row_id).values(state=state, **values)
            )
            return _find(connection, row_id)


def _find(connection: Connection, row_id: int) -> Row:
    return _read(connection.execute(select(tables.submissions).where(tables.submissions.c.id == row_id)).one())


def _read(row: Any) -> Row:
    weights = tuple((uid, value) for uid, value in row.row)
    return Row(row.id, row.state, row.reason, weights, row.plan, row.sent_block, row.included_block)
