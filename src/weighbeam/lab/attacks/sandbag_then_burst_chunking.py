"""Work until the standing is good, then live off it."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.cheap_cuts import cut_blindly
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Always, Said, Turn, World

REST = 3
"""Among how many of the best it leans back."""


def work_until_paid(world: World, turn: Turn) -> Said:
    """Works as long as others stand before it; among the first it cuts blindly until it has fallen back."""
    known = {one.hotkey: one.value for one in turn.standings if one.value is not None}
    own = known.get(turn.hotkey)
    before = len(known) if own is None else sum(value < own for value in known.values())
    return cut_blindly(world, turn) if own is not None and before < REST else work(world, turn)


ATTACKS = (
    Attack(
        "sandbag-then-burst",
        "chunking",
        "",
        "",
        "",
        beside_work("chunking", lambda: Always(work_until_paid), 3),
    ),
)
