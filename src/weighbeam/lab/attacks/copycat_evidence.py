"""Copycat: the quotes of a better miner, a second later."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.lab.worlds.evidence_season import by_finders, find_first

LATER = 1.0


@dataclass(frozen=True, slots=True)
class Repeats:
    """Says what the best of those it overhears has said."""

    world: EvidenceWorld

    def answer(self, world: World, turn: Turn) -> Said:
        if not turn.heard:
            return self.world.answer(turn)
        _, said = find_first(turn)
        return Said(said.payload, said.seconds + LATER)


ATTACKS = (
    Attack(
        family="copycat",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Repeats),
    ),
)
