"""Stay in a lower group on purpose, where opponents are weak."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Always, Said, Turn, World


def stay_below(world: World, turn: Turn) -> Said:
    """Works as long as it stands in the lower half of all; from the upper half it falls back by saying nothing."""
    known = {one.hotkey: one.value for one in turn.standings if one.value is not None}
    own = known.get(turn.hotkey)
    above = sum(value < own for value in known.values()) if own is not None else len(known)
    return Said(None, 0.0, "error") if 2 * above < len(known) else work(world, turn)


ATTACKS = (
    Attack(
        "tail-hiding",
        "chunking",
        "A good miner says nothing whenever it stands in the better half, to stay in a group where it is the first.",
        "A place counts from where its group begins, so the first of a lower group is behind the upper half of the"
        " group above; failing never improves a standing.",
        "Nothing found: hiding costs all that honest work would have earned.",
        beside_work("chunking", lambda: Always(stay_below), 1),
    ),
)
