"""Work until the standing is good, then live off it."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.cheap_cuts import cut_blindly
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Always, Said, Turn, World

WORKED = 8


def work_then_rest(world: World, turn: Turn) -> Said:
    return work(world, turn) if turn.turn < WORKED else cut_blindly(world, turn)


ATTACKS = (
    Attack(
        "sandbag-then-burst",
        "chunking",
        "",
        "",
        "",
        beside_work("chunking", lambda: Always(work_then_rest), 1),
    ),
)
