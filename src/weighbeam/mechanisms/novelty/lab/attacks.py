"""Attacks on novelty and the trials they are played in, one tuple of `Attack` per family.

Asking the desk what a text would be paid is free, so attackers ask before they hand in: of a few tries the best, and
nothing at all where none is paid. What earns under that is what the rule leaves open.
"""

import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import ClassVar

import numpy as np

from weighbeam.core.canonical import canonical_json
from weighbeam.lab.attack.attack import Attack, MinerTrial, TrialSetting
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.world import MinerStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.mechanisms.novelty.lab.world import NoveltyWorld, reword
from weighbeam.mechanisms.novelty.miners.contributors import CYRILLIC, LATIN

KEPT: dict[tuple[bytes, int, int, Season], float] = {}
Write = Callable[[NoveltyWorld, MinerTurn], str]
Propose = Callable[[NoveltyWorld, MinerTurn], Iterable[str]]

TRIES = 8
"""Texts that an attacker asks about in one turn."""
WORTH_HANDING_IN = 0.01
"""Tokens: what pays less leaves more traces than it earns."""


@dataclass(frozen=True, slots=True)
class WritingStrategy:
    """The strategy that hands in one text at every turn."""

    write: Write

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        assert isinstance(world, NoveltyWorld)
        return world.hand_in(turn, self.write(world, turn))


@dataclass(frozen=True, slots=True)
class GreedyStrategy:
    """The strategy that asks the desk about some texts and hands in the one that is paid most, or none."""

    propose: Propose

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        assert isinstance(world, NoveltyWorld)
        return world.hand_in(turn, pick_best(world, self.propose(world, turn), turn.hotkey))


def pick_best(world: NoveltyWorld, texts: Iterable[str], hotkey: str) -> str | None:
    """Of the first few texts the one that is paid most, of equals the first; None if none is worth it."""
    best, highest = None, WORTH_HANDING_IN
    for text in islice(texts, TRIES):
        paid = world.quote(text, hotkey)
        if paid > highest:
            best, highest = text, paid
        if paid >= world.greatest:
            break
    return best


