"""Give the question back."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.world import Always, Said, Turn, World


def echo(_: World, turn: Turn) -> Said:
    """The prompt as if it were its own answer, in two wrappings."""
    prompt = turn.task.body["prompt"]
    claim = prompt.rstrip("?.! ")
    text = f"You asked: {prompt} The answer to the question {claim.lower()} is as follows. {claim}, that is so."
    return Said({"text": text, "confidence": 0.9}, 1.0 + float(turn.chance.random()))


ATTACKS = (
    Attack(
        family="prompt-echo",
        mechanism="inference",
        what="Three miners send the prompt back, wrapped as an answer: nothing is nearer to the question than itself.",
        against="Words of the prompt do not count as content, and sentences that repeat it are known as echo: the "
        "answer is flagged and earns nothing.",
        open="An echo that also says something is judged by what else it says.",
        run=by_miners("inference", lambda: Always(echo), 3),
    ),
)
