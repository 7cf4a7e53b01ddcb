"""Attacks on chunking, one tuple of `Attack` per family."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from weighbeam.core.similarity import one_family
from weighbeam.lab.attack.attack import Attack, by_miners
from weighbeam.lab.attack.moves import MOMENT, beside_work, find_place, hear_best, work
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.mechanisms.chunking.lab.world import CHUNK_SIZE, ChunkingWorld
from weighbeam.mechanisms.chunking.miners.climb import CutJudge
from weighbeam.mechanisms.chunking.miners.packing import cut_at, pack, sentence_starts
from weighbeam.mechanisms.chunking.retrieval.embed import compare_texts
from weighbeam.mechanisms.chunking.retrieval.hidden import draw_questions
from weighbeam.mechanisms.chunking.retrieval.measure import RankedChunking, average_early
from weighbeam.mechanisms.chunking.retrieval.questions import SpanQuestion
from weighbeam.mechanisms.chunking.reward import compare_segments
from weighbeam.mechanisms.chunking.segments import segment_chunk
from weighbeam.mechanisms.chunking.words import split_words

BLIND_SECONDS = 0.01


def cut_blindly(_: World, turn: MinerTurn) -> SimulatedAnswer:
    document: str = turn.task.body["document"]
    return SimulatedAnswer(
        {
            "chunks": cut_at(
                document, pack([0, *split_words(document).starts[1:]], document, turn.task.body["chunk_size"])
            )
        },
        BLIND_SECONDS,
    )


COPY_BLANKS = 100


def copy_best(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """With blanks after a chunk it is another answer, and of equal worth."""
    heard = hear_best(world, turn)
    if heard is None:
        return world.answer(turn)
    *chunks, last = heard.payload["chunks"]
    blanks = " " * int(turn.chance.integers(1, COPY_BLANKS))
    return SimulatedAnswer({"chunks": [*chunks, last + blanks]}, heard.seconds + MOMENT)


_COPYCAT_CHUNKING = (
    Attack(
        family="copycat",
        mechanism="chunking",
        what="Three miners hear the answers of their round and send the chunks of the best-standing miner, a "
        "moment later and with a few blanks after the last one.",
        against="Equal rewards share the average of their places, so a copy is never above its original; answers "
        "equal to the letter are counted as copies.",
        open="It earned about twice what an average miner does, in some seasons nothing: a copy is worth as much as "
        "its original, and a blank more or less makes it another answer. It only works for who hears answers before "
        "the round is over.",
        run=by_miners("chunking", lambda: FixedStrategy(copy_best), 3),
    ),
)


@dataclass(slots=True)
class RecyclingCutter:
    """Cuts blindly, and compares its standing with the middle, where newcomers begin."""

    stands: float | None = None
    middle: float = 0.0

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        known = {one.hotkey: one.value for one in turn.standings if one.value is not None}
        self.stands, self.middle = known.get(turn.hotkey), float(len(known) // 2)
        return cut_blindly(world, turn)

    def leaves(self, turns: int) -> bool:
        return turns > 1 and self.stands is not None and self.stands > self.middle


_IMMUNITY_RECYCLING_CHUNKING = (
    Attack(
        family="immunity-recycling",
        mechanism="chunking",
        what="One miner cuts blindly and takes a new hotkey whenever it stands worse than a newcomer would.",
        against="A newcomer begins in the middle, a departed hotkey takes its standing along, and pay halves with "
        "every place: the middle is worth next to nothing.",
        open="Nothing found: even where pay is nearly flat (`curve` 0.98) a new hotkey every so often earned less "
        "than staying, since it has no pay until it has been ranked. The price of a registration is not counted.",
        run=by_miners("chunking", RecyclingCutter, 1),
    ),
)


_INSTANT_GARBAGE_CHUNKING = (
    Attack(
        family="instant-garbage",
        mechanism="chunking",
        what="One miner cuts as many words as fit into a chunk, whatever they are about, and answers at once.",
        against="Speed earns nothing below the soft limit, and chunks that mix topics end up behind everybody who has "
        "read the document.",
        open="Where pay is nearly flat (`curve` 0.98), a blind cut earns more than half of what an average miner does.",
        run=by_miners("chunking", lambda: FixedStrategy(cut_blindly), 1),
    ),
)


CLIMB_TRIES = 16
CLIMB_SECONDS = 3.0


def try_many(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """A miner of middling skill that draws its cuts again and again, and knows which are liked. Where rounds may carry
    hidden questions it asks some of its own making, and minds them as much as it must expect to be asked."""
    assert isinstance(world, ChunkingWorld)
    drawn = [world.answer(turn).payload["chunks"] for _ in range(CLIMB_TRIES)]
    weight = world.params.retrieval_share * world.params.retrieval_weight
    questions = draw_questions(turn.task.body["document"], str(turn.chance.integers(1 << 60))) if weight else ()

    def judge(chunks: Sequence[str]) -> float:
        alike = judge_places(world, chunks) if world.params.sampling == "places" else judge_chunks(world, chunks)
        return (1 - weight) * alike + weight * judge_answers(world, chunks, questions) if weight else alike

    return SimulatedAnswer({"chunks": max(drawn, key=judge)}, CLIMB_SECONDS)


def judge_answers(world: ChunkingWorld, chunks: Sequence[str], questions: Sequence[SpanQuestion]) -> float:
    """The retrieval of a round with these hidden questions; cuts of the lab tile the document."""
    ends = list(accumulate(map(len, chunks)))
    places = list(zip([0, *ends[:-1]], ends, strict=True))
    compared = compare_texts(chunks, [question.text for question in questions], world.senses.embedder)
    ranked = RankedChunking.rank(places, compared.similarities.T.tolist())
    budget = int(world.params.retrieval_budget * CHUNK_SIZE)
    gold = [question.spans for question in questions]
    return average_early(ranked.measure_early(gold, [len(chunk) for chunk in chunks], budget))


def judge_places(world: ChunkingWorld, chunks: Sequence[str]) -> float:
    """Expected score on the document's cells, averaged over their unknown phase."""
    document = "".join(chunks)
    starts = sentence_starts(document, world.senses)
    cuts = [0, *accumulate(map(len, chunks[:-1]))]
    return CutJudge(document, starts, world.params.segment_sentences, world.senses).judge(cuts)


