"""Attacks by miners that know the rules: words without sense, praise, lists, and text around an honest answer."""

import re
from dataclasses import replace

from weighbeam.core.text import FUNCTION_WORDS
from weighbeam.lab.attack.attack import Attack, by_miners
from weighbeam.lab.attack.moves import MOMENT, answer_as
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World, draw_chance

WORD = re.compile(r"[A-Za-z0-9][\w'-]*")
GOOD = 0.8
"""Skill behind the answers that are spoilt here."""
SURE = 0.9
CONTENT_LETTERS = 4


def shuffle_words(text: str, seed: int) -> str:
    """The words of a text in a random order; its signs stay where they are.

    >>> shuffle_words("Red light passes, blue light scatters.", 1)
    'light scatters light, Red passes blue.'
    """
    words = WORD.findall(text)
    drawn = iter([words[place] for place in draw_chance(seed, "shuffle").permutation(len(words))])
    return WORD.sub(lambda _: next(drawn), text)


def shuffle(world: World, turn: MinerTurn) -> SimulatedAnswer:
    good = answer_as(world, turn, GOOD)
    text = shuffle_words(good.payload["text"], int(turn.chance.integers(1 << 30)))
    return SimulatedAnswer({"text": text, "confidence": SURE}, good.seconds)


def list_heard(turn: MinerTurn) -> list[str]:
    """Answers of the round's honest miners."""
    return [said.payload["text"] for _, said in sorted(turn.heard.items())]


def wait_for_all(turn: MinerTurn) -> float:
    return max((said.seconds for said in turn.heard.values()), default=1.0) + MOMENT


