"""A new hotkey after every bad answer."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence_pool import count_value
from weighbeam.lab.worlds.evidence_season import by_finders, enter
from weighbeam.mechanisms.evidence.stand import Memory, recall, remember_score

PLACES = 3


class Reappears:
    """Works with middling skill, counts what it will stand at, and gives its hotkey up unless that is among the
    first."""

    def __init__(self) -> None:
        self._falls = False

    def answer(self, world: World, turn: Turn) -> Said:
        here = enter(world)
        finds = here.choose_finds(turn, here.find(turn.task))
        said = Said(here.quote(turn, finds), here.take_time(turn))
        memories = {one.hotkey: recall(one) for one in turn.standings}
        own = memories.pop(turn.hotkey, Memory())
        after = remember_score(own, count_value(finds, said.seconds, here.params), here.params).average or 0.0
        self._falls = sum((one.average or 0.0) > after for one in memories.values()) >= PLACES
        return said

    def leaves(self, turns: int) -> bool:
        return turns > 0 and self._falls


ATTACKS = (
    Attack(
        family="immunity-recycling",
        mechanism="evidence",
        what="A miner of middling skill counts what each answer will bring it, and comes back under a new hotkey "
        "unless that puts it among the first three. The first response alone sets an average.",
        against="A new hotkey has nothing until it is asked, and is drawn no more often than others. The price of "
        "registering is not counted here.",
        open="It earns about what honest work of the same skill does, perhaps a little more: some statements yield "
        "three times what others do, and luck with the first is worth as much as what is thrown away for it.",
        run=by_finders(Reappears),
    ),
)
