"""Words of the topic, without a thought."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.chance import draw
from weighbeam.lab.read_prompt import find_keywords
from weighbeam.lab.world import Always, Said, Turn, World

VARIANTS = 6
FRAMES = (
    "The {0} of the {1} determines the {2}.",
    "A strong {1} leads to a higher {0}, which changes the {2} by about {3} per cent.",
    "Without {2} there is no {0}, as was shown in {4}.",
    "The {1} and the {2} are linked by the {0}.",
)


def stuff(_: World, turn: Turn) -> Said:
    """One of six texts that are grammar and keywords, with numbers that mean nothing."""
    drawn = draw(int(turn.chance.integers(VARIANTS)), "stuffing", turn.task.id)
    words = list((*find_keywords(turn.task.body["prompt"]), "effect", "structure", "process")[:8])
    sentences = []
    for frame in FRAMES:
        drawn.shuffle(words)
        sentences.append(frame.format(*words[:3], drawn.integers(3, 90), drawn.integers(1890, 2020)))
    return Said({"text": " ".join(sentences), "confidence": 0.9}, 1.0 + float(turn.chance.random()))


ATTACKS = (
    Attack(
        family="keyword-stuffing",
        mechanism="inference",
        what="Three miners put the prompt's own words into ready-made sentences, with numbers drawn at random: fluent, "
        "on topic, specific, and meaningless.",
        against="Words of the prompt carry no density of their own; bare lists of keywords do not read as language and "
        "are flagged.",
        open="Frames in good grammar pass for language. What they earn then is what their distance from the consensus "
        "leaves them.",
        run=by_miners("inference", lambda: Always(stuff), 3),
    ),
)
