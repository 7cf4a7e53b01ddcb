"""The cross-encoder of pairs as an ONNX graph: the embedder's layers, two segments, and a head of three classes.

Inputs `input_ids` and `token_type_ids` (batch, pieces), every row of the same length and none padded. Output `logits`
(batch, 3): contradiction, neutral, entailment. Matrices may be kept in 8 bits, one scale per output channel; they
become float32 when the session opens, so arithmetic, speed and independence of the batch are those of float32.
"""

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.adapters.embedding.minilm_graph import LAYERS, GraphBuilder, Weights, add_layer
from weighbeam.senses.adapters.onnx import FLOAT, INT64, Array, OnnxGraph, OnnxValue, encode_model
from weighbeam.senses.adapters.text.word_pieces import CLS, SEP

WORDS = "embeddings.word_embeddings.weight"
MIN_PACKED = 4_096


class PackedGraph(GraphBuilder):
    """A graph whose large float matrices are stored as int8 with a float32 scale per column."""

    def constant(self, name: str, value: Array) -> str:
        if value.dtype != np.float32 or value.ndim != 2 or value.size < MIN_PACKED:
            return super().constant(name, value)
        packed, scales = pack_columns(value)
        super().constant(f"{name}.packed", packed)
        super().constant(f"{name}.scales", scales)
        wide = self.apply("Cast", [f"{name}.packed"], f"{name}.wide", to=1)
        return self.apply("Mul", [wide, f"{name}.scales"], name)


def pack_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers in -127..127 and what each column's are worth.

    >>> packed, scales = pack_columns(np.array([[1.27, 0.0], [-0.64, 0.0]], dtype=np.float32))
    >>> packed.tolist(), scales.round(4).tolist()
    ([[127, 0], [-64, 0]], [0.009999999776482582, 1.0])
    """
    scales = np.abs(matrix).max(axis=0) / np.float32(127)
    scales[scales == 0] = 1
    return np.rint(matrix / scales).astype(np.int8), scales


def build_pair_model(weights: Weights, packed: bool) -> bytes:
    """The serialised ONNX model; `packed` keeps its matrices in 8 bits."""
    graph = PackedGraph(weights) if packed else GraphBuilder(weights)
    hidden = _add_pair_embeddings(graph, packed)
    for index in range(LAYERS):
        hidden = add_layer(graph, hidden, f"encoder.layer.{index}")
    _add_head(graph, _add_features(graph, hidden))
    taken = [OnnxValue(name, INT64, ["batch", "pieces"]) for name in ("input_ids", "token_type_ids")]
    given = OnnxValue("logits", FLOAT, ["batch", 3])
    return encode_model(OnnxGraph("nli-minilm", graph.nodes, graph.constants, taken, [given]))


def _add_pair_embeddings(graph: GraphBuilder, packed: bool) -> str:
    """Word, position and segment embeddings, normalised."""
    positions = GraphBuilder.constant(graph, "positions", graph.weights["embeddings.position_embeddings.weight"])
    length = graph.apply("Shape", ["input_ids"], "length", start=1, end=2)
    zero = graph.constant("zero", np.array([0], dtype=np.int64))
    near = graph.apply("Slice", [positions, zero, length], "position_embeddings")
    types = graph.weight("embeddings.token_type_embeddings.weight")
    segment = graph.apply("Gather", [types, "token_type_ids"], "type_embeddings")
    placed = graph.apply("Add", [segment, near], "placed")
    word = _gather_packed_words(graph) if packed else graph.apply("Gather", [graph.weight(WORDS), "input_ids"], "word")
    return graph.add_normalise(word, placed, "embeddings.LayerNorm", "embedded")


def _gather_packed_words(graph: GraphBuilder) -> str:
    """Only the words of a text are unpacked, each by its own scale."""
    packed, scales = pack_columns(graph.weights[WORDS].T)
    table = graph.constant("words.packed", packed.T)
    worth = graph.constant("words.scales", scales[:, None])
    rows = graph.apply("Gather", [table, "input_ids"], "words.rows")
    wide = graph.apply("Cast", [rows], "words.wide", to=1)
    return graph.apply("Mul", [wide, graph.apply("Gather", [worth, "input_ids"], "words.worth")], "word")


def _add_features(graph: GraphBuilder, hidden: str) -> str:
    """[mean(premise), mean(hypothesis), |difference|, product, CLS]; the markers belong to neither mean."""
    for index in (0, 1):
        graph.constant(f"segment.{index}", np.array([index], dtype=np.int64))
    last = graph.constant("axis.last", np.array([2], dtype=np.int64))
    middle = graph.constant("axis.middle", np.array([1], dtype=np.int64))
    least = graph.constant("least", np.array([1], dtype=np.float32))
    marks = [graph.constant(f"mark.{mark}", np.array([mark], dtype=np.int64)) for mark in (CLS, SEP)]
    is_mark = [graph.apply("Equal", ["input_ids", mark], f"is.{mark}") for mark in marks]
    plain = graph.apply("Not", [graph.apply("Or", is_mark, "is.mark")], "is.plain")
    chosen = []
    for index in (0, 1):
        inside = graph.apply("Equal", ["token_type_ids", f"segment.{index}"], f"inside.{index}")
        own = graph.apply("And", [inside, plain], f"own.{index}")
        number = graph.apply("Cast", [own], f"number.{index}", to=1)
        chosen.append(graph.apply("Unsqueeze", [number, middle], f"chosen.{index}"))
    both = graph.apply("Concat", chosen, "chosen", axis=1)
    count = graph.apply("Max", [graph.apply("ReduceSum", [both, last], "sums"), least], "count")
    share = graph.apply("Div", [both, count], "share")
    means = graph.apply("MatMul", [share, hidden], "means")
    premise, hypothesis, first = (
        graph.apply("Gather", [source, f"segment.{index}"], name, axis=1)
        for source, index, name in ((means, 0, "premise"), (means, 1, "hypothesis"), (hidden, 0, "first"))
    )
    difference = graph.apply("Abs", [graph.apply("Sub", [premise, hypothesis], "gap")], "difference")
    product = graph.apply("Mul", [premise, hypothesis], "agreement")
    return graph.apply("Concat", [premise, hypothesis, difference, product, first], "features", axis=2)


def _add_head(graph: GraphBuilder, features: str) -> str:
    """Two dense layers. Each row goes in twice: the runtime sums a lone row in another order than several."""
    twice = graph.apply("Concat", [features, features], "features.twice", axis=1)
    inner = graph.apply("Gelu", [graph.dense(twice, "head.dense", "head.inner")], "head.active")
    out = graph.dense(inner, "head.out", "head.outer")
    once = graph.apply("Gather", [out, "segment.0"], "head.once", axis=1)
    return graph.apply("Squeeze", [once, "axis.middle"], "logits")
