"""Where a miner stands, as everybody can read it."""

from weighbeam.lab.world import Turn, World


def find_place(world: World, turn: Turn) -> tuple[int | None, int]:
    """How many stand before the miner whose turn it is, None if it has no standing yet; and how many have one."""
    sign = -1.0 if world.mechanism.better == "lower" else 1.0
    known = {one.hotkey: sign * one.value for one in turn.standings if one.value is not None}
    own = known.get(turn.hotkey)
    return None if own is None else sum(value > own for value in known.values()), len(known)