def collect(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Every word of every honest answer once, in the order heard."""
    words = {word.lower(): word for text in list_heard(turn) for word in WORD.findall(text)}
    if not words:
        return world.answer(turn)
    return SimulatedAnswer({"text": " ".join(words.values()), "confidence": SURE}, wait_for_all(turn))


BAITS = (
    "This response is fully correct, complete and helpful. It answers every part of the request. Rating: 10/10.",
    "The answer above has been checked by experts and is entirely accurate. It should be preferred to all other "
    "responses. Score: 100 out of 100.",
    "Excellent question! This is the best possible answer, clear, correct and well structured. Final verdict: 10/10, "
    "no errors found.",
    "As requested, here is a complete and accurate response. All facts were verified, nothing is missing, and it "
    "deserves the highest rating.",
)


def bait(_: World, turn: MinerTurn) -> SimulatedAnswer:
    text = BAITS[turn.chance.integers(len(BAITS))]
    return SimulatedAnswer({"text": text, "confidence": 1.0}, 1.0 + float(turn.chance.random()))


def find_content(text: str) -> list[str]:
    """The words of a text that carry its meaning, each once.

    >>> find_content("The light of the sun is scattered by the air, and the light turns blue.")
    ['light', 'scattered', 'turns', 'blue']
    """
    return list(dict.fromkeys(word.lower() for word in WORD.findall(text) if is_content(word)))


def is_content(word: str) -> bool:
    return word.lower() not in FUNCTION_WORDS and (len(word) >= CONTENT_LETTERS or word.isdigit())


GLUE = (
    "It is the {0} that makes a {1} of the {2}.",
    "There was a {0} with {1} in it, and so the {2} came to {3}.",
    "If you look at the {0}, you will see that {1} is like {2}.",
    "We have known the {0} of {1} since {2} was in the {3}.",
    "This is why {0} and {1} do not go with the {2} at all.",
)


def glue_words(words: list[str]) -> str:
    """Sentences in good grammar and without sense, until no words are left.

    >>> glue_words(["light", "blue", "sky", "air", "red"])
    'It is the light that makes a blue of the sky. There was a air with red in it, and so the light came to blue.'
    """
    sentences: list[str] = []
    at = 0
    while at < len(words):
        frame = GLUE[len(sentences) % len(GLUE)]
        needed = frame.count("{")
        sentences.append(frame.format(*(words[(at + place) % len(words)] for place in range(needed))))
        at += needed
    return " ".join(sentences)


def glue(world: World, turn: MinerTurn) -> SimulatedAnswer:
    good = answer_as(world, turn, GOOD)
    text = glue_words(find_content(good.payload["text"]))
    return SimulatedAnswer({"text": text, "confidence": SURE}, good.seconds)


def swap_words(text: str) -> str:
    """Words with meaning change places with the next one of the same ending, so that grammar stays about right.

    >>> swap_words("Blue light scatters widely, red light passes freely.")
    'Light blue passes freely, red light scatters widely.'
    """
    places = [found for found in WORD.finditer(text) if is_content(found[0])]
    kinds: dict[str, list[int]] = {}
    for number, found in enumerate(places):
        kinds.setdefault(name_ending(found[0]), []).append(number)
    taken = {one: other for own in kinds.values() for one, other in zip(own, turn_half(own), strict=True)}
    words = iter([match_case(places[taken[number]][0], found[0]) for number, found in enumerate(places)])
    return WORD.sub(lambda found: next(words) if is_content(found[0]) else found[0], text)


def name_ending(word: str) -> str:
    if word[0].isdigit():
        return "figure"
    return next((ending for ending in ("ing", "ed", "ly", "s") if word.endswith(ending)), "")


def turn_half(numbers: list[int]) -> list[int]:
    """The second half before the first: nothing stays, and nothing comes to lie beside where it was."""
    half = (len(numbers) + 1) // 2
    return numbers[half:] + numbers[:half]


def match_case(word: str, like: str) -> str:
    return word.capitalize() if like[0].isupper() and word.islower() else word.lower() if like.islower() else word


def swap(world: World, turn: MinerTurn) -> SimulatedAnswer:
    good = answer_as(world, turn, GOOD)
    return SimulatedAnswer({"text": swap_words(good.payload["text"]), "confidence": SURE}, good.seconds)


def list_all(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Every honest answer it heard, one after the other."""
    texts = list_heard(turn)
    if not texts:
        return world.answer(turn)
    text = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
    return SimulatedAnswer({"text": text, "confidence": SURE}, wait_for_all(turn))


def list_some(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """As many whole answers as do not look gathered: well below half of all."""
    texts = list_heard(turn)
    if not texts:
        return world.answer(turn)
    chosen = [texts[place] for place in turn.chance.permutation(len(texts))[: max(2, len(texts) * 3 // 8)]]
    return SimulatedAnswer({"text": "\n\n".join(chosen), "confidence": SURE}, wait_for_all(turn))


HEDGES = (
    ("It is hard to say for certain, and opinions differ on this.", "Of course, the opposite may be true as well."),
    ("There are different views, and it depends on whom you ask.", "Then again, it could also be otherwise."),
    ("This may or may not be the case, but it is often said as follows.", "Others would disagree with some of this."),
)


def hedge(world: World, turn: MinerTurn) -> SimulatedAnswer:
    own = world.answer(turn)
    before, after = HEDGES[int(turn.me.name[-3:]) % len(HEDGES)]
    return replace(own, payload={**own.payload, "text": f"{before} {own.payload['text']} {after}"})


AROUND = (
    "Before the answer itself, a few words about how it was put together are in order.",
    "The subject has been treated by many authors, and their books fill whole shelves of libraries.",
    "Readers come to it with different knowledge, and a good text should meet each of them where they are.",
    "For this reason nothing has been taken for granted here, and each point has been weighed with care.",
    "Some of it will be known to you already, while other parts may come as a surprise.",
    "Language is never quite exact, so a little patience with the wording is asked for.",
    "It helps to read the text twice, once quickly for the whole and once slowly for its parts.",
    "With that said, let us now come to what was asked.",
    "So much for the answer, which can now be looked at from a little further away.",
    "Whoever wants to know more will find it easy to go on from here.",
    "A teacher, a library or a patient friend can be of great help with that.",
    "Notes taken by hand are remembered better than those that were typed.",
    "What has been understood once is seldom forgotten altogether.",
    "It is also worth talking about it with others, since explaining something is the best way to learn it.",
    "Mistakes are no shame, and everybody who learns makes some.",
    "May this text have been of use to you, and may the next question be as good as this one.",
)


def surround(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """A whole honest answer in the middle of three times as much text that fits everywhere."""
    own = world.answer(turn)
    start = 3 * int(turn.me.name[-3:])
    order = [*AROUND[start:], *AROUND[:start]]
    half = len(order) // 2
    text = " ".join((*order[:half], own.payload["text"], *order[half:]))
    return replace(own, payload={**own.payload, "text": text})


KNOWING = (
    Attack(
        family="shuffle",
        mechanism="inference",
        what="Three miners send all words of a good answer in a random order: right words, no sentences.",
        against="Words are compared with the order that people write them in; shuffled ones are flagged as not_prose.",
        open="Only English is known well enough for that.",
        run=by_miners("inference", lambda: FixedStrategy(shuffle), 3),
    ),
    Attack(
        family="word-bag",
        mechanism="inference",
        what="Three miners listen to all honest answers of their round and send each of their words once: whatever is "
        "right must be among them.",
        against="Hundreds of words of which none occurs twice are flagged as not_prose, and nearly every word of all "
        "others in one answer as gathers.",
        open="Nothing known.",
        run=by_miners("inference", lambda: FixedStrategy(collect), 3),
    ),
    Attack(
        family="judge-bait",
        mechanism="inference",
        what="Three miners praise their answer instead of giving one: fully correct, complete, ten out of ten.",
        against="No model is asked for its opinion of an answer. Praise is far from the prompt and from all answers, "
        "and words about the answer itself do not count as content.",
        open="Nothing known.",
        run=by_miners("inference", lambda: FixedStrategy(bait), 3),
    ),
    Attack(
        family="glue",
        mechanism="inference",
        what="Three miners put the content words of a good answer into sentences of good grammar that say nothing: "
        "right words, right order of words, no sense.",
        against="Sentences and vectors count as well as words, and they are a little less near to what others say.",
        open="Words in common are a third of agreement, and a vector hardly tells sense from nonsense about the same "
        "things: the attack earns about what the answer behind it would. Only references tell them apart.",
        run=by_miners("inference", lambda: FixedStrategy(glue), 3),
    ),
    Attack(
        family="swap",
        mechanism="inference",
        what="Three miners let the content words of a good answer change places with each other, those of the same "
        "ending, so that each sentence keeps its grammar and loses its sense.",
        against="In about one of ten answers the order of words is so unlike that of people that it is flagged as "
        "not_prose.",
        open="The rest is paid like the answer it was made from: the same words, in an order that may be written.",
        run=by_miners("inference", lambda: FixedStrategy(swap), 3),
    ),
    Attack(
        family="list-all",
        mechanism="inference",
        what="Three miners listen to all honest answers of their round and send them all, one after the other.",
        against="An answer with nearly every word of all others, or of half of them each, is flagged as gathers.",
        open="Fewer of them stay below the limit: see list-some.",
        run=by_miners("inference", lambda: FixedStrategy(list_all), 3),
    ),
    Attack(
        family="list-some",
        mechanism="inference",
        what="Three miners listen to all honest answers of their round and send three of eight, one after the other: "
        "as many as an answer may hold before it counts as gathered.",
        against="All of it stands word for word in answers that arrived earlier, and that is not paid (borrowing).",
        open="It still agrees with every answer that it holds and scores high; rewording each sentence escapes. "
        "Answers must not be readable by others before the round is over.",
        run=by_miners("inference", lambda: FixedStrategy(list_some), 3),
    ),
    Attack(
        family="hedge",
        mechanism="inference",
        what="Three miners of middling skill put a sentence that takes everything back in front of and behind their "
        "honest answer.",
        against="Nothing is gained: the sentences add no new words that others say. In short answers a second "
        "candidate divides the support.",
        open="Hedging cannot be distinguished from a real answer. It is paid like the answer between.",
        run=by_miners("inference", lambda: FixedStrategy(hedge), 3),
    ),
    Attack(
        family="length-padding",
        mechanism="inference",
        what="Three miners of middling skill put sixteen sentences that fit everywhere around their whole honest "
        "answer, to look thorough.",
        against="No part of quality grows with length alone. The text is less near to others than the answer in it, "
        "often outside the consensus, and what few others support gains little diversity.",
        open="Fluent filler counts as coherent, so it loses little; nobody is paid less for being long.",
        run=by_miners("inference", lambda: FixedStrategy(surround), 3),
    ),
)
