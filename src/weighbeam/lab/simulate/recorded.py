"""A season of rounds that a validator recorded: each is drawn from the journal, with replacement, and scored again.

What was asked and answered is as it was; how often which round comes is chance. So it shows how much of a ranking is
luck, and what other parameters would make of the same miners in the long run.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.recall import RecordedRound, select_round
from weighbeam.lab.backtest.overrides import BacktestOverrides
from weighbeam.lab.backtest.support import AllowedDifferences, check_support
from weighbeam.lab.backtest.survey import survey_journal
from weighbeam.lab.backtest.window import Window
from weighbeam.lab.simulate.season import Seat
from weighbeam.lab.simulate.world import MinerTurn, SimulatedAnswer, SimulatedMiner
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Asked, Group, Observation, Scored, Standing, Task
from weighbeam.store import tables
from weighbeam.store.database import Store

MAX_ROUNDS = 2000


class RecordedWorld:
    """The newest rounds of a journal, two thousand at most, under the parameters of the last and what is set. What was
    not observed is refused, as a backtest does; and a collected round, which cannot be moved in time."""

    honest = 0

    def __init__(self, store: Store, mechanism: Mechanism, params: Mapping[str, Any]) -> None:
        if mechanism.kind == "collected":
            told = (
                f"rounds of {mechanism.name} pay for novelty at their time and cannot be drawn again in another order"
            )
            raise WeighbeamError("not_drawn", told, "simulate a mechanism that asks miners")
        terms, survey = BacktestOverrides({mechanism.name: dict(params)}), survey_journal(store, mechanism.name)
        check_support(survey, terms, lambda _: mechanism, Window(), AllowedDifferences(keep_groups=True))
        kept = tuple(_select_rounds(store, mechanism))
        if not kept:
            raise WeighbeamError("empty_journal", f"no round of {mechanism.name} is recorded", "name another journal")
        self.mechanism = mechanism
        self.params = terms.set_params(mechanism, kept[-1].params.model_dump(mode="json"))
        self._rounds = [one.observation for one in kept]
        self._members = [[score.hotkey for score in mechanism.score(self.params, one).scores] for one in self._rounds]
        self._drawn = 0

    def seat_all(self) -> list[Seat]:
        """Every miner that was ever asked, under its own hotkey."""
        hotkeys = sorted({hotkey for members in self._members for hotkey in members})
        return [Seat(SimulatedMiner(hotkey, "honest", 0.0), hotkey) for hotkey in hotkeys]

    def begin(self, seed: int) -> None:
        self._drawn = 0

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        self._drawn = int(chance.integers(len(self._rounds)))
        return Task(f"recorded-{self._drawn}", {})

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        return Group(tuple(self._members[self._drawn]))

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        return SimulatedAnswer(None, 0.0)

    def observe(self, asked: Asked) -> Observation:
        return self._rounds[self._drawn]

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        return {score.hotkey for score in scored.scores if self.mechanism.suspicious.keys() & score.reasons}


def _select_rounds(store: Store, mechanism: Mechanism) -> Iterator[RecordedRound]:
    columns = tables.rounds.c
    newest = select(columns.id).where(columns.mechanism == mechanism.name, columns.state == "scored")
    with store.read() as connection:
        names = list(connection.scalars(newest.order_by(columns.sequence.desc()).limit(MAX_ROUNDS)))
    for name in reversed(names):
        yield select_round(store, name, mechanism)
