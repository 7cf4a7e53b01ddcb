"""Work until the standing is good, then live off it."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.cheap_cuts import cut_blindly
from weighbeam.lab.place import find_place
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Always, Said, Turn, World

REST = 3
"""Among how many of the best it leans back."""


def work_until_paid(world: World, turn: Turn) -> Said:
    """Works as long as others stand before it; among the first it cuts blindly until it has fallen back."""
    before, _ = find_place(world, turn)
    return cut_blindly(world, turn) if before is not None and before < REST else work(world, turn)


ATTACKS = (
    Attack(
        family="sandbag-then-burst",
        mechanism="chunking",
        what="Three good miners work until they stand among the first three, then cut blindly until they have fallen "
        "behind, and again.",
        against="A standing is an average of ranks that moves by 0.15 a time, and pay halves with every place: one "
        "blind cut costs several places, many good ones are needed to win them back.",
        open="It earns about a quarter of what steady work would. Who rests only now and then keeps more; the lab "
        "did not look for the best rhythm.",
        run=beside_work("chunking", lambda: Always(work_until_paid), 3),
    ),
)