def judge_chunks(world: ChunkingWorld, chunks: Sequence[str]) -> float:
    """Score from each chunk's start: parts of one chunk against parts of others."""
    split = world.senses.sentences(world.params.splitter).split
    segments = [segment_chunk(split(chunk), world.params.segment_sentences) for chunk in chunks]
    chunk_of = np.repeat(np.arange(len(chunks)), [len(chunk) for chunk in segments])
    vectors = world.senses.embedder.embed([text for chunk in segments for text in chunk])
    return compare_segments(vectors, one_family(chunk_of, len(chunks)))[0].value


_METRIC_CLIMBING_CHUNKING = (
    Attack(
        family="metric-climbing",
        mechanism="chunking",
        what="A miner of middling skill cuts every document in sixteen ways, judges each with the validator's own "
        "embedder and sends the best.",
        against="Segments are cut on cells whose phase nobody knows before the answers are in, so a climber can only "
        "judge by the mean over all of them. Otherwise nothing: the measure is public, and a miner that computes it "
        "before answering knows more than one that only reads. Hidden questions (`retrieval_share`) take a fifth from "
        "a climber that ignores them and nothing from one that asks questions of its own making, as this one does "
        "where rounds have any.",
        open="It pays many times what an average miner earns and beats miners who know the true borders better: pay "
        "halves with every place, so any lasting edge is the first place. A hidden grid does not change that, "
        "because the climbed cuts are better by the measure itself, on every grid. Segment length, sample size, "
        "noise and secret directions of the embedder hardly change it; a flatter `curve` does (0.95: 2.2 times the "
        "average, where the best of the honest have 1.9), and so does an embedder that miners do not know, at the "
        "price of what standings say about skill (`python -m benchmarks.climbing`; the table is in the "
        "specification, § 15). The same work is the demo's honest miner `climb`: it breaks no rule and sends "
        "chunks of the document within the limits. It is listed here because it optimises the measure and not the "
        "chunks, and a high similarity does not prove good ones.",
        run=by_miners("chunking", lambda: FixedStrategy(try_many), 1),
    ),
)


PADDING_BLANKS = 3
"""How many times as long as the document an answer may well be."""


