"""A new hotkey as soon as the old one stands worse than a newcomer would."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.cheap_cuts import cut_blindly
from weighbeam.lab.world import Said, Turn, World


@dataclass(slots=True)
class Recycling:
    """Cuts blindly, and compares its standing with the middle, where newcomers begin."""

    stands: float | None = None
    middle: float = 0.0

    def answer(self, world: World, turn: Turn) -> Said:
        known = {one.hotkey: one.value for one in turn.standings if one.value is not None}
        self.stands, self.middle = known.get(turn.hotkey), float(len(known) // 2)
        return cut_blindly(world, turn)

    def leaves(self, turns: int) -> bool:
        return turns > 1 and self.stands is not None and self.stands > self.middle


ATTACKS = (
    Attack(
        family="immunity-recycling",
        mechanism="chunking",
        what="One miner cuts blindly and takes a new hotkey whenever it stands worse than a newcomer would.",
        against="A newcomer begins in the middle, a departed hotkey takes its standing along, and pay halves with "
        "every place: the middle is worth next to nothing.",
        open="Where pay is flatter (`curve` near 1), the middle pays, and then only the price of a registration "
        "stands against it, which the lab does not count.",
        run=by_miners("chunking", Recycling, 1),
    ),
)
