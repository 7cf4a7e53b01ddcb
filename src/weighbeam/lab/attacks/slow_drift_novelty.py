"""Each contribution a little beside the last, so that the first is left far behind."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld
from weighbeam.lab.worlds.statements import list_words

STEP = 2
"""How many words are exchanged each time."""
LONG = 5


@dataclass(slots=True)
class Drift:
    """Begins with what another has said."""

    last: str | None = None

    def __call__(self, world: NoveltyWorld, turn: Turn) -> str:
        words = (self.last or world.recall(turn)).split()
        places = [place for place, word in enumerate(words) if len(word) >= LONG]
        for place in turn.chance.permutation(places)[:STEP]:
            words[int(place)] = str(turn.chance.choice(list_words(world.senses)))
        self.last = " ".join(words)
        return self.last


ATTACKS = (
    Attack(
        "slow-drift",
        "novelty",
        "",
        "",
        "",
        by_contributors(Drift, 1),
    ),
)
