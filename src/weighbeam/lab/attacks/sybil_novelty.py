"""One thought, handed in by many in other words."""

from dataclasses import dataclass, field

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld
from weighbeam.lab.worlds.statements import reword

IDENTITIES = 4


@dataclass(slots=True)
class OneThought:
    """Whoever of the operator's comes first in a round says something new; the others say it again."""

    thoughts: dict[int, str] = field(default_factory=dict)

    def __call__(self, world: NoveltyWorld, turn: Turn) -> str:
        if turn.round not in self.thoughts:
            self.thoughts[turn.round] = world.think()
            return self.thoughts[turn.round]
        return reword(self.thoughts[turn.round], turn.chance)


ATTACKS = (
    Attack(
        family="sybil",
        mechanism="novelty",
        what="Four identities of one operator: the first says something new, the others say the same in other words.",
        against="The later ones are paid by their similarity to the first, which is little or nothing; the same words "
        "again are a duplicate.",
        open="What shortens a text most is paid a little, so four identities earn somewhat more than one, and each of "
        "them far less than honest work.",
        run=by_contributors(OneThought, IDENTITIES),
    ),
)
