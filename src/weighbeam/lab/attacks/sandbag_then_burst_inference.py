"""Work until it counts, then stop."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.attacks.instant_garbage_inference import shout
from weighbeam.lab.honest import answer_as
from weighbeam.lab.world import Said, Turn, World

WORK, REST = 4, 4


class Coast:
    """Four turns of the best there is, four of nothing, and again."""

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.turn % (WORK + REST) < WORK:
            return answer_as(world, turn, skill=1.0)
        return shout(world, turn)


ATTACKS = (
    Attack(
        family="sandbag-then-burst",
        mechanism="inference",
        what="Two miners take turns with themselves: four rounds of the best answers, then four of instant garbage "
        "while the average still pays.",
        against="The average forgets quickly (alpha 0.3): after two rounds of nothing half of it is gone, and the gate "
        "asks for a success in the last three hours.",
        open="Whoever knows when weights are set can work just before. The weigh-in's moment is not secret.",
        run=by_miners("inference", Coast, 2),
    ),
)
