"""Turn what a sentence says by one small word: what a forger does, and what a loose comparison would let pass."""

import re

DENIALS = re.compile(r"\b(?:not|no|never|only|all|most)\s+", re.IGNORECASE)
VERBS = re.compile(r"\b(?:is|are|was|were|can|could|has|have|had|will|would|does|do|did|may|must)\b")


def forge_meaning(sentence: str) -> str:
    """The sentence without its denial, or with one.

    >>> forge_meaning("It does not cure colds."), forge_meaning("It is a lake."), forge_meaning("Tides rise.")
    ('It does cure colds.', 'It is not a lake.', 'Tides never rise.')
    """
    if DENIALS.search(sentence):
        return DENIALS.sub("", sentence, count=1)
    verb = VERBS.search(sentence)
    if verb:
        return f"{sentence[: verb.end()]} not{sentence[verb.end() :]}"
    first, _, rest = sentence.partition(" ")
    return f"{first} never {rest}"
