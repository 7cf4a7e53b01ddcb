"""The picture and narrative of a round, made from the journal after its scores are durable (docs/spec/inference.md §
12).
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select

from weighbeam.charts.heatmap import Heatmap
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.recall import RecordedRound, select_round
from weighbeam.engine.outbox.queue import OutboxItem
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.process import run_in_daemon_thread, run_in_thread
from weighbeam.mechanism.base import Mechanism
from weighbeam.senses.ports.protocols import Narrator
from weighbeam.store import tables
from weighbeam.store.artifacts import Artifacts
from weighbeam.store.database import Store
from weighbeam.store.seals import sealing

Render = Callable[[Heatmap], bytes]
PNG = "image/png"
NOTHING = "nothing to draw"


@dataclass(frozen=True, slots=True)
class RoundExtra:
    """Extra of a round outside its scores: a value, or the reason why it is missing."""

    kind: str
    value: str | None
    maker: str
    fault: str | None


@dataclass(frozen=True, slots=True)
class NarrativeJobs:
    """The deliveries `story` and `take_away`."""

    store: Store
    clock: EngineClock
    mechanisms: Mapping[str, Mechanism]
    artifacts: Artifacts
    render: Render
    narrator: Narrator | None = None

    async def tell(self, item: OutboxItem) -> None:
        """Draw and narrate; a failed picture leaves its reason and is tried again. A picture that was
        drawn is not drawn again, nor a model asked twice about the same round."""
        mechanism = self._find(item)
        kept = await asyncio.to_thread(select_round, self.store, item.ref, mechanism, texts=True)
        before = await asyncio.to_thread(select_extras, self.store, item.ref)
        picture = before.get("heatmap")
        if picture is None or picture.value is None:
            picture = await self._draw(mechanism, kept, item.ref)
            await self._keep_picture(item.ref, picture)
        if "narrative" not in before or self.narrator is None:
            narrative = await run_in_daemon_thread(self._narrate, mechanism, kept, picture.value)
            await asyncio.to_thread(self._keep, item.ref, narrative)
        if picture.fault not in (None, NOTHING):
            remedy = "weighbeam doctor tells what store.artifacts needs; it is tried again"
            raise WeighbeamError("no_picture", f"{picture.fault}", remedy)

    async def take_away(self, item: OutboxItem) -> None:
        """Remove the picture of a round that is no longer kept."""
        await run_in_daemon_thread(self.artifacts.remove, name_heatmap(item.ref))

    def _find(self, item: OutboxItem) -> Mechanism:
        mechanism = self.mechanisms.get(item.mechanism)
        if mechanism is None or not mechanism.narrates:
            raise WeighbeamError(
                "no_delivery", f"{item.mechanism} is not run here", "run the mechanism to have the round narrated"
            )
        return mechanism

    async def _draw(self, mechanism: Any, kept: RecordedRound, round_id: str) -> RoundExtra:
        try:
            drawn = await run_in_thread(mechanism.draw, kept.params, kept.observation, round_id)
            if drawn is None:
                return RoundExtra("heatmap", None, "", NOTHING)
            image = await run_in_daemon_thread(self.render, drawn)
            path = await run_in_daemon_thread(self.artifacts.put, name_heatmap(round_id), image, PNG)
        except WeighbeamError as fault:
            return RoundExtra("heatmap", None, "", f"{fault.code}: {fault.message}")
        except Exception as fault:
            return RoundExtra("heatmap", None, "", type(fault).__name__)
        return RoundExtra("heatmap", path, "", None)

    async def _keep_picture(self, round_id: str, picture: RoundExtra) -> None:
        """A round that retention removed meanwhile leaves no picture behind."""
        try:
            await asyncio.to_thread(self._keep, round_id, picture)
        except WeighbeamError as fault:
            if fault.code == "unknown_round" and picture.value is not None:
                await run_in_daemon_thread(self.artifacts.remove, name_heatmap(round_id))
            raise

    def _narrate(self, mechanism: Any, kept: RecordedRound, picture: str | None) -> RoundExtra:
        told = mechanism.tell(kept.params, kept.observation, picture, self.narrator, secrets.token_hex(8))
        return RoundExtra("narrative", told.text, told.by, told.fault)

    def _keep(self, round_id: str, extra: RoundExtra) -> None:
        columns = tables.extras.c
        row = {"kind": extra.kind, "value": extra.value, "maker": extra.maker, "fault": extra.fault}
        with self.store.write() as connection:
            known = select(tables.rounds.c.id).where(tables.rounds.c.id == round_id)
            if connection.execute(known).first() is None:
                raise WeighbeamError("unknown_round", f"round {round_id} is no longer kept", "nothing to do")
            with sealing(connection, tables.extras, [(round_id, extra.kind)]):
                connection.execute(delete(tables.extras).where(columns.round == round_id, columns.kind == extra.kind))
                connection.execute(insert(tables.extras).values(round=round_id, at=self.clock.now(), **row))


def name_heatmap(round_id: str) -> str:
    return f"heatmaps/{round_id}.png"


def select_extras(store: Store, round_id: str) -> dict[str, RoundExtra]:
    """Extras of a round, by kind."""
    columns = tables.extras.c
    query = select(columns.kind, columns.value, columns.maker, columns.fault).where(columns.round == round_id)
    with store.read() as connection:
        return {row.kind: RoundExtra(*row) for row in connection.execute(query)}
