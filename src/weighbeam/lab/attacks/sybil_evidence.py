"""Sybil: one search answers for four identities."""

from dataclasses import dataclass, field

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.lab.worlds.evidence_pool import Find
from weighbeam.lab.worlds.evidence_season import by_finders

IDENTITIES = 4


@dataclass(slots=True)
class Shares:
    """Whoever is asked first searches; the others of the round say the same."""

    world: EvidenceWorld
    found: dict[int, Said] = field(default_factory=dict)

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.round not in self.found:
            self.found[turn.round] = self.world.answer(turn)
        return self.found[turn.round]


@dataclass(slots=True)
class Divides:
    """Whoever is asked later in a round sends what the earlier ones have left."""

    world: EvidenceWorld
    used: dict[int, set[Find]] = field(default_factory=dict)

    def answer(self, world: World, turn: Turn) -> Said:
        used = self.used.setdefault(turn.round, set())
        chosen = self.world.choose_finds(turn, [one for one in self.world.find(turn.task) if one not in used])
        used.update(chosen)
        return Said(self.world.quote(turn, chosen), self.world.take_time(turn))


ATTACKS = (
    Attack(
        family="sybil",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Shares, IDENTITIES),
    ),
    Attack(
        family="sybil-split",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Divides, IDENTITIES),
    ),
)
