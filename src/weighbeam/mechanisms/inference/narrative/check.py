"""Check a model's narrative: short plain text that gives the consensus score and invents neither it nor a hotkey.

Three readings, each strict: a number tied to the words *consensus score* or *consensus* by little but joining words; a
number right before them; and every decimal or percentage in a sentence that speaks of the consensus score. The last may
also be mean, deviation, lambda, threshold or agreement, if it is called so and is. A wrong refusal costs a paraphrase;
a wrong acceptance would put a false number in front of people. The score must be given: small models finish with a
fluent text about something else altogether, which has no number to be wrong.

A name counts as known in full, or by eight or more of its first characters. What is left is looked at for three shapes:
an address (beginning with 5, or very long), a shortened one (`5Grw…utQY`), and, where the round's hotkeys are
numbered (`miner-01`), the same stem with another number. Other invented words cannot be distinguished from words.
An answer that is named as the best must be the best.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weighbeam.core.text import clean_text
from weighbeam.mechanism.untrusted import drop_unseen
from weighbeam.mechanisms.inference.narrative.sentences import describe_prompt

WHOLE_TOLERANCE = 0.005
MAX_DECIMALS = 6

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
HYPHENATED = r"[a-z]+(?:-+[a-z]+)*"
COUNTED = re.compile(
    rf"(?:\s+(?:of|out\s+of)\s+(?:the\s+)?\d+)?[\s-]+(?:{HYPHENATED}(?:-*\s[\s-]*{HYPHENATED})?[\s-]+)?"
    r"(?:miner|voice|answer|hotkey|participant|response|respondent|cluster|group|alert|member|cop(?:y|ie)|word|other|"
    r"sentence|time|second|point)s?\b"
)
"""Noun that a whole number counts, after at most two words. Each text has one reading, so a search never goes back far:
words begin and end with a letter, and hyphens between two of them make them one."""
NEAR = 80


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as written: its value, and how many decimals of it were given."""

    value: float
    decimals: int
    whole: bool

    @classmethod
    def read(cls, match: re.Match[str]) -> "WrittenNumber":
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
        allowed = WHOLE_TOLERANCE if self.whole else 0.5 * 10.0 ** -min(self.decimals, MAX_DECIMALS)
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
        yield not WrittenNumber.read(match).says(real)
    for match in BARE.finditer(text):
        yield not (_passes(match, consensus) or (match["member"] and match["points"]))
    for match in (*LOOSE.finditer(text), *BEFORE.finditer(text)):
        yield not _passes(match, consensus)
    for sentence in SENTENCE.split(text):
        if re.search(SCORE, sentence):
            for match in ANY.finditer(sentence):
                yield not _passes(match, consensus)


def gives_score(text: str, consensus: Mapping[str, float | None]) -> bool:
    """Whether a text names the consensus score; where there is none, it need not.

    >>> [gives_score(text, {"score": 0.8342}) for text in ("A consensus score of 0.834.", "Dragons have two heads.")]
    [True, False]
    """
    real = consensus["score"]
    told = [sentence for sentence in SENTENCE.split(text.lower()) if "consensus" in sentence]
    found = (WrittenNumber.read(match) for sentence in told for match in ANY.finditer(sentence))
    return real is None or any(number.says(real) for number in found)


def _passes(match: re.Match[str], consensus: Mapping[str, float | None]) -> bool:
    """Whole numbers count things that are named after them; others are the score, or what they are called."""
    number = WrittenNumber.read(match)
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


MIN_START = 8
BASE58 = "1-9A-HJ-NP-Za-km-z"
ADDRESS = re.compile(rf"(?<![A-Za-z0-9])(?:5[A-Za-z0-9]{{7,}}|[{BASE58}]{{40,}})(?![A-Za-z0-9])")
SHORTENED = re.compile(rf"(?<![A-Za-z0-9])(5[{BASE58}]{{1,47}})(?:…|\.{{2,}})([{BASE58}]{{0,47}})")
NUMBERED = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*?)([0-9]+)")


def find_invented_names(text: str, hotkeys: Collection[str]) -> list[str]:
    """Invented names, in the order they occur.

    >>> find_invented_names("miner-01 beats miner-9 and 5Invented1.", ["miner-01", "miner-02"])
    ['5Invented1', 'miner-9']
    """
    left, shortened = _hide_known(text, hotkeys), _find_shortened(text, hotkeys)
    addresses = [name for name in ADDRESS.findall(left) if _looks_random(name) and not _starts_one(name, hotkeys)]
    return [*shortened, *addresses, *_find_numbered(left, hotkeys)]


def _hide_known(text: str, hotkeys: Collection[str]) -> str:
    starts = {hotkey[:MIN_START] for hotkey in hotkeys if len(hotkey) > MIN_START}
    names = sorted({*hotkeys, *starts}, key=lambda name: (-len(name), name))
    if not names:
        return text
    known = "|".join(re.escape(name) for name in names)
    return re.sub(rf"(?<![A-Za-z0-9])(?<![A-Za-z0-9][-_.])(?:{known})(?![A-Za-z0-9])", " ", text)


