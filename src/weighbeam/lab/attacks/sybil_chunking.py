"""One chunking, sent by many."""

from dataclasses import dataclass, field

from weighbeam.lab.attack import Attack
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Said, Turn, World

IDENTITIES = 4


@dataclass(slots=True)
class OneForAll:
    """The first of a round works; the others send its chunks with a blank more here or there."""

    made: dict[int, Said] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)

    def answer(self, world: World, turn: Turn) -> Said:
        if turn.round not in self.made:
            self.made[turn.round] = work(world, turn)
        said = self.made[turn.round]
        number = self.sent[turn.round] = self.sent.get(turn.round, -1) + 1
        chunks = [chunk + " " * (place < number) for place, chunk in enumerate(said.payload["chunks"])]
        return Said({"chunks": chunks}, said.seconds)


ATTACKS = (
    Attack(
        family="sybil",
        mechanism="chunking",
        what="One good operator registers four miners, works once a round, and lets each send the same chunks with "
        "blanks in other places.",
        against="Equal rewards share the average of their places, so four together stand where one would, and pay "
        "halves with every place. Answers equal to the letter are counted as copies; blanks make them differ.",
        open="Each of the four earns about what one working miner would or somewhat less, so the operator earns two "
        "to three times as much for the same work, and honest miners are pushed down: the ranking says less about "
        "skill. `tie_alpha` slows it.",
        run=beside_work("chunking", OneForAll, IDENTITIES),
    ),
)
