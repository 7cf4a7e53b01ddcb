"""The 8-bit embedder: near to float32, and the same to the bit in any batch and with either kind of bytes."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.senses.adapters.embedding import minilm as minilm_module
from weighbeam.senses.adapters.embedding.minilm import LateMiniLM, MiniLM, load_minilm, load_minilm_int8
from weighbeam.senses.adapters.embedding.minilm_graph import GraphBuilder, load_weights
from weighbeam.senses.adapters.embedding.packed_graph import (
    SMOOTHING,
    STEPS,
    PackedGraph,
    PlainRows,
    multiplies_exactly,
    pack_columns,
    shift_bytes,
)
from weighbeam.senses.adapters.memory import DiskVectors, RememberingEmbedder
from weighbeam.senses.adapters.model_files import find_minilm, hash_file
from weighbeam.senses.adapters.onnx import FLOAT, UINT8, OnnxGraph, OnnxValue, encode_model, open_session

PARAGRAPHS = [text for paragraphs in load_topics().values() for text in paragraphs][1::9]
ODD = ["", "…", "a", "走吧。", "🙂" * 40, "x" * 5000]
POOL = [*PARAGRAPHS[:24], *(text.partition(". ")[0] for text in PARAGRAPHS), " ".join(PARAGRAPHS[:4]), *ODD]
BUILT_SHA256 = {
    True: "aa35018064f3c04825bd20a8ec50028c3fc8a3ed25e3e40b227a41f8329d5cb9",
    False: "ab957cff09ccc5862836039e08ba7210638ad5b503e1c2728a5ce677f52b9f75",
}
"""Of the graph with signed and with unsigned weights: every machine builds the same."""


@pytest.fixture(scope="module")
def int8(cache: Path) -> MiniLM:
    return load_minilm_int8(cache)


@pytest.fixture(scope="module")
def alone(int8: MiniLM) -> np.ndarray:
    return np.concatenate([int8.embed([text]) for text in POOL])


@settings(max_examples=15)
@given(st.lists(st.integers(0, len(POOL) - 1), max_size=24), st.sampled_from([1, 97, 512, 2048]))
def test_no_batch_or_order_changes_a_vector(int8: MiniLM, alone: np.ndarray, rows, pieces) -> None:
    other = MiniLM(int8.id, int8.digest, int8._session, int8._tokenizer, pieces, workers=2)
    assert np.array_equal(other.embed([POOL[i] for i in rows]), alone[rows].reshape(len(rows), 384))


def test_vectors_are_near_those_of_float32(cache: Path, alone: np.ndarray) -> None:
    texts = POOL[: -len(ODD)]
    exact, ours = load_minilm(cache).embed(texts) / 1e6, alone[: -len(ODD)] / 1e6
    cosines = (exact * ours).sum(axis=1)
    assert cosines.min() >= 0.995
    assert cosines.mean() >= 0.9985
    assert np.abs(ours @ ours.T - exact @ exact.T).max() < 0.04
    assert np.abs(np.linalg.norm(ours, axis=1) - 1).max() < 1e-4


def test_bytes_that_saturate_get_other_weights_and_the_same_vectors(
    int8: MiniLM, alone: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A processor without VNNI: unsigned weights, whose products the runtime widens before it adds them."""
    for exact in (True, False):
        monkeypatch.setattr(minilm_module, "multiplies_exactly", lambda exact=exact: exact)
        loaded = load_minilm_int8(tmp_path)
        (path,) = (tmp_path / "models").glob(f"*-{'signed' if exact else 'unsigned'}.onnx")
        assert hash_file(path) == BUILT_SHA256[exact]
        assert loaded.digest == int8.digest
        if multiplies_exactly() or not exact:
            assert np.array_equal(loaded.embed(POOL[::4]), alone[::4])


def test_a_processor_without_vnni_would_cut_sums_of_signed_weights() -> None:
    """Pairs of products in 16 bits, as `vpmaddubsw` adds them: 8 bits saturate, 7 bits never do."""
    for steps, fits in ((64, True), (127, False)):
        assert (2 * 255 * steps <= np.iinfo(np.int16).max) == fits
    assert PackedGraph({}).steps == 64


