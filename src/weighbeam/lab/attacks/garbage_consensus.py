"""Agree on nothing, together."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.read_prompt import find_keywords
from weighbeam.lab.world import Always, Said, Turn, World

PHRASES = (
    "The question of {0} and {1} is a very interesting one with many important aspects. In general it depends on the "
    "situation, and there are different factors that play a role in it. Experts agree that {0} matters a great deal.",
    "When it comes to {0}, it is important to consider {1} as well. There are many factors, and each of them can be "
    "important in its own way. Overall, {0} is something that depends on the situation and on many other things.",
    "Many people wonder about {0} and {1}. The answer depends on several important factors and on the situation. It is "
    "fair to say that {0} plays an important role, and that {1} should be considered as well in many cases.",
)


def drone(_: World, turn: Turn) -> Said:
    """Phrases around two words of the prompt, so that they look like an answer and like each other."""
    words = (*find_keywords(turn.task.body["prompt"]), "this", "that")
    phrase = PHRASES[int(turn.me.name[-3:]) % len(PHRASES)]
    return Said({"text": phrase.format(*words), "confidence": 0.95}, 2.0 + float(turn.chance.random()))


ATTACKS = (
    Attack(
        family="garbage-consensus",
        mechanism="inference",
        what="Six miners of one operator send empty phrases around words of the prompt, alike enough to be the largest "
        "group and so to become what others are measured by.",
        against="Quality comes before consensus: what says nothing is flagged, has no vote and earns nothing, however "
        "many say it. The cluster raises the alert low_quality_cluster.",
        open="The gate measures relevance, density and specificity by counts and cosines, and about a third of these "
        "phrases pass it: they are paid as poor answers, well below honest ones. Phrases rich in facts that are beside "
        "the point would get further.",
        run=by_miners("inference", lambda: Always(drone), 6),
    ),
)
