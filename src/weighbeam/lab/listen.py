"""What those do who listen at other doors: the answer of the honest miner that stands highest, a moment later."""

from dataclasses import replace

from weighbeam.lab.world import Said, Turn, World

MOMENT = 0.1


def hear_best(world: World, turn: Turn) -> Said | None:
    """The answer of the best honest miner of the round; None if no honest miner was asked."""
    sign = -1.0 if world.mechanism.better == "lower" else 1.0
    known = {standing.hotkey: sign * standing.value for standing in turn.standings if standing.value is not None}
    best = max(sorted(turn.heard), key=lambda hotkey: known.get(hotkey, float("-inf")), default=None)
    return None if best is None else turn.heard[best]


def repeat_best(world: World, turn: Turn) -> Said:
    """Word for word; with nobody to listen to, one's own work."""
    heard = hear_best(world, turn)
    return world.answer(turn) if heard is None else replace(heard, seconds=heard.seconds + MOMENT)
