"""Say the opposite, fluently."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.honest import answer_as
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.miners.contradict import contradict


def flip(world: World, turn: Turn) -> Said:
    """A good answer of its own, with every sentence turned round."""
    good = answer_as(world, turn, skill=0.8)
    return Said({"text": contradict(good.payload["text"]), "confidence": 0.8}, good.seconds)


ATTACKS = (
    Attack(
        family="meaning-flip",
        mechanism="inference",
        what="Two miners send a good answer with every sentence turned into its opposite: more becomes less, is "
        "becomes is not.",
        against="With polarity_clustering on, an answer that says no where most say yes is left out of the consensus.",
        open="An embedding hardly tells a statement from its denial, so a fluent lie is paid like the truth it was "
        "made from. Inference measures agreement and craft, not truth; evidence is the mechanism for that.",
        run=by_miners("inference", lambda: Always(flip), 2),
    ),
)
