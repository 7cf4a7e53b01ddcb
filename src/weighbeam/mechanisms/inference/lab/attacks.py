"""Attacks on inference, one tuple of `Attack` per family."""

import re
from dataclasses import replace

from weighbeam.lab.attack.attack import Attack, by_miners
from weighbeam.lab.attack.moves import MOMENT, answer_as, repeat_best
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World, draw_chance
from weighbeam.mechanisms.inference.lab.knowing import KNOWING
from weighbeam.mechanisms.inference.lab.liars import LIARS
from weighbeam.mechanisms.inference.lab.rewording import REWORDING
from weighbeam.mechanisms.inference.miners.contradict import SENTENCE, contradict

KEYWORD = re.compile(r"[A-Za-z][a-z]+")
KEYWORD_LETTERS = 5
COMMON_WORDS = frozenset(
    "about after again could every explain happens should their there these things those through what where which "
    "while would your".split()
)


def find_keywords(prompt: str) -> tuple[str, ...]:
    """The long words of a prompt that are not everybody's, each once.

    >>> find_keywords("Why does bread rise, and why does bread brown in the oven?")
    ('bread', 'brown')
    """
    words = (word.lower() for word in KEYWORD.findall(prompt))
    return tuple(dict.fromkeys(word for word in words if len(word) >= KEYWORD_LETTERS and word not in COMMON_WORDS))


_COPYCAT_INFERENCE = (
    Attack(
        family="copycat",
        mechanism="inference",
        what="Three miners do no work: they ask the honest miner that stands highest among those asked, wait for its "
        "answer, and send it word for word a moment later.",
        against="Copies are found by their words and their meaning. They are one voice in the consensus and share one "
        "pay between them.",
        open="The miner that was copied shares its pay with the copies: nobody can tell who wrote a text first. "
        "Answers must not be readable by others before the round is over.",
        run=by_miners("inference", lambda: FixedStrategy(repeat_best), 3),
    ),
)


GARBAGE_PHRASES = (
    "The question of {0} and {1} is a very interesting one with many important aspects. In general it depends on the "
    "situation, and there are different factors that play a role in it. Experts agree that {0} matters a great deal.",
    "When it comes to {0}, it is important to consider {1} as well. There are many factors, and each of them can be "
    "important in its own way. Overall, {0} is something that depends on the situation and on many other things.",
    "Many people wonder about {0} and {1}. The answer depends on several important factors and on the situation. It is "
    "fair to say that {0} plays an important role, and that {1} should be considered as well in many cases.",
)


def drone(_: World, turn: MinerTurn) -> SimulatedAnswer:
    """Phrases around two words of the prompt, so that they look like an answer and like each other."""
    words = (*find_keywords(turn.task.body["prompt"]), "this", "that")
    phrase = GARBAGE_PHRASES[int(turn.me.name[-3:]) % len(GARBAGE_PHRASES)]
    return SimulatedAnswer({"text": phrase.format(*words), "confidence": 0.95}, 2.0 + float(turn.chance.random()))


_GARBAGE_CONSENSUS = (
    Attack(
        family="garbage-consensus",
        mechanism="inference",
        what="Six miners of one operator send empty phrases around words of the prompt, alike enough to be the largest "
        "group and so to become what others are measured by.",
        against="Quality comes before consensus: what says nothing is flagged, has no vote and earns nothing, however "
        "many say it. The cluster raises the alert low_quality_cluster.",
        open="The gate asks whether a text is on topic and adds more than a word or two, and over half of these "
        "phrases pass it: they are paid as poor answers, well below honest ones. Phrases rich in facts that are beside "
        "the point would get further.",
        run=by_miners("inference", lambda: FixedStrategy(drone), 6),
    ),
)


GARBAGE_LINES = ("It depends on many things.", "There are several reasons for this.", "Yes, that is generally true.")


def shout(_: World, turn: MinerTurn) -> SimulatedAnswer:
    return SimulatedAnswer({"text": GARBAGE_LINES[turn.chance.integers(len(GARBAGE_LINES))], "confidence": 1.0}, 0.001)


_INSTANT_GARBAGE_INFERENCE = (
    Attack(
        family="instant-garbage",
        mechanism="inference",
        what="Three miners answer within a millisecond with a sentence that fits anything, and claim to be certain.",
        against="Speed multiplies what an answer is worth, and what is flagged is worth nothing. Beyond a quarter of "
        "the median time, faster counts no more. In open questions a sentence without a new word is flagged as thin.",
        open="A sentence of five words is hardly ever far enough from a question to be off topic: some pass as poor "
        "answers, at the highest speed.",
        run=by_miners("inference", lambda: FixedStrategy(shout), 3),
    ),
)


