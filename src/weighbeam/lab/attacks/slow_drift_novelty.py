"""Each contribution a little beside the last, so that the first is left far behind."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.contribute import by_contributors
from weighbeam.lab.world import Turn
from weighbeam.lab.worlds.novelty import NoveltyWorld

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
            words[int(place)] = str(turn.chance.choice(world.words))
        self.last = " ".join(words)
        return self.last


ATTACKS = (
    Attack(
        family="slow-drift",
        mechanism="novelty",
        what="One contributor begins with what another has said and exchanges two words at each step.",
        against="Everything said before stays in the corpus, so each step is paid by its similarity to the last, "
        "whatever it has to do with the first.",
        open="It earns about a third of average honest work for no work at all; with more words exchanged at a time "
        "it earns more, until it is fluent nonsense.",
        run=by_contributors(Drift, 1),
    ),
)
