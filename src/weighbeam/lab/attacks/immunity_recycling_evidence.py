"""Immunity recycling: a new hotkey after every bad run."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.lab.worlds.evidence_pool import count_value
from weighbeam.lab.worlds.evidence_season import by_finders

PLACES = 3
HALF = 0.5


@dataclass(slots=True)
class Reappears:
    """Works as well as it can, counts what it will be given for it, and gives its hotkey up unless that brings it among
    the first."""

    world: EvidenceWorld
    falls: bool = False

    def answer(self, world: World, turn: Turn) -> Said:
        finds = self.world.choose_finds(turn, self.world.find(turn.task))
        said = Said(self.world.quote(turn, finds), self.world.take_time(turn))
        values = sorted((one.value or 0.0 for one in turn.standings if one.hotkey != turn.hotkey), reverse=True)
        own = next((one.value for one in turn.standings if one.hotkey == turn.hotkey), None)
        worth = count_value(finds, said.seconds, self.world.params)
        after = worth if own is None else HALF * own + HALF * worth
        self.falls = len(values) >= PLACES and after < values[PLACES - 1]
        return said

    def leaves(self, turns: int) -> bool:
        return self.falls


ATTACKS = (
    Attack(
        family="immunity-recycling",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Reappears),
    ),
)
