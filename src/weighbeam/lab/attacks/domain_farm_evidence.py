"""Domain farm: pages of one's own that say what statements say."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.lab.worlds.evidence_pool import write_snippet
from weighbeam.lab.worlds.evidence_season import by_finders
from weighbeam.lab.worlds.saved_web import find_farm
from weighbeam.miners.library import open_library

SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Farms:
    """Quotes the sentence that it wrote for the statement, once from each of its five domains."""

    world: EvidenceWorld

    def answer(self, world: World, turn: Turn) -> Said:
        most = self.world.params.max_snippets
        own = open_library(find_farm()).choose(turn.task.body["statement"], most, 0, 1)
        return Said({"snippets": [write_snippet(passage) for passage in own]}, SECONDS)


ATTACKS = (
    Attack(
        family="domain-farm",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Farms),
    ),
)
