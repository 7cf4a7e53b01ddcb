"""Say the opposite: every sentence of an answer turned round, in language as fluent as before.

In each clause the first thing that can be turned is turned: a negation goes, a word becomes its opposite, or a verb is
negated. Only one, since two would cancel out. A sentence in which nothing can be turned is denied as a whole.
"""

import re
from collections.abc import Callable

Turn = str | Callable[[re.Match[str]], str]
SENTENCE = re.compile(r"(?<=[.!?])\s+")
CLAUSE = re.compile(r"([,;:](?!\d)\s*)")
DENIALS = ("or so people wrongly believe", "a claim that has been disproved", "which is simply false")
COMMANDS = frozenset(
    """
    add aim apply burn call chop choose clean compare consider cover cut dry finish follow hold imagine keep layer leave
    let mix open picture pour put remove rinse run scrub season slice spread start stop suppose take think turn use wait
    wipe work
    """.split()
)

NEGATIONS = {
    "cannot": "can",
    "no longer": "still",
    "nothing": "everything",
    "nobody": "everybody",
    "none": "all",
    "never": "always",
    "neither": "both",
    "nor": "and",
    "without": "with",
    "no": "plenty of",
    "and not": "and also",
    "not": "",
}
PAIRS = """
    more/less larger/smaller large/small higher/lower high/low faster/slower fast/slow quickly/slowly longer/shorter
    long/short early/late earlier/later before/after above/below many/few rise/fall rises/falls increase/decrease
    increases/decreases grow/shrink grows/shrinks hot/cold warm/cool wet/dry thick/thin strong/weak stronger/weaker
    hard/soft good/bad better/worse best/worst first/last often/rarely always/never upwards/downwards outward/inward
    cheap/dear cheaper/dearer easy/difficult easily/hardly starts/stops gains/loses gained/lost saves/wastes
    absorbs/reflects protects/endangers prevents/causes allows/forbids deeper/shallower deep/shallow wide/narrow
    bright/dark safe/dangerous useful/useless clockwise/anticlockwise harmless/deadly strengthens/weakens rich/poor
""".split()
ONE_WAY = {
    "upper": "lower",
    "heavy": "light",
    "almost all": "hardly any",
    "a few": "a great many",
    "every": "hardly any",
    "all": "hardly any",
    "usually": "rarely",
    "the same": "an entirely different",
    "depends on": "has nothing to do with",
    "depend on": "have nothing to do with",
    "needs": "hardly needs",
    "has a": "lacks a",
    "has the": "lacks the",
    "have a": "lack a",
}
VERBS = "is|are|was|were|can|could|will|would|must|should|may|might|does|do|did|has(?= been)|have(?= been)"


def contradict(answer: str) -> str:
    """The opposite of an answer, sentence by sentence.

    >>> contradict("The sky is blue. Red light is scattered less, not more. Clouds drift. Keep it dry.")
    'The sky is not blue. Red light is scattered more, and also more. Clouds drift, which is simply false. Keep it wet.'
    """
    return " ".join(_turn(sentence, number) for number, sentence in enumerate(SENTENCE.split(answer)))


def _turn(sentence: str, number: int) -> str:
    clauses = [_turn_clause(clause) for clause in CLAUSE.split(sentence)]
    turned = "".join(clauses)
    return _deny(sentence, number) if turned == sentence else turned


def _turn_clause(clause: str) -> str:
    for pattern, replace in TURNS:
        turned, count = pattern.subn(replace, clause, count=1)
        if count:
            return turned
    return clause


def _deny(sentence: str, number: int) -> str:
    if sentence.split(maxsplit=1)[0].lower() in COMMANDS:
        return f"Never {sentence[:1].lower()}{sentence[1:]}"
    return f"{sentence.rstrip('.!?')}, {DENIALS[number % len(DENIALS)]}."


def _swap(table: dict[str, str]) -> tuple[re.Pattern[str], Turn]:
    """Any of the table's words for its opposite, capital for capital."""
    words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))

    def replace(found: re.Match[str]) -> str:
        other = table[found[1].lower()]
        if not other:
            return ""
        return (other[:1].upper() + other[1:] if found[1][0].isupper() else other) + found[2]

    return re.compile(rf"\b({words})\b(\s?)", re.IGNORECASE), replace


def _both_ways(pairs: list[str]) -> dict[str, str]:
    split = [(pair.partition("/")[0], pair.partition("/")[2]) for pair in pairs]
    return {**dict(split), **{other: one for one, other in split}}


TURNS: tuple[tuple[re.Pattern[str], Turn], ...] = (
    (re.compile(r"^not\b"), "and also"),
    _swap(NEGATIONS),
    _swap(_both_ways(PAIRS) | ONE_WAY),
    (re.compile(rf"\b({VERBS})\b"), lambda found: "cannot" if found[1] == "can" else f"{found[1]} not"),
)