STUFFED_VARIANTS = 6
STUFFED_FRAMES = (
    "The {0} of the {1} determines the {2}.",
    "A strong {1} leads to a higher {0}, which changes the {2} by about {3} per cent.",
    "Without {2} there is no {0}, as was shown in {4}.",
    "The {1} and the {2} are linked by the {0}.",
)


def stuff(_: World, turn: MinerTurn) -> SimulatedAnswer:
    """One of six texts that are grammar and keywords, with numbers that mean nothing."""
    drawn = draw_chance(int(turn.chance.integers(STUFFED_VARIANTS)), "stuffing", turn.task.id)
    words = list((*find_keywords(turn.task.body["prompt"]), "effect", "structure", "process")[:8])
    sentences = []
    for frame in STUFFED_FRAMES:
        drawn.shuffle(words)
        sentences.append(frame.format(*words[:3], drawn.integers(3, 90), drawn.integers(1890, 2020)))
    return SimulatedAnswer({"text": " ".join(sentences), "confidence": 0.9}, 1.0 + float(turn.chance.random()))


_KEYWORD_STUFFING = (
    Attack(
        family="keyword-stuffing",
        mechanism="inference",
        what="Three miners put the prompt's own words into ready-made sentences, with numbers drawn at random: fluent, "
        "on topic, specific, and meaningless.",
        against="Words of the prompt carry no density and are taken out of agreement; bare lists of keywords do not "
        "read as language and are flagged.",
        open="Frames in good grammar pass for language. What they earn then is what their distance from the consensus "
        "leaves them.",
        run=by_miners("inference", lambda: FixedStrategy(stuff), 3),
    ),
)


