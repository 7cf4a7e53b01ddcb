"""One search, several names."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence_pool import Find
from weighbeam.lab.worlds.evidence_season import by_finders, enter

IDENTITIES, LONGER = 4, 3


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
        what="One operator registers four miners, searches once a round with middling skill, and lets all of them who "
        "are asked send the same.",
        against="Of those who are asked in the same round only the first is paid; the others are copies.",
        open="A round asks five: often only one of the four is among them, and nothing compares answers across "
        "rounds. Together the four earn more than one miner of the same skill for the work of one.",
        run=by_finders(Shares, IDENTITIES, LONGER),
    ),
    Attack(
        family="sybil-split",
        mechanism="evidence",
        what="One operator registers four miners and searches once a round with middling skill. The first that is "
        "asked sends the best five quotes, the next ones the best that are left.",
        against="Nothing but the price of registering: no two of the answers have a quote in common.",
        open="Each of the four earns somewhat less than an honest miner of that skill, all four together clearly "
        "more. The mechanism cannot know that they are one.",
        run=by_finders(Divides, IDENTITIES, LONGER),
    ),
)
