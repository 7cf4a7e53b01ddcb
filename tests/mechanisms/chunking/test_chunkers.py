"""Our own chunkers: within the limit wherever that is possible, and a climber that climbs from any start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.miners.climb import CutJudge, climb_cuts
from weighbeam.mechanisms.chunking.miners.packing import cut_at, pack, pack_paragraphs, pack_sentences, sentence_starts
from weighbeam.senses.local import LocalSenses


@pytest.mark.parametrize("chunk_size", [5, 6, 7, 99, 100])
def test_the_blank_after_a_long_sentence_s_last_word_counts(chunk_size: int, senses: LocalSenses) -> None:
    document = " ".join(["word"] * 400)
    for cut in (pack_sentences, pack_paragraphs):
        chunks = cut(document, chunk_size, 999, senses)
        assert "".join(chunks) == document
        assert max(map(len, chunks)) <= chunk_size


@given(st.lists(st.sampled_from(["a", "word", "lengthy", "end."]), min_size=1, max_size=60), st.integers(9, 40))
def test_words_shorter_than_a_chunk_never_make_one_too_long(words: list[str], chunk_size: int) -> None:
    document = " ".join(words)
    assert max(map(len, cut_at(document, pack([0], document, chunk_size)))) <= chunk_size


def test_one_chunk_that_cannot_fit_stops_no_climber(senses: LocalSenses) -> None:
    """A word longer than a chunk may be, in front of a text with topics to be found."""
    document = "x" * 500 + ". " + generate_document("climb", 2000).text
    starts = sentence_starts(document, senses)
    packed = pack(starts, document, 450)
    climbed = climb_cuts(document, 450, len(packed) + 4, senses)
    judge = CutJudge(document, starts, 3, senses)
    cuts = [0]
    for chunk in climbed[:-1]:
        cuts.append(cuts[-1] + len(chunk))
    assert "".join(climbed) == document
    assert judge.judge(cuts) > judge.judge(packed)
    assert sum(max(0, len(chunk) - 450) for chunk in climbed) <= 52