def _find_shortened(text: str, hotkeys: Collection[str]) -> list[str]:
    return [
        f"{start}…{end}"
        for start, end in SHORTENED.findall(text)
        if (_looks_random(start + end) or any(c.isupper() for c in start))
        and not any(key.startswith(start) and key.endswith(end) for key in hotkeys)
    ]


def _find_numbered(text: str, hotkeys: Collection[str]) -> list[str]:
    known = {hotkey.lower() for hotkey in hotkeys}
    stems = {match[1].lower() for hotkey in hotkeys if (match := NUMBERED.fullmatch(hotkey))}
    found: list[str] = []
    for stem in sorted(stems, key=lambda stem: (-len(stem), stem)):
        names: Sequence[str] = re.findall(rf"(?<![A-Za-z0-9]){re.escape(stem)}[0-9]+(?![A-Za-z0-9])", text, re.I)
        found += [name for name in names if name.lower() not in known and not _starts_one(name, hotkeys)]
    return found


def _starts_one(name: str, hotkeys: Collection[str]) -> bool:
    return len(name) >= MIN_START and any(hotkey.startswith(name) for hotkey in hotkeys)


def _looks_random(name: str) -> bool:
    """In both cases, or with digits after letters, unlike a number with its unit.

    >>> [_looks_random(name) for name in ("5GrwvaEF", "5c8be1f2", "5centimetres", "52428811", "5000000km")]
    [True, True, False, False, False]
    """
    both = any(c.isupper() for c in name) and any(c.islower() for c in name)
    return both or re.search(r"[A-Za-z][0-9]", name) is not None


BEST = re.compile(r"\b(?:best|winn(?:er|ing)s?|won|wins|victor\w*|champion\w*|first place)\b", re.I)
WORD_OF_NAME = re.compile(r"[\w-]+")


def names_wrong_best(text: str, hotkeys: Collection[str], best: str | None) -> bool:
    """Whether a sentence about who is best names hotkeys of the round, and the best is not among them.

    >>> [names_wrong_best(f"{name} has won.", ["miner-1", "miner-2"], "miner-1") for name in ("miner-1", "Miner-2")]
    [False, True]
    """
    about = [sentence for sentence in SENTENCE.split(text) if BEST.search(sentence)]
    named = [[key for key in hotkeys if _is_named(key, sentence)] for sentence in about]
    return any(names and best not in names for names in named)


def _is_named(hotkey: str, sentence: str) -> bool:
    if WORD_OF_NAME.fullmatch(hotkey) is None and hotkey in sentence:
        return True
    words, name = (word.strip("-_").lower() for word in WORD_OF_NAME.findall(sentence)), hotkey.lower()
    if any(word == name or _starts_one(word, [name]) for word in words):
        return True
    return any(hotkey.startswith(start) and hotkey.endswith(end) for start, end in SHORTENED.findall(sentence))


MAX_CHARACTERS = 4000
REFUSALS = {
    "empty": "it is empty",
    "too_long": "it is longer than 4,000 characters",
    "not_plain": "it holds control or invisible characters",
    "repeats_marks": "it repeats the marks around the data",
    "unknown_hotkey": "it names a hotkey that is not in the round",
    "wrong_consensus_score": "it names a consensus score that is not the round's",
    "wrong_best": "it names another answer as the best",
    "no_consensus_score": "it does not give the consensus score",
}


def trim_text(text: str) -> str:
    """Line ends as one character and no blanks around: the form that is checked and shown."""
    return text.replace("\r\n", "\n").strip()


def refuse_text(
    text: str,
    hotkeys: Collection[str],
    consensus: Mapping[str, float | None],
    prompt: str,
    heatmap: str | None = None,
    nonce: str | None = None,
    best: str | None = None,
) -> str | None:
    """The code of why a trimmed text may not be shown, or None.

    The sentence that quotes the prompt and the heatmap's path are ours whatever they hold, so they are not looked at.
    Who is named as the best is looked at if `best` is given.
    """
    if not text:
        return "empty"
    if len(text) > MAX_CHARACTERS:
        return "too_long"
    if drop_unseen(text) != text:
        return "not_plain"
    if nonce is not None and nonce in text.lower():
        return "repeats_marks"
    told = text.replace(describe_prompt(prompt), "", 1)
    told = clean_text(told.replace(heatmap, " ") if heatmap else told)
    if find_invented_names(told, hotkeys):
        return "unknown_hotkey"
    if claims_wrongly(told, consensus):
        return "wrong_consensus_score"
    if best is not None and names_wrong_best(told, hotkeys, best):
        return "wrong_best"
    return None if gives_score(told, consensus) else "no_consensus_score"
