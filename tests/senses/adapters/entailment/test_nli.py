"""The default entailment sense: three numbers that add up, and the same to the bit whatever is judged with a pair."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import softmax_millionths
from weighbeam.senses.adapters.embedding.minilm import load_minilm
from weighbeam.senses.adapters.entailment import nli_minilm
from weighbeam.senses.adapters.entailment.nli_minilm import LateNli, NliMiniLM, batch_by_length, load_nli
from weighbeam.senses.adapters.text.word_pieces import SEP, cut_pair, tokenise_pairs
from weighbeam.senses.local import LocalSenses, load_entailment

HANDWRITTEN = [json.loads(line) for line in Path(__file__).with_name("nli_pairs.jsonl").read_text().splitlines()]
PAIRS = [(row["premise"], row["hypothesis"]) for row in HANDWRITTEN]
LABELS = ["contradiction", "neutral", "entailment"]
ODD = [
    ("", "The ferry runs."),
    ("The ferry runs.", ""),
    ("", ""),
    (" \n\t", "…"),
    ("走吧。", "他走了。"),
    ("🙂" * 40, "A smile."),
    ("The ferry runs. " * 90, "The ferry runs."),
    ("The ferry runs.", "The ferry runs. " * 90),
    ("\x00\x01\x1b[31m", "\x7f\u202e\u200b word"),
    ("It rains. [SEP] It rains.", "It rains. [SEP]"),
]
POOL = PAIRS + ODD


@pytest.fixture(scope="module")
def model() -> NliMiniLM:
    return load_nli()


@pytest.fixture(scope="module")
def alone(model: NliMiniLM) -> np.ndarray:
    return np.concatenate([model.judge([pair]) for pair in POOL])


def test_rows_are_three_shares_of_a_million(alone: np.ndarray) -> None:
    assert alone.shape == (len(POOL), 3)
    assert alone.dtype == np.int32
    assert (alone.sum(axis=1) == 1_000_000).all()
    assert alone.min() >= 0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, len(POOL) - 1), max_size=40))
def test_the_batch_around_a_pair_does_not_change_its_row(model: NliMiniLM, alone: np.ndarray, rows) -> None:
    assert np.array_equal(model.judge([POOL[i] for i in rows]), alone[rows].reshape(len(rows), 3))


def test_workers_change_nothing(alone: np.ndarray) -> None:
    assert np.array_equal(load_nli(workers=3).judge(POOL), alone)


def test_plain_pairs_are_judged_as_people_would(alone: np.ndarray) -> None:
    """Written before the model was looked at; see the model card for what it gets wrong."""
    chosen = alone[: len(PAIRS)].argmax(axis=1)
    right = [LABELS[index] == row["label"] for index, row in zip(chosen, HANDWRITTEN, strict=True)]
    assert len(right) >= 40
    assert np.mean(right) >= 0.75


@pytest.mark.parametrize("label", LABELS)
def test_the_order_is_contradiction_neutral_entailment(alone: np.ndarray, label: str) -> None:
    rows = [index for index, row in enumerate(HANDWRITTEN) if row["label"] == label]
    assert alone[rows].mean(axis=0).argmax() == LABELS.index(label)


def test_a_side_without_words_is_neutral(alone: np.ndarray) -> None:
    assert alone[len(PAIRS) : len(PAIRS) + 3].tolist() == [[0, 1_000_000, 0]] * 3


def test_no_pair_is_no_row(model: NliMiniLM) -> None:
    assert model.judge([]).shape == (0, 3)


def test_a_written_out_marker_is_plain_text(model: NliMiniLM) -> None:
    (pieces,) = tokenise_pairs(model._tokenizer, [("It rains. [SEP] It [CLS] snows. [PAD]", "[MASK] It rains.")], 256)
    assert pieces.ids.count(SEP) == 2
    assert not {0, 103} & set(pieces.ids)


def test_a_megabyte_of_text_is_cut_and_judged(model: NliMiniLM) -> None:
    long = "The ferry runs every day. " * 40_000
    assert len(long) > 1_000_000
    both = model.judge([(long, "The ferry runs."), (long[:20_000], "The ferry runs."), ("x" * 1_000_000, "x")])
    assert np.array_equal(both[0], both[1])
    assert (both.sum(axis=1) == 1_000_000).all()


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_gives_a_row(model: NliMiniLM, premise: str, hypothesis: str) -> None:
    assert model.judge([(premise, hypothesis)]).sum() == 1_000_000


@pytest.mark.parametrize("pair", [("\ud800", "a"), ("a", "b\udfff"), (None, "a"), (3, "a")])
def test_what_is_no_text_is_an_error_not_a_crash(model: NliMiniLM, pair) -> None:
    with pytest.raises(WeighbeamError, match="bad_text"):
        model.judge([PAIRS[0], pair])


def test_the_premise_gives_way_first_and_keeps_half() -> None:
    assert len(cut_pair(range(500), range(20), 256).ids) == 256
    assert cut_pair(range(500), range(20), 256).split == 256 - 20 - 1
    assert cut_pair(range(500), range(500), 256).split == 126 + 2
    assert len(cut_pair(range(10), range(500), 256).ids) == 256


def test_batches_hold_pairs_of_one_length_and_no_blank_one() -> None:
    pieces = [cut_pair(range(a), range(b), 256) for a, b in [(3, 4), (4, 3), (0, 5), (5, 0), (100, 4), (2, 2)]]
    assert batch_by_length(pieces) == [[4], [0, 1], [5]]


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "model.onnx"
    data = bytearray(nli_minilm.MODEL.read_bytes())
    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    with pytest.raises(WeighbeamError, match=r"wrong_weights.*pip install weighbeam --force-reinstall"):
        load_nli(model=copy)


def test_a_missing_file_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"no_weights.*--force-reinstall"):
        load_nli(model=tmp_path / "model.onnx")


def test_each_distinct_pair_is_judged_once(cache: Path, alone: np.ndarray) -> None:
    senses = LocalSenses(cache=cache, remember=False)
    sense = senses.entailment
    assert np.array_equal(sense.judge([*PAIRS[:5], *PAIRS[:5]]), np.concatenate([alone[:5], alone[:5]]))
    assert np.array_equal(sense.judge(PAIRS[:6]), alone[:6])
    assert (sense.memory.hits, sense.memory.misses) == (5, 6)
    assert (sense.id, sense.digest) == ("nli-minilm", sense.inner.digest)


def test_rows_are_remembered_between_runs(tmp_path: Path, alone: np.ndarray) -> None:
    LocalSenses(cache=tmp_path).entailment.judge(PAIRS[:4])
    again = LocalSenses(cache=tmp_path).entailment
    assert np.array_equal(again.judge(PAIRS[:4]), alone[:4])
    assert again.memory.misses == 0


def test_threads_share_one_sense(model: NliMiniLM, alone: np.ndarray) -> None:
    wrong: list[int] = []

    def work(offset: int) -> None:
        rows = [(offset * 7 + i) % len(POOL) for i in range(12)]
        if not np.array_equal(model.judge([POOL[row] for row in rows]), alone[rows]):
            wrong.append(offset)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@given(st.lists(st.floats(-50, 50), min_size=3, max_size=3))
def test_shares_add_up_and_keep_the_order_of_the_logits(logits: list[float]) -> None:
    shares = softmax_millionths(logits)
    assert sum(shares) == 1_000_000
    assert shares[int(np.argmax(logits))] >= max(shares) - 1


def test_words_are_cut_as_the_embedder_cuts_them(model: NliMiniLM, cache: Path) -> None:
    texts = ["Crème brûlée, naïveté!", "ＦＵＬＬ width", "don't U.S.A. 1,200.5 €", "走吧。\u200b\xad", "\x00\x01 a\tb"]
    theirs = [encoding.ids[1:-1] for encoding in load_minilm(cache)._tokenise(texts)]
    ours = tokenise_pairs(model._tokenizer, [(text, "a") for text in texts], 256)
    assert [pair.ids[1 : pair.split - 1] for pair in ours] == theirs


@pytest.mark.parametrize("name", ["", "nope", "hf:"])
def test_unknown_senses_are_named(name: str) -> None:
    with pytest.raises(WeighbeamError, match="unknown_entailment"):
        load_entailment(name)


def test_a_late_model_says_which_one_it_is() -> None:
    late, opened = LateNli(), load_nli()
    assert (late.id, late.digest) == (opened.id, opened.digest)
    assert np.array_equal(late.judge(POOL[:2]), opened.judge(POOL[:2]))
