"""Numbers that a text presents as the consensus score, or beside it, and that are not what they are called.

Three readings, each strict: a number tied to the words *consensus score* or *consensus* by little but joining words; a
number right before them; and every decimal or percentage in a sentence that speaks of the consensus score. The last may
also be mean, deviation, lambda, threshold or agreement, if it is called so and is. A wrong refusal costs a paraphrase;
a wrong acceptance would put a false number in front of people.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

WHOLE_TOLERANCE = 0.005
MOST_DECIMALS = 6

NOUN = r"(?:score|value|level|figure|strength|rating|measure|metric|index|number|degree|result)s?"
SCORE = rf"(?:consensus[\s_-]*{NOUN}|{NOUN}\s+(?:of|for)\s+(?:the\s+|this\s+)?consensus)"
JOINING = (
    "of is was at to by a an the its with as and were been be being only just about around nearly almost exactly "
    "precisely approximately approx roughly circa reached reaches came comes stands stood equals equal equalled "
    "amounted amounts computed calculated measured reported rounded found given gives high low strong weak full "
    "perfect total overall final real true actual not achieved attained score scored scoring value level thus"
)
WORD = rf"\s[-–—]\s|\b(?:{'|'.join(JOINING.split())})\b"
JOIN = rf"(?:[\s:=()\[\]*_`\"'’“”|~≈<>≥≤,.]|{WORD})*"
STRAY = rf"(?:[\s:=()]|{WORD})*(?:(?!quality|lead|seconds)[a-z]+\s+){{1,2}}"
NUMBER = (
    r"(?<![\w.])(?P<sign>[-−]?)(?P<digits>(?>\d+(?:[.,]\d+)?|[.,]\d+))(?P<percent>\s?(?:%|percent\b|per\s+cent\b))?"
)
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred half nought nil unity"
)
LABELS = {
    "threshold": r"threshold|against|above|over|exceed\w*|below|under|beyond|than|limit|minimum|cutoff|required",
    "mu": r"mean|average|mu|μ",
    "sigma": r"deviation|spread|sigma|σ",
    "lambda": r"lambda|λ|factor|plus|minus",
    "agreement": r"agreement|polarity",
}
LABEL_JOIN = r"(?:[\s:=()]|\b(?:of|is|was|at|a|an|the|similarity|cosine|value|weighted|threshold)\b)*"

TIED = re.compile(rf"{SCORE}{JOIN}{NUMBER}")
SPELLED = re.compile(rf"{SCORE}{JOIN}(?:{'|'.join(WORDS.split())})\b")
BARE = re.compile(
    rf"(?P<member>\b(?:in|of|outside|within)\s+(?:the\s+)?)?\bconsensus\b{JOIN}{NUMBER}(?P<points>\s*points?)?"
)
LOOSE = re.compile(rf"\bconsensus\b{STRAY}{NUMBER}(?!\s*points)")
BEFORE = re.compile(rf"{NUMBER}[\s,()*-]*(?:(?:strong|weak|clear|high|low|overall|the|a)\s+)*(?:{SCORE}|consensus\b)")
ANY = re.compile(NUMBER)
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
CALLED = {name: re.compile(rf"(?:\b|(?<=\W))(?:{label}){LABEL_JOIN}$") for name, label in LABELS.items()}
CALLED_AFTER = {name: re.compile(rf"[\s-]*(?:{label})\b") for name, label in LABELS.items()}
CALLED_AFTER["lambda"] = re.compile(r"\s*(?:times\b|×|lambda\b)")
COUNTED = re.compile(
    r"(?:\s+(?:of|out\s+of)\s+(?:the\s+)?\d+)?(?:[\s-]+[a-z-]+){0,2}?[\s-]+(?:miner|voice|answer|hotkey|participant|"
    r"response|respondent|cluster|group|alert|member|cop(?:y|ie)|word|other|sentence|time|second|point)s?\b"
)
NEAR = 80


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written: its value, and how many decimals of it were given."""

    value: float
    decimals: int
    whole: bool

    @classmethod
    def read(cls, match: re.Match[str]) -> "Number":
        digits = match["digits"].replace(",", ".")
        value, decimals = float(digits), len(digits.partition(".")[2])
        if match["sign"]:
            value = -value
        if match["percent"]:
            return cls(value / 100, decimals + 2, False)
        return cls(value, decimals, decimals == 0)

    def says(self, real: float | None) -> bool:
        """Whether this is `real`, rounded to the decimals given; a whole number must be nearly exact."""
        if real is None:
            return False
        allowed = WHOLE_TOLERANCE if self.whole else 0.5 * 10.0 ** -min(self.decimals, MOST_DECIMALS)
        return abs(self.value - real) <= allowed + 1e-9


def claims_wrongly(text: str, consensus: Mapping[str, float | None]) -> bool:
    """Whether a text names a consensus score other than `consensus["score"]`.

    >>> known = {"score": 0.8342, "mu": 0.81, "sigma": 0.0242, "lambda": 1.0, "threshold": 0.7, "agreement": None}
    >>> claims_wrongly("A consensus score of 0.834, above the threshold of 0.7.", known)
    False
    >>> [claims_wrongly(text, known) for text in ("Consensus was reached at 97 %.", "The consensus score is 0.81.")]
    [True, True]
    """
    low = text.lower()
    return SPELLED.search(low) is not None or any(_list_wrong(low, consensus))


def _list_wrong(text: str, consensus: Mapping[str, float | None]) -> Iterator[bool]:
    real = consensus["score"]
    for match in TIED.finditer(text):
        yield not Number.read(match).says(real)
    for match in BARE.finditer(text):
        yield not (_passes(match, consensus) or (match["member"] and match["points"]))
    for match in (*LOOSE.finditer(text), *BEFORE.finditer(text)):
        yield not _passes(match, consensus)
    for sentence in SENTENCE.split(text):
        if re.search(SCORE, sentence):
            for match in ANY.finditer(sentence):
                yield not _passes(match, consensus)


def _passes(match: re.Match[str], consensus: Mapping[str, float | None]) -> bool:
    """Whole numbers count things that are named after them; others are the score, or what they are called."""
    number = Number.read(match)
    end = match.end("percent") if match["percent"] else match.end("digits")
    if number.says(consensus["score"]) or (number.whole and COUNTED.match(match.string[end : end + NEAR])):
        return True
    before, after = (
        match.string[max(0, match.start("sign") - NEAR) : match.start("sign")],
        match.string[end : end + NEAR],
    )
    return any(
        number.says(consensus[name]) and (CALLED[name].search(before) or CALLED_AFTER[name].match(after))
        for name in LABELS
    )