def flip(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """A good answer of its own, with every sentence turned round."""
    good = answer_as(world, turn, skill=0.8)
    return SimulatedAnswer({"text": contradict(good.payload["text"]), "confidence": 0.8}, good.seconds)


_MEANING_FLIP_INFERENCE = (
    Attack(
        family="meaning-flip",
        mechanism="inference",
        what="Two miners send a good answer with every sentence turned into its opposite: more becomes less, is "
        "becomes is not.",
        against="With polarity_clustering on, an answer that says no where most say yes is left out of the consensus.",
        open="An embedding hardly tells a statement from its denial, so a fluent lie is paid like the truth it was "
        "made from. Inference measures agreement and craft, not truth; evidence is the mechanism for that.",
        run=by_miners("inference", lambda: FixedStrategy(flip), 2),
    ),
)


def overclaim(world: World, turn: MinerTurn) -> SimulatedAnswer:
    said = world.answer(turn)
    return replace(said, payload={**said.payload, "confidence": 1.0})


_OVERCLAIMING = (
    Attack(
        family="overclaiming",
        mechanism="inference",
        what="Three miners of middling skill answer honestly and claim full confidence each time.",
        against="A claim is held against the share of other answers that score less: to claim 1 in the middle of the "
        "field earns less than to claim nothing (calibration).",
        open="With calibration off, what a miner claims costs it nothing when it is wrong.",
        run=by_miners("inference", lambda: FixedStrategy(overclaim), 3),
    ),
)


FILLER = (
    "It is worth looking at this more closely, since many people have asked about it before.",
    "Several sources describe the same thing in other words and come to similar conclusions.",
    "Of course, there is a great deal more that could be said about it in a longer text.",
    "All of this has been known for a long time and can be read in many places.",
    "In summary, the points above give a good picture of what is going on here.",
)


def pad(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """One sentence of an honest answer, between sentences that fit everywhere."""
    whole = world.answer(turn)
    start = int(turn.me.name[-3:])
    order = [*FILLER[start:], *FILLER[:start]]
    text = " ".join((order[0], SENTENCE.split(whole.payload["text"])[0], *order[1:]))
    return SimulatedAnswer({"text": text, "confidence": 0.9}, whole.seconds)


_PADDING_INFERENCE = (
    Attack(
        family="padding",
        mechanism="inference",
        what="Three miners say one sentence that answers the prompt and five that fit every prompt, to be as long as "
        "the others.",
        against="No part of quality grows with length alone, and filler lowers agreement with others.",
        open="A right sentence is an answer: it is paid as one, nearly as much as longer ones.",
        run=by_miners("inference", lambda: FixedStrategy(pad), 3),
    ),
)


PATCHED_SENTENCES = 5


def patch(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """A sentence of each of several honest answers, none of which it is a copy of."""
    texts = [said.payload["text"] for _, said in sorted(turn.heard.items())]
    if not texts:
        return world.answer(turn)
    order = turn.chance.permutation(len(texts))[:PATCHED_SENTENCES]
    chosen = [
        SENTENCE.split(texts[place])[place_in % len(SENTENCE.split(texts[place]))]
        for place_in, place in enumerate(order)
    ]
    seconds = max(said.seconds for said in turn.heard.values()) + MOMENT
    return SimulatedAnswer({"text": " ".join(chosen), "confidence": 0.8}, seconds)


_PATCHWORK = (
    Attack(
        family="patchwork",
        mechanism="inference",
        what="Three miners listen to all honest answers of their round and send one sentence of each, five in all.",
        against="No two answers are alike enough to be copies of each other, but nearly all of it stands word for word "
        "in answers that arrived earlier, and that is not paid (borrowing).",
        open="A patchwork lies in the middle of all honest answers, which is where consensus is: reworded, it is paid "
        "like one of them. Answers must not be readable by others before the round is over.",
        run=by_miners("inference", lambda: FixedStrategy(patch), 3),
    ),
)


def echo(_: World, turn: MinerTurn) -> SimulatedAnswer:
    """The prompt as if it were its own answer, in two wrappings."""
    prompt = turn.task.body["prompt"]
    claim = prompt.rstrip("?.! ")
    text = f"You asked: {prompt} The answer to the question {claim.lower()} is as follows. {claim}, that is so."
    return SimulatedAnswer({"text": text, "confidence": 0.9}, 1.0 + float(turn.chance.random()))


_PROMPT_ECHO_INFERENCE = (
    Attack(
        family="prompt-echo",
        mechanism="inference",
        what="Three miners send the prompt back, wrapped as an answer: nothing is nearer to the question than itself.",
        against="Words of the prompt do not count as content: most of it, with a word or two that few others say, is "
        "an echo, which is flagged and earns nothing.",
        open="An echo that also says something is judged by what else it says.",
        run=by_miners("inference", lambda: FixedStrategy(echo), 3),
    ),
)


WORK, REST = 4, 4


class CoastingStrategy:
    """Four turns of the best there is, four of nothing, and again."""

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        if turn.turn % (WORK + REST) < WORK:
            return answer_as(world, turn, skill=1.0)
        return shout(world, turn)


_SANDBAG_THEN_BURST_INFERENCE = (
    Attack(
        family="sandbag-then-burst",
        mechanism="inference",
        what="Two miners take turns with themselves: four rounds of the best answers, then four of instant garbage "
        "while the average still pays.",
        against="The average forgets quickly (alpha 0.3): after two rounds of nothing half of it is gone, and the gate "
        "asks for a success in the last three hours.",
        open="A miner that knows when weights are set can work just before. The weigh-in's moment is not secret.",
        run=by_miners("inference", CoastingStrategy, 2),
    ),
)


SYBIL_OPENINGS = ("", "Briefly put: ", "As far as is known, ", "In other words: ", "To answer this: ")


class SybilAnswers:
    """An operator works once a round, with middling skill, and lets each of its miners say it a little differently."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[str, float]] = {}
        self._said: dict[int, int] = {}

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        if turn.round not in self._told:
            own = world.answer(turn)
            self._told[turn.round] = own.payload["text"], own.seconds
        text, seconds = self._told[turn.round]
        number = self._said[turn.round] = self._said.get(turn.round, -1) + 1
        return SimulatedAnswer({"text": disguise(text, number), "confidence": 0.7}, seconds + 0.2 * number)


def disguise(text: str, number: int) -> str:
    """Another opening, and the sentences in another order.

    >>> disguise("One. Two. Three.", 1)
    'Briefly put: Two. Three. One.'
    """
    sentences = SENTENCE.split(text)
    turned = [*sentences[number % len(sentences) :], *sentences[: number % len(sentences)]]
    return SYBIL_OPENINGS[number % len(SYBIL_OPENINGS)] + " ".join(turned)


_SYBIL_INFERENCE = (
    Attack(
        family="sybil",
        mechanism="inference",
        what="One operator registers four miners, answers once with middling skill, and lets each miner send it with "
        "another opening and its sentences in another order.",
        against="Answers alike in words and meaning are one voice: one vote in the consensus, one pay for all of them.",
        open="Turning the sentences round lowers the likeness below the limit in almost half of the rounds, so each of "
        "the four still earns three quarters of what a miner does, and the operator three times as much for the work "
        "of one.",
        run=by_miners("inference", SybilAnswers, 4),
    ),
)


ATTACKS = (
    *_COPYCAT_INFERENCE,
    *KNOWING,
    *LIARS,
    *REWORDING,
    *_GARBAGE_CONSENSUS,
    *_INSTANT_GARBAGE_INFERENCE,
    *_KEYWORD_STUFFING,
    *_MEANING_FLIP_INFERENCE,
    *_OVERCLAIMING,
    *_PADDING_INFERENCE,
    *_PATCHWORK,
    *_PROMPT_ECHO_INFERENCE,
    *_SANDBAG_THEN_BURST_INFERENCE,
    *_SYBIL_INFERENCE,
)
