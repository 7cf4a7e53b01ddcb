"""Sandbag, then burst: good work until the memory is long, then none."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.lab.worlds.evidence_season import AT_ONCE, by_finders, play_trick, work_best

WORKS = 20
LONGER = 3


@dataclass(frozen=True, slots=True)
class Rests:
    """Works like the best until its average has a long memory, then quotes anything at once."""

    world: EvidenceWorld

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.turn < WORKS:
            return work_best(self.world, turn)
        return Said(play_trick("unrelated", turn), AT_ONCE)


ATTACKS = (
    Attack(
        family="sandbag-then-burst",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Rests, longer=LONGER, params={"immunity_responses": WORKS}),
    ),
)