def test_rows_and_weights_are_multiplied_exactly() -> None:
    """The graph's product, with signed and unsigned weights, against the same whole numbers in 64 bits."""
    weights = {"dense.weight": load_weights(find_minilm().weights)["encoder.layer.3.output.dense.weight"]}
    rows = np.random.default_rng(5).standard_normal((3, 7, 1536)).astype(np.float32)
    rows[1, 2] = 0
    worth = np.maximum(np.abs(rows).max(axis=-1, keepdims=True), np.float32(1e-30)) * np.float32(1 / STEPS)
    packed, scales = pack_columns(weights["dense.weight"].T, STEPS)
    whole = np.rint(rows / worth).astype(np.int64) @ packed.astype(np.int64)
    expected = whole.astype(np.float32) * scales * worth
    for signed in {multiplies_exactly(), False}:
        graph = PackedGraph(weights, STEPS, signed)
        out = graph.multiply_rows("rows", weights["dense.weight"].T, "dense", "out")
        taken, given = OnnxValue("rows", FLOAT, ["a", "b", 1536]), OnnxValue(out, FLOAT, ["a", "b", 384])
        session = open_session(encode_model(OnnxGraph("one", graph.nodes, graph.constants, [taken], [given])))
        assert np.array_equal(session.run([out], {"rows": rows})[0], expected)
    assert np.array_equal(shift_bytes(packed).astype(int) - 128, packed)


def test_smoothing_is_a_few_powers_of_two() -> None:
    eighths = np.load(SMOOTHING)
    assert (eighths.shape, eighths.dtype) == ((6, 2, 384), np.int8)
    assert np.abs(eighths).max() <= 24


def test_the_embedder_has_a_digest_of_its_own(int8: MiniLM, cache: Path) -> None:
    assert int8.id == "minilm-int8"
    assert int8.digest != load_minilm(cache).digest


def test_a_late_model_is_opened_for_a_new_text_only(int8: MiniLM, cache: Path, tmp_path: Path) -> None:
    opened: list[str] = []

    def open_model() -> MiniLM:
        opened.append("opened")
        return int8

    late = LateMiniLM("minilm-int8", open_model)
    exact = LateMiniLM("minilm-fp32", open_model)
    assert (late.id, late.digest, late.dimensions) == (int8.id, int8.digest, int8.dimensions)
    assert exact.digest == load_minilm(cache).digest
    first = RememberingEmbedder(int8, DiskVectors(tmp_path / "vectors.sqlite")).embed(["a", "b"])
    again = RememberingEmbedder(late, DiskVectors(tmp_path / "vectors.sqlite"))
    assert np.array_equal(again.embed(["b", "a"]), first[::-1])
    assert not opened
    again.embed(["c"])
    assert opened == ["opened"]


def test_a_plane_of_rows_is_rounded_alike() -> None:
    """Dividing while rounding gives the same whole numbers, of rows of any size and of none."""
    rows = np.random.default_rng(6).standard_normal((40, 384)).astype(np.float32) * np.logspace(-8, 8, 40)[:, None]
    rows[7] = 0
    given = {"rows": rows.astype(np.float32), "row.zeros": np.full(40, 128, np.uint8)}
    found = []
    for kind, names in ((PackedGraph, ["rows"]), (PlainRows, ["rows", "row.zeros"])):
        graph = kind({})
        GraphBuilder.constant(graph, "row.flat", np.array([-1], np.int64))
        whole, _ = graph.round_rows("rows")
        values = {"rows": OnnxValue("rows", FLOAT, ["a", 384]), "row.zeros": OnnxValue("row.zeros", UINT8, ["a"])}
        taken, out = [values[name] for name in names], OnnxValue(whole, UINT8, ["a", 384])
        session = open_session(encode_model(OnnxGraph("one", graph.nodes, graph.constants, taken, [out])))
        found.append(session.run([whole], {name: given[name] for name in names})[0])
    assert np.array_equal(*found)
    assert (found[0] != 128).any(axis=1).sum() == 39