def repeat(write: Write) -> Propose:
    """One way of writing, tried over and over."""

    def propose(world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
        while True:
            yield write(world, turn)

    return propose


@dataclass(frozen=True, slots=True)
class ContributorTrial(MinerTrial):
    """A trial paid in tokens. `fair` is what all together, the attackers too, earn on average by honest work."""

    one: ClassVar[str] = "what a contributor earns on average by honest work, in tokens"

    def __call__(self, seed: int, setting: TrialSetting) -> Trial:
        world = setting.worlds(self.mechanism, setting.params)
        assert isinstance(world, NoveltyWorld)
        fair = _earn_by_work(world, self.identities, seed, setting.season)
        return replace(_play(world, self.strategy(), self.identities, seed, setting.season), fair=fair)


def by_contributors(write: Callable[[], Write], identities: int) -> ContributorTrial:
    return ContributorTrial("novelty", lambda: WritingStrategy(write()), identities)


def by_greedy(propose: Callable[[], Propose], identities: int = 1) -> ContributorTrial:
    return ContributorTrial("novelty", lambda: GreedyStrategy(propose()), identities)


def _play(world: NoveltyWorld, strategy: MinerStrategy | None, identities: int, seed: int, season: Season) -> Trial:
    trial = play_season(world, strategy, identities, seed, season)
    return replace(trial, earned=dict.fromkeys(trial.earned, 0.0) | world.count_tokens())


def _earn_by_work(world: NoveltyWorld, identities: int, seed: int, season: Season) -> float:
    """Played once for all attacks that are compared with it."""
    key = canonical_json(world.params.model_dump(mode="json")), identities, seed, season
    if key not in KEPT:
        earned = _play(world, None, identities, seed, season).earned
        KEPT[key] = sum(earned.values()) / len(earned)
    return KEPT[key]


MOULD_ENDINGS = {
    "noun": ("tion", "ness", "ment", "ture", "ity"),
    "quality": ("al", "ous", "ic", "ive", "able"),
    "deed": ("ated", "ened", "ered", "ised", "led"),
}
MOULD = "The {quality} {noun} {deed} a {quality} {noun} because every {noun} of the {noun} was {quality}."


def fill_mould(world: NoveltyWorld, turn: MinerTurn) -> str:
    text = MOULD
    for kind, endings in MOULD_ENDINGS.items():
        fitting = [word for word in world.words if word.endswith(endings)]
        while f"{{{kind}}}" in text:
            text = text.replace(f"{{{kind}}}", str(turn.chance.choice(fitting)), 1)
    return text


_FLUENT_NONSENSE_NOVELTY = (
    Attack(
        family="fluent-nonsense",
        mechanism="novelty",
        what="One contributor fills a mould of good grammar with words drawn by lot.",
        against="Nothing: it is language in an order that people write, and nobody has said it before.",
        open="It pays the highest reward every time, and nothing shows: of 500 such sentences the gate holds 2. "
        "Whether something is worth saying is not measured; a budget per contributor limits the loss.",
        run=by_greedy(lambda: repeat(fill_mould)),
    ),
)


GIBBERISH_WORDS = 14
GIBBERISH_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def hit_keys(_: NoveltyWorld, turn: MinerTurn) -> str:
    sizes = turn.chance.integers(3, 9, size=GIBBERISH_WORDS)
    return " ".join("".join(turn.chance.choice(list(GIBBERISH_LETTERS), size=size)) for size in sizes)


_GIBBERISH_NOVELTY = (
    Attack(
        family="gibberish",
        mechanism="novelty",
        what="One contributor hands in random letters.",
        against="Too many word pieces per word, and no language: the reward is held until the operator looks at it.",
        open="An operator who releases without looking pays the highest reward for it.",
        run=by_contributors(lambda: hit_keys, 1),
    ),
)


MISSPELT_LETTERS = 6


def misspell(world: NoveltyWorld, turn: MinerTurn) -> str:
    return " ".join(swap_letters(word) for word in world.recall(turn).split())


def swap_letters(word: str) -> str:
    """
    >>> swap_letters("harbour"), swap_letters("ship")
    ('habrour', 'ship')
    """
    return word if len(word) < MISSPELT_LETTERS else f"{word[:2]}{word[3]}{word[2]}{word[4:]}"


_MISSPELLING_NOVELTY = (
    Attack(
        family="misspelling",
        mechanism="novelty",
        what="One contributor hands in what others have said, with two letters swapped in every longer word.",
        against="A text of many words that the embedder has to spell out is held; what passes is paid by similarity.",
        open="About two in five such texts are not held, and the contributor finds them by asking; each is paid by how "
        "far the embedder is misled.",
        run=by_greedy(lambda: repeat(misspell)),
    ),
)


DISGUISES: tuple[Callable[[str], str], ...] = (
    str.upper,
    lambda text: text.replace(" ", " \u200b\u00a0"),
    lambda text: f"As everybody knows, {text}",
    lambda text: f"{text} That is what those say who know.",
    lambda text: " ".join(text.split()[::-1]),
    lambda text: text.translate(str.maketrans(LATIN, CYRILLIC)),
    lambda text: text.replace("a", "á").replace("e", "é"),
    lambda text: text.replace(" because ", " since ").replace(" big ", " large ").replace(" often ", " frequently "),
)


def disguise(world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
    """Something that was said, in each disguise."""
    text = world.recall(turn)
    return (wear(text) for wear in DISGUISES)


_NEAR_DUPLICATE_NOVELTY = (
    Attack(
        family="near-duplicate",
        mechanism="novelty",
        what="One contributor hands in what others have said: in capitals, with blanks or characters nobody sees, "
        "with a phrase before or after it, backwards, in letters of another alphabet, with accents, with a synonym.",
        against="Case, spacing and Unicode spelling make no other text; a phrase more leaves a text too near to be "
        "paid; foreign letters are held.",
        open="Words in reverse order are paid a little. Misspelt and sewn-together copies are attacks of their own.",
        run=by_greedy(lambda: disguise),
    ),
)


def sew(world: NoveltyWorld, turn: MinerTurn) -> str:
    """The beginning of one contribution and the end of another."""
    one, other = world.recall(turn).split(), world.recall(turn).split()
    return " ".join([*one[: len(one) // 2], *other[len(other) // 2 :]])


_PATCHWORK_NOVELTY = (
    Attack(
        family="patchwork",
        mechanism="novelty",
        what="One contributor sews the beginning of one contribution to the end of another.",
        against="Long texts are compared piece by piece; a single sentence is one piece and is compared as a whole.",
        open="It pays more than average honest work, and nothing shows: half of one text and half of another are like "
        "neither. What is new in meaning is beyond a sentence embedder.",
        run=by_greedy(lambda: repeat(sew)),
    ),
)


DRIFT_STEP = 2
"""How many words are exchanged each time."""
DRIFT_LETTERS = 5


@dataclass(slots=True)
class DriftingWriter:
    """Begins with what another has said."""

    last: str | None = None

    def __call__(self, world: NoveltyWorld, turn: MinerTurn) -> str:
        words = (self.last or world.recall(turn)).split()
        places = [place for place, word in enumerate(words) if len(word) >= DRIFT_LETTERS]
        for place in turn.chance.permutation(places)[:DRIFT_STEP]:
            words[int(place)] = str(turn.chance.choice(world.words))
        self.last = " ".join(words)
        return self.last


_SLOW_DRIFT_NOVELTY = (
    Attack(
        family="slow-drift",
        mechanism="novelty",
        what="One contributor begins with what another has said and exchanges two words at each step.",
        against="Everything said before stays in the corpus, so each step is paid by its similarity to the last, "
        "whatever it has to do with the first.",
        open="It earns about a third of average honest work for no work at all; with more words exchanged at a time "
        "it earns more, until it is fluent nonsense.",
        run=by_contributors(DriftingWriter, 1),
    ),
)


SYBIL_IDENTITIES = 4


@dataclass(slots=True)
class SharedThoughtWriter:
    """The operator's first in a round says something new; the others say again what one of them said before."""

    thoughts: dict[int, str] = field(default_factory=dict)

    def __call__(self, world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
        if turn.round not in self.thoughts:
            self.thoughts[turn.round] = world.think()
            yield self.thoughts[turn.round]
            return
        earlier = [text for number, text in self.thoughts.items() if number < turn.round]
        while earlier:
            yield reword(earlier[int(turn.chance.integers(len(earlier)))], turn.chance)


_SYBIL_NOVELTY = (
    Attack(
        family="sybil",
        mechanism="novelty",
        what="Four identities of one operator: the first says something new, the others say again in other words what "
        "one of them said in an earlier round.",
        against="The later ones are paid by their similarity to the first, which is little or nothing; the same words "
        "again are a duplicate.",
        open="The shortest rewording is paid a little, so four identities earn somewhat more than one, and each of "
        "them far less than honest work.",
        run=by_greedy(SharedThoughtWriter, SYBIL_IDENTITIES),
    ),
)


SALAD_PAIRS = 8
SALAD_SYLLABLES = 3
SMALL_WORDS = ("the", "a", "of", "and", "in")
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def mix_salad(world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
    """Made-up words, real words drawn by lot, and what was said with its words shuffled, one after the other."""
    chance = turn.chance
    while True:
        yield " ".join(f"{chance.choice(SMALL_WORDS)} {invent_word(chance)}" for _ in range(SALAD_PAIRS))
        yield " ".join(f"{chance.choice(SMALL_WORDS)} {chance.choice(world.words)}" for _ in range(SALAD_PAIRS))
        yield " ".join(str(word) for word in chance.permutation(world.recall(turn).split()))


def invent_word(chance: np.random.Generator) -> str:
    """A word that can be pronounced."""
    pairs = [(chance.choice(list(CONSONANTS)), chance.choice(list(VOWELS))) for _ in range(SALAD_SYLLABLES)]
    return "".join(f"{one}{other}" for one, other in pairs)


_WORD_SALAD_NOVELTY = (
    Attack(
        family="word-salad",
        mechanism="novelty",
        what="One contributor tries made-up words of easy syllables or real words drawn by lot, with small words "
        "between them, and the words of others in another order.",
        against="Words that the embedder has to spell out and neighbours that nobody puts side by side are held; a "
        "text of the words of a known one is near to it.",
        open="A small word before a real one is an order that people write. Asking about one salad after the other "
        "finds one that is paid, and nothing shows; an operator who reads what is paid most sees it at once.",
        run=by_greedy(lambda: mix_salad),
    ),
)


WHOLE_THOUGHTS = 6
SHRED_WORDS = 9


def shred(sentences: list[str]) -> list[str]:
    """Sentences, pairs of neighbours, and overlapping windows of words: parts of a sentence and across its end."""
    words = " ".join(sentences).split()
    windows = [
        " ".join(words[start : start + size])
        for size in (SHRED_WORDS, 2 * SHRED_WORDS)
        for start in range(0, len(words) - size + 1, size // 2)
    ]
    return list(dict.fromkeys([*sentences, *(" ".join(pair) for pair in pairwise(sentences)), *windows]))


@dataclass(slots=True)
class ShreddingWriter:
    """One long text of its own for the whole season, entire and in shreds; either comes first."""

    whole_first: bool
    left: list[str] | None = None

    def __call__(self, world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
        if self.left is None:
            sentences = [world.think() for _ in range(WHOLE_THOUGHTS)]
            whole, parts = " ".join(sentences), shred(sentences)
            self.left = [whole, *parts] if self.whole_first else [*parts, whole]
        self.left = [text for text in self.left if world.quote(text, turn.hotkey) > WORTH_HANDING_IN]
        if self.left:
            yield self.left.pop(0)


_SHREDDING_NOVELTY = (
    Attack(
        family="shredding",
        mechanism="novelty",
        what="One contributor has one text of six new sentences for a whole season: it hands in the text, then its "
        "sentences, pairs of them and windows of words, as long as one is paid.",
        against="A shred is compared with the pieces of known texts.",
        open="A piece of a known text is a whole text or 160 words of it: a sentence of it is less alike, and is paid.",
        run=by_greedy(lambda: ShreddingWriter(whole_first=True)),
    ),
    Attack(
        family="shredding-first",
        mechanism="novelty",
        what="The same with the shreds first and the whole at the end.",
        against="The whole is compared with everything said before, shreds of its own too.",
        open="Sentences that nobody has said are new: six of them earn what six honest contributions do, and windows "
        "across them earn more.",
        run=by_greedy(lambda: ShreddingWriter(whole_first=False)),
    ),
)


ACCENTS = str.maketrans("aeiou", "áéíóú")
DIGITS = str.maketrans("aeiost", "431057")
VOWELLESS = str.maketrans("", "", "aeiou")
RESPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda text: "".join(f"&#{ord(letter)};" if letter in "aeiou" else letter for letter in text),
    lambda text: html.escape(text.replace("e", "&eacute;")),
    lambda text: text.translate(DIGITS),
    lambda text: text.translate(ACCENTS),
    lambda text: "\u200d".join(text),
    lambda text: "".join(f"{letter}\u0335" if letter.isalpha() else letter for letter in text),
    lambda text: "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text),
    lambda text: " ".join(_change_long(word, lambda it: f"{it[:3]}-{it[3:]}") for word in text.split()),
    lambda text: " ".join(_change_long(word, lambda it: f"{it[:3]} {it[3:]}") for word in text.split()),
    lambda text: " ".join(_change_long(word, lambda it: f"{it[:3]}{it[2:]}") for word in text.split()),
    lambda text: " ".join(_change_long(word, lambda it: f"{it[:3]}{it[4:]}") for word in text.split()),
    lambda text: text.replace("ph", "f").replace("ck", "k").replace("qu", "kw").replace("ight", "ite"),
    lambda text: " ".join(_change_long(word, lambda it: it[0] + it[1:].translate(VOWELLESS)) for word in text.split()),
    lambda text: text.replace(" ", "_"),
    lambda text: text.swapcase(),
)
LONG_WORD = 6


def _change_long(word: str, change: Callable[[str], str]) -> str:
    """
    >>> _change_long("harbour", lambda it: f"{it[:3]}-{it[3:]}"), _change_long("ship", str.upper)
    ('har-bour', 'ship')
    """
    return change(word) if len(word) >= LONG_WORD else word


def respell(world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
    """Respell others' texts in ever new ways, beginning where the last turn ended."""
    for number in range(TRIES):
        yield RESPELLINGS[(turn.turn * TRIES + number) % len(RESPELLINGS)](world.recall(turn))


_SPELLINGS_NOVELTY = (
    Attack(
        family="spellings",
        mechanism="novelty",
        what="One contributor hands in what others have said in other spellings: HTML entities, digits for letters, "
        "accents, invisible and combining characters, hyphens, doubled, dropped and left-out letters.",
        against="Texts that Unicode treats as equal are equal; many words that the embedder has to spell out are held.",
        open="A respelling that leaves most words whole and misleads the embedder is paid by its similarity.",
        run=by_greedy(lambda: respell),
    ),
)


EXCHANGED_LETTERS = 4


def exchange_words(world: NoveltyWorld, turn: MinerTurn) -> str:
    """Exchange two longer words of another's text."""
    words = world.recall(turn).rstrip(".").split()
    places = [place for place, word in enumerate(words) if len(word) >= EXCHANGED_LETTERS]
    if len(places) >= 2:
        one, other = turn.chance.permutation(places)[:2]
        words[one], words[other] = words[other], words[one]
    return " ".join(words) + "."


_WORD_EXCHANGE_NOVELTY = (
    Attack(
        family="word-exchange",
        mechanism="novelty",
        what="One contributor hands in what others have said with two words in each other's place.",
        against="The similarity of the embedding, which an exchange hardly changes.",
        open="A rule that pays for another fact in the same words pays for exchanged words too: they look alike.",
        run=by_greedy(lambda: repeat(exchange_words)),
    ),
)


@dataclass(slots=True)
class SharedTextWriter:
    """A new sentence in each round, of which every identity hands in a part."""

    parts: dict[int, list[str]] = field(default_factory=dict)

    def __call__(self, world: NoveltyWorld, turn: MinerTurn) -> Iterator[str]:
        if turn.round not in self.parts:
            words = world.think().split()
            size = -(-len(words) // SYBIL_IDENTITIES)
            self.parts[turn.round] = [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
        if self.parts[turn.round]:
            yield self.parts[turn.round].pop(0)


_SYBIL_SPLIT_NOVELTY = (
    Attack(
        family="sybil-split",
        mechanism="novelty",
        what="Four identities of one operator cut one new sentence in four and hand in a part each.",
        against="A text of fewer than three words is refused, and parts of one sentence are near each other.",
        open="A part of a few words is paid like a sentence: pay does not grow with what is said.",
        run=by_greedy(SharedTextWriter, SYBIL_IDENTITIES),
    ),
)


ATTACKS = (
    *_FLUENT_NONSENSE_NOVELTY,
    *_GIBBERISH_NOVELTY,
    *_MISSPELLING_NOVELTY,
    *_NEAR_DUPLICATE_NOVELTY,
    *_PATCHWORK_NOVELTY,
    *_SHREDDING_NOVELTY,
    *_SLOW_DRIFT_NOVELTY,
    *_SPELLINGS_NOVELTY,
    *_SYBIL_NOVELTY,
    *_SYBIL_SPLIT_NOVELTY,
    *_WORD_EXCHANGE_NOVELTY,
    *_WORD_SALAD_NOVELTY,
)