def repeat_chunks(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Honest chunks, the longest once more each until no more are allowed, all blown up with blanks."""
    said = work(world, turn)
    chunks: list[str] = said.payload["chunks"]
    room = turn.task.body["chunk_qty"] - len(chunks)
    twice = sorted(range(len(chunks)), key=lambda place: -len(chunks[place]))[:room]
    given = [one for place, chunk in enumerate(chunks) for one in [chunk] * (1 + (place in twice))]
    blanks = PADDING_BLANKS * len(turn.task.body["document"]) // len(given)
    return SimulatedAnswer(
        {"chunks": [chunk.ljust(min(turn.task.body["chunk_size"], blanks)) for chunk in given]}, said.seconds
    )


_PADDING_CHUNKING = (
    Attack(
        family="padding",
        mechanism="chunking",
        what="A good miner sends its longest chunks twice, as many as are allowed, and fills all of them up with "
        "blanks.",
        against="White space is squeezed before anything is embedded, and a chunk sent twice is a chunk most similar "
        "to another one: that counts against the answer. Far too large answers fail.",
        open="Words may be doubled unless `strict` is set; here it cost nearly everything that honest work would have "
        "earned.",
        run=beside_work("chunking", lambda: FixedStrategy(repeat_chunks), 1),
    ),
)


REST_PLACES = 3
"""Among how many of the best it leans back."""


def work_until_paid(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Works as long as others stand before it; among the first it cuts blindly until it has fallen back."""
    before, _ = find_place(world, turn)
    return cut_blindly(world, turn) if before is not None and before < REST_PLACES else work(world, turn)


_SANDBAG_THEN_BURST_CHUNKING = (
    Attack(
        family="sandbag-then-burst",
        mechanism="chunking",
        what="Three good miners work until they stand among the first three, then cut blindly until they have fallen "
        "behind, and again.",
        against="A standing is an average of ranks that moves by 0.15 a time, and pay halves with every place: one "
        "blind cut costs several places, many good ones are needed to win them back.",
        open="It earns about a quarter of what steady work would. Resting only now and then keeps more; the lab "
        "did not look for the best rhythm.",
        run=beside_work("chunking", lambda: FixedStrategy(work_until_paid), 3),
    ),
)


SYBIL_IDENTITIES = 4


@dataclass(slots=True)
class SharedChunkingStrategy:
    """The first of a round works; the others send its chunks with a blank more here or there."""

    made: dict[int, SimulatedAnswer] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        if turn.round not in self.made:
            self.made[turn.round] = work(world, turn)
        said = self.made[turn.round]
        number = self.sent[turn.round] = self.sent.get(turn.round, -1) + 1
        chunks = [chunk + " " * (place < number) for place, chunk in enumerate(said.payload["chunks"])]
        return SimulatedAnswer({"chunks": chunks}, said.seconds)


_SYBIL_CHUNKING = (
    Attack(
        family="sybil",
        mechanism="chunking",
        what="One good operator registers four miners, works once a round, and lets each send the same chunks with "
        "blanks in other places.",
        against="Equal rewards share the average of their places, so four together stand where one would, and pay "
        "halves with every place. Answers equal to the letter are counted as copies; blanks make them differ.",
        open="Each of the four earns about two thirds of what one working miner would, so the operator earns two to "
        "three times as much for the same work, unseen, and the ranking of the others says less about their skill. "
        "`tie_alpha` made no clear difference in the few seasons tried.",
        run=beside_work("chunking", SharedChunkingStrategy, SYBIL_IDENTITIES),
    ),
)


def stay_below(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Works as long as it stands in the lower half of all; from the upper half it falls back by saying nothing."""
    before, all_told = find_place(world, turn)
    return SimulatedAnswer(None, 0.0, "error") if before is not None and 2 * before < all_told else work(world, turn)


_TAIL_HIDING_CHUNKING = (
    Attack(
        family="tail-hiding",
        mechanism="chunking",
        what="A good miner says nothing whenever it stands in the better half, to stay in a group where it is the "
        "first.",
        against="A place counts from where its group begins, so the first of a lower group is behind the upper half "
        "of the group above; failing never improves a standing.",
        open="Nothing found: hiding costs all that honest work would have earned.",
        run=beside_work("chunking", lambda: FixedStrategy(stay_below), 1),
    ),
)


ATTACKS = (
    *_COPYCAT_CHUNKING,
    *_IMMUNITY_RECYCLING_CHUNKING,
    *_INSTANT_GARBAGE_CHUNKING,
    *_METRIC_CLIMBING_CHUNKING,
    *_PADDING_CHUNKING,
    *_SANDBAG_THEN_BURST_CHUNKING,
    *_SYBIL_CHUNKING,
    *_TAIL_HIDING_CHUNKING,
)
