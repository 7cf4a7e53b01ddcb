"""Attacks on novelty and the trials they are played in, one tuple of `Attack` per family."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True, slots=True)
class WritingStrategy:
    """The strategy that hands in one text at every turn."""

    write: Write

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        assert isinstance(world, NoveltyWorld)
        return world.hand_in(turn, self.write(world, turn))


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
        against="Nothing: it is language, and nobody has said it before.",
        open="It pays the highest reward every time, and nothing shows. Whether something is worth saying is not "
        "measured; a budget per contributor limits the loss.",
        run=by_contributors(lambda: fill_mould, 1),
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
        against="Only the similarity of the embedding, which falls more for a misspelt text than a reader's would.",
        open="It pays a little more than average honest work, and nothing shows: the text reads as language, and no "
        "copy is like it. A spelling check before embedding would be the mend.",
        run=by_contributors(lambda: misspell, 1),
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


def disguise(world: NoveltyWorld, turn: MinerTurn) -> str:
    """One disguise after the other."""
    return DISGUISES[turn.turn % len(DISGUISES)](world.recall(turn))


_NEAR_DUPLICATE_NOVELTY = (
    Attack(
        family="near-duplicate",
        mechanism="novelty",
        what="One contributor hands in what others have said: in capitals, with blanks or characters nobody sees, "
        "with a phrase before or after it, backwards, in letters of another alphabet, with accents, with a synonym.",
        against="Case, spacing and Unicode spelling make no other text; a phrase more leaves a text too near to be "
        "paid; foreign letters are held.",
        open="Words in reverse order are paid a little. Misspelt and sewn-together copies are attacks of their own.",
        run=by_contributors(lambda: disguise, 1),
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
        run=by_contributors(lambda: sew, 1),
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
    """Whoever of the operator's comes first in a round says something new; the others say it again."""

    thoughts: dict[int, str] = field(default_factory=dict)

    def __call__(self, world: NoveltyWorld, turn: MinerTurn) -> str:
        if turn.round not in self.thoughts:
            self.thoughts[turn.round] = world.think()
            return self.thoughts[turn.round]
        return reword(self.thoughts[turn.round], turn.chance)


_SYBIL_NOVELTY = (
    Attack(
        family="sybil",
        mechanism="novelty",
        what="Four identities of one operator: the first says something new, the others say the same in other words.",
        against="The later ones are paid by their similarity to the first, which is little or nothing; the same words "
        "again are a duplicate.",
        open="What shortens a text most is paid a little, so four identities earn somewhat more than one, and each of "
        "them far less than honest work.",
        run=by_contributors(SharedThoughtWriter, SYBIL_IDENTITIES),
    ),
)


SALAD_PAIRS = 8
SALAD_SYLLABLES = 3
SMALL_WORDS = ("the", "a", "of", "and", "in")
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"


def mix_salad(_: NoveltyWorld, turn: MinerTurn) -> str:
    return " ".join(f"{turn.chance.choice(SMALL_WORDS)} {invent_word(turn.chance)}" for _ in range(SALAD_PAIRS))


def invent_word(chance: np.random.Generator) -> str:
    """A word that can be pronounced."""
    pairs = [(chance.choice(list(CONSONANTS)), chance.choice(list(VOWELS))) for _ in range(SALAD_SYLLABLES)]
    return "".join(f"{one}{other}" for one, other in pairs)


_WORD_SALAD_NOVELTY = (
    Attack(
        family="word-salad",
        mechanism="novelty",
        what="One contributor hands in made-up words of easy syllables with small real words between them.",
        against="The look at language counts small words and pieces per word, and both are as in honest text; rarer "
        "words without small ones between them would be held.",
        open="It pays the highest reward every time, and nothing shows. An operator who reads what is paid most sees "
        "it at once.",
        run=by_contributors(lambda: mix_salad, 1),
    ),
)


ATTACKS = (
    *_FLUENT_NONSENSE_NOVELTY,
    *_GIBBERISH_NOVELTY,
    *_MISSPELLING_NOVELTY,
    *_NEAR_DUPLICATE_NOVELTY,
    *_PATCHWORK_NOVELTY,
    *_SLOW_DRIFT_NOVELTY,
    *_SYBIL_NOVELTY,
    *_WORD_SALAD_NOVELTY,
)
