"""Stay in a lower group on purpose, where opponents are weak."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.place import find_place
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Always, Said, Turn, World


def stay_below(world: World, turn: Turn) -> Said:
    """Works as long as it stands in the lower half of all; from the upper half it falls back by saying nothing."""
    before, all_told = find_place(world, turn)
    return Said(None, 0.0, "error") if before is not None and 2 * before < all_told else work(world, turn)


ATTACKS = (
    Attack(
        family="tail-hiding",
        mechanism="chunking",
        what="A good miner says nothing whenever it stands in the better half, to stay in a group where it is the "
        "first.",
        against="A place counts from where its group begins, so the first of a lower group is behind the upper half "
        "of the group above; failing never improves a standing.",
        open="Nothing found: hiding costs all that honest work would have earned.",
        run=beside_work("chunking", lambda: Always(stay_below), 1),
    ),
)
