"""One search, several names."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence_pool import Find
from weighbeam.lab.worlds.evidence_season import by_finders, enter

IDENTITIES = 4


class Shares:
    """Whoever is asked first in a round searches, with middling skill; the others say the same."""

    def __init__(self) -> None:
        self._found: dict[int, Said] = {}

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.round not in self._found:
            self._found[turn.round] = world.answer(turn)
        return self._found[turn.round]


class Divides:
    """Whoever is asked later in a round sends the best of what the others have left."""

    def __init__(self) -> None:
        self._used: dict[int, set[Find]] = {}

    def answer(self, world: World, turn: Turn) -> Said:
        here, used = enter(world), self._used.setdefault(turn.round, set())
        chosen = here.choose_finds(turn, [find for find in here.find(turn.task) if find not in used])
        used.update(chosen)
        return Said(here.quote(turn, chosen), here.take_time(turn))


ATTACKS = (
    Attack(
        family="sybil",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(Shares, identities=IDENTITIES),
    ),
    Attack(
        family="sybil-split",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(Divides, identities=IDENTITIES),
    ),
)
