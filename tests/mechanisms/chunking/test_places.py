"""Segments on the cells of the document: nothing is lost, answers share places, and nobody spends for another."""

from collections.abc import Sequence
from statistics import stdev

from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners.packing import cut_at, pack, sentence_starts
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.places import RuledDocument, draw_phase, rule_cells, sample_places
from weighbeam.mechanisms.chunking.segments import Segment
from weighbeam.senses.local import LocalSenses

CHUNKING = Chunking()
Cut = tuple[list[Segment], list[int]]
Made = tuple[str, list[list[int]], list[Cut]]


@st.composite
def cut_documents(draw: st.DrawFn) -> Made:
    """A document, chunkings of it by word, and their segments on its cells."""
    sentences = draw(
        st.lists(st.sampled_from(["Rain falls. ", "A mill turns slowly.\n", "Go! "]), min_size=1, max_size=30)
    )
    document = "".join(sentences)
    starts = [sum(map(len, sentences[:i])) for i in range(len(sentences))]
    words = [0, *(at + 1 for at, letter in enumerate(document[:-1]) if letter.isspace())]
    chunkings = draw(st.lists(st.lists(st.sampled_from(words), max_size=12).map(lambda c: sorted({0, *c})), max_size=5))
    ruled = RuledDocument(document, rule_cells(starts, 3, draw(st.integers(0, 2))))
    spans = [list(zip(cuts, [*cuts[1:], len(document)], strict=True)) for cuts in chunkings]
    return document, chunkings, [ruled.cut(one) for one in spans]


@given(cut_documents())
def test_segments_are_the_document_in_order_and_within_their_chunks(
    made: tuple[str, list[list[int]], list[Cut]],
) -> None:
    document, chunkings, cut = made
    for cuts, (segments, cells) in zip(chunkings, cut, strict=True):
        assert "".join("".join(s.text for s in segments).split()) == "".join(document.split())
        assert cells == sorted(cells)
        chunks = [document[a:b] for a, b in zip(cuts, [*cuts[1:], len(document)], strict=True)]
        for number, chunk in enumerate(chunks):
            assert " ".join(s.text for s in segments if s.chunk == number) == " ".join(chunk.split())


@given(cut_documents(), st.integers(1, 12), st.integers())
def test_a_round_embeds_no_more_than_its_answers_may(made: Made, limit: int, seed: int) -> None:
    *_, cut = made
    sampled = sample_places(cut, seed, limit)
    embedded = {segments[i].text for (segments, _), taken in zip(cut, sampled, strict=True) for i in taken}
    assert len(embedded) <= limit * len(cut)
    assert all(taken for taken in sampled)
    order = sorted({cell for _, cells in cut for cell in cells}, key=lambda cell: seeded_digest(seed, "cell", cell))
    for (_, cells), taken in zip(cut, sampled, strict=True):
        own = [cell for cell in order if cell in cells]
        seen = {cells[i] for i in taken}
        assert seen == set(own[: len(seen)])


def test_equal_answers_share_all_costs_and_none_is_refused_a_place() -> None:
    segments = [Segment(0, f"Text {i}.") for i in range(40)]
    one = (segments, list(range(40)))
    assert [len(taken) for taken in sample_places([one], "s", 10)] == [10]
    assert [len(taken) for taken in sample_places([one] * 4, "s", 10)] == [40] * 4


def test_an_answer_in_crumbs_takes_no_place_from_the_others() -> None:
    honest = [([Segment(c % 2, f"Text {c} {c // 20 * n}.") for c in range(40)], list(range(40))) for n in range(4)]
    crumbs = ([Segment(i, f"crumb {i}") for i in range(4000)], [i // 100 for i in range(4000)])
    alone = sample_places(honest, "s", 20)
    assert sample_places([*honest, crumbs], "s", 20)[:4] == alone
    assert len(sample_places([*honest, crumbs], "s", 20)[4]) == 20


def test_the_phase_depends_on_the_seed_alone_and_takes_every_value() -> None:
    assert {draw_phase(f"round-{i}", 3) for i in range(20)} == {0, 1, 2}


def ask(chunkings: Sequence[list[str]], document: str, seed: int) -> Asked:
    answers = tuple(Answer(f"m{i}", {"chunks": chunks}) for i, chunks in enumerate(chunkings))
    return Asked(Task("t", {"document": document, "chunk_size": 900, "chunk_qty": 99}), Group(()), answers, seed)


def test_places_deviate_less_over_seeds_than_samples_of_each_answer(senses: LocalSenses) -> None:
    """Of 14 seeds, at the same budget."""
    document = generate_document("steady", 12_000).text
    starts = sentence_starts(document, senses)
    chunkings = [cut_at(document, pack(starts, document, size)) for size in (500, 600, 700, 800)]
    deviation = {}
    for sampling in ("chunks", "places"):
        params = ChunkingParams(sampling=sampling, num_embeddings=12)
        values = []
        for seed in range(14):
            scored = CHUNKING.score(params, CHUNKING.observe(params, ask(chunkings, document, seed), senses))
            values.append([score.value for score in scored.scores])
        deviation[sampling] = max(stdev(row) for row in zip(*values, strict=True))
    assert deviation["places"] < deviation["chunks"] / 2


def test_blanks_and_decomposed_accents_in_an_answer_reach_no_embedder(senses: LocalSenses) -> None:
    document = "Café doors open. Rain falls. Corn grows. Mills turn."
    plain = ["Café doors open. Rain falls.", "Corn grows. Mills turn."]
    odd = ["Cafe\u0301 doors open . Rain  falls .", "Corn grows .\nMills turn."]
    first, second = CHUNKING.observe(ChunkingParams(), ask([plain, odd], document, 1), senses).facts["answers"]
    assert first["segments"] == second["segments"]
