"""Be certain of everything."""

from dataclasses import replace

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Always, Said, Turn, World


def overclaim(world: World, turn: Turn) -> Said:
    said = world.answer(turn)
    return replace(said, payload={**said.payload, "confidence": 1.0})


ATTACKS = (
    Attack(
        family="overclaiming",
        mechanism="inference",
        what="Three miners of middling skill answer honestly and claim full confidence each time.",
        against="Confidence is at most 15 of 100 points, and weighted_scoring=false ignores it.",
        open="What a miner claims costs it nothing when it is wrong. Everybody should claim 1, and the part then tells "
        "nobody apart.",
        run=by_miners("inference", lambda: Always(overclaim), 3),
    ),
)
