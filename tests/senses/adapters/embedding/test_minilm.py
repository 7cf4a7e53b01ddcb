"""The default embedder: right, and the same to the bit whatever else is embedded with a text."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.senses.adapters import model_files
from weighbeam.senses.adapters.embedding.minilm import MiniLM, load_minilm
from weighbeam.senses.adapters.model_files import hash_file, is_intact
from weighbeam.senses.adapters.text.sentences import RuleSentences
from weighbeam.senses.local import LocalSenses, load_embedder

BUILT_SHA256 = "1177d443eff4a573d7eee57987b073fb721168954620859832031b4ed0099481"
"""Of the file that the onnx package (1.23) writes of the same graph."""
REFERENCE = json.loads(Path(__file__).with_name("reference_vectors.json").read_text())
PARAGRAPHS = [text for paragraphs in load_topics().values() for text in paragraphs]
SENTENCES = [s for text in PARAGRAPHS[:20] for s in RuleSentences().split(text)]
POOL = [*SENTENCES, *PARAGRAPHS[:12], " ".join(PARAGRAPHS[:4]), "", "…", "a", "走吧。", "🙂" * 40, "x" * 5000]


@pytest.fixture(scope="module")
def minilm(cache: Path) -> MiniLM:
    return load_minilm(cache)


@pytest.fixture(scope="module")
def alone(minilm: MiniLM) -> np.ndarray:
    return np.concatenate([minilm.embed([text]) for text in POOL])


def test_vectors_are_those_of_sentence_transformers(minilm: MiniLM) -> None:
    ours = minilm.embed(REFERENCE["texts"]) / 1e6
    theirs = np.array(REFERENCE["vectors"])
    cosines = (ours * theirs).sum(axis=1) / np.linalg.norm(theirs, axis=1)
    assert cosines.min() >= 0.9999
    assert np.abs(ours - theirs).max() < 5e-6


@settings(max_examples=25)
@given(st.lists(st.integers(0, len(POOL) - 1), max_size=40))
def test_the_batch_around_a_text_does_not_change_its_vector(minilm: MiniLM, alone: np.ndarray, rows) -> None:
    assert np.array_equal(minilm.embed([POOL[i] for i in rows]), alone[rows].reshape(len(rows), 384))


def test_workers_change_nothing(cache: Path, alone: np.ndarray) -> None:
    assert np.array_equal(load_minilm(cache, workers=3).embed(POOL), alone)


def test_vectors_have_unit_length(alone: np.ndarray) -> None:
    lengths = np.linalg.norm(alone / 1e6, axis=1)
    assert np.abs(lengths - 1).max() < 1e-4
    assert alone.dtype == np.int32


def test_only_the_first_256_pieces_count(minilm: MiniLM) -> None:
    long = "word " * 254
    assert minilm.count_pieces([long, long + "other " * 99]) == [256, 256]
    same = minilm.embed([long, long + "other " * 99])
    assert np.array_equal(same[0], same[1])


def test_a_damaged_model_file_is_rebuilt(tmp_path: Path, alone: np.ndarray) -> None:
    load_minilm(tmp_path)
    (path,) = (tmp_path / "models").glob("*.onnx")
    assert hash_file(path) == BUILT_SHA256
    with path.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\xff" * 64)
    assert not is_intact(path)
    assert np.array_equal(load_minilm(tmp_path).embed([POOL[0]])[0], alone[0])
    assert is_intact(path)


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path, alone: np.ndarray) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert np.array_equal(load_minilm(blocked).embed([POOL[0]])[0], alone[0])


def test_weights_that_are_not_the_known_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(WeighbeamError, match="wrong_weights"):
        load_minilm(tmp_path)


def test_missing_weights_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "MINILM_PACKAGE", "no-such-package-at-all")
    with pytest.raises(WeighbeamError, match=r"no_weights.*weighbeam setup"):
        model_files.find_minilm()


def test_lone_surrogates_are_an_error_not_a_crash(minilm: MiniLM) -> None:
    with pytest.raises(WeighbeamError, match="bad_text"):
        minilm.embed(["\ud800"])


@pytest.mark.parametrize("name", ["", "nope", "st:", "openai:model", "openai:@url"])
def test_unknown_embedders_are_named(name: str) -> None:
    with pytest.raises(WeighbeamError, match="unknown_embedder"):
        load_embedder(name, Path("unused"))


def test_no_text_is_no_vector(senses: LocalSenses) -> None:
    assert senses.embedder.embed([]).shape == (0, 384)
