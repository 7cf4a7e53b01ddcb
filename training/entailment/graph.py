"""The cross-encoder of pairs as an ONNX graph: as many layers as its weights have, two segments, three classes.

Inputs `input_ids` and `token_type_ids` (batch, pieces), every row of the same length and none padded. Output `logits`
(batch, 3): contradiction, neutral, entailment.

The layers multiply in whole numbers. Each row of what goes into a matrix (one word piece) is scaled by its own maximum
and rounded to 8 bits, each column of the matrix has a scale of its own, and sums of products of whole numbers are
exact; so a row's result depends neither on the batch nor on the order of summing. Weights lie in -64..64: two products
of 8 by 7 bits fit into 16, so a processor that adds them in pairs without VNNI gets the same sums. The head stays in
float32.
"""

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.adapters.embedding.minilm_graph import HEADS, GraphBuilder, Weights
from weighbeam.senses.adapters.onnx import FLOAT, INT64, Array, OnnxGraph, OnnxValue, encode_model
from weighbeam.senses.adapters.text.word_pieces import CLS, SEP

WORDS = "embeddings.word_embeddings.weight"
LEAST_PACKED = 4_096
STEPS = 64
"""The greatest whole number that stands for a weight of a layer."""
ROW_STEPS = 127
CONTRIB = "com.microsoft"


class PackedGraph(GraphBuilder):
    """A graph whose large float matrices are stored as int8 with a float32 scale per column, and multiplied as such."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.rounded: dict[str, tuple[str, str]] = {}
        self.numbers = {
            name: super(PackedGraph, self).constant(name, value)
            for name, value in {
                "row.axis": np.array([-1], dtype=np.int64),
                "row.step": np.array(1 / ROW_STEPS, dtype=np.float32),
                "row.least": np.array(1e-30, dtype=np.float32),
                "row.one": np.array(1, dtype=np.float32),
                "row.zero": np.array(128, dtype=np.uint8),
                "weight.zero": np.array(0, dtype=np.int8),
            }.items()
        }

    def constant(self, name: str, value: Array) -> str:
        """A matrix that is not multiplied row by row becomes float32 when the session opens."""
        if value.dtype != np.float32 or value.ndim != 2 or value.size < LEAST_PACKED:
            return super().constant(name, value)
        packed, scales = pack_columns(value)
        super().constant(f"{name}.packed", packed)
        super().constant(f"{name}.scales", scales)
        wide = self.apply("Cast", [f"{name}.packed"], f"{name}.wide", to=1)
        return self.apply("Mul", [wide, f"{name}.scales"], name)

    def round_rows(self, given: str) -> tuple[str, str]:
        """Each row as whole numbers 1..255 around 128, and what one is worth in it."""
        if given not in self.rounded:
            size = self.apply("Abs", [given], f"{given}.size")
            most = self.apply("ReduceMax", [size, "row.axis"], f"{given}.most", keepdims=1)
            least = self.apply("Max", [most, "row.least"], f"{given}.least")
            worth = self.apply("Mul", [least, "row.step"], f"{given}.worth")
            scaled = self.apply("Div", [given, worth], f"{given}.scaled")
            whole = self.apply("QuantizeLinear", [scaled, "row.one", "row.zero"], f"{given}.whole")
            self.rounded[given] = whole, worth
        return self.rounded[given]

    def dense_rows(self, given: str, layer: str, output: str) -> str:
        whole, worth = self.round_rows(given)
        packed, scales = pack_columns(self.weights[f"{layer}.weight"].T, STEPS)
        kernel = GraphBuilder.constant(self, f"{layer}.packed", packed)
        columns = GraphBuilder.constant(self, f"{layer}.scales", scales)
        taken = [whole, kernel, "row.one", columns, "row.zero", "weight.zero"]
        product = self.apply("MatMulIntegerToFloat", taken, f"{output}.product", domain=CONTRIB)
        scaled = self.apply("Mul", [product, worth], f"{output}.rescaled")
        return self.apply("Add", [scaled, self.weight(f"{layer}.bias")], output)


def pack_columns(matrix: NDArray[np.float32], steps: int = 127) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers in -steps..steps and what each column's are worth.

    >>> packed, scales = pack_columns(np.array([[1.27, 0.0], [-0.64, 0.0]], dtype=np.float32))
    >>> packed.tolist(), scales.round(4).tolist()
    ([[127, 0], [-64, 0]], [0.009999999776482582, 1.0])
    """
    scales = np.abs(matrix).max(axis=0) / np.float32(steps)
    scales[scales == 0] = 1
    return np.rint(matrix / scales).astype(np.int8), scales


def add_layer(graph: GraphBuilder, hidden: str, layer: str) -> str:
    """One transformer layer: attention, then the feed-forward block, each with its residual."""
    dense = graph.dense_rows if isinstance(graph, PackedGraph) else graph.dense
    inner = f"{layer}.attention.self"
    parts = [dense(hidden, f"{inner}.{part}", f"{inner}.{part}.out") for part in ("query", "key", "value")]
    attended = graph.apply("MultiHeadAttention", parts, f"{inner}.out", domain=CONTRIB, num_heads=HEADS)
    mixed = dense(attended, f"{layer}.attention.output.dense", f"{layer}.mixed")
    first = graph.add_normalise(mixed, hidden, f"{layer}.attention.output.LayerNorm", f"{layer}.first")
    wide = dense(first, f"{layer}.intermediate.dense", f"{layer}.wide")
    narrow = dense(graph.apply("Gelu", [wide], f"{layer}.active"), f"{layer}.output.dense", f"{layer}.narrow")
    return graph.add_normalise(narrow, first, f"{layer}.output.LayerNorm", f"{layer}.second")


def count_layers(weights: Weights) -> int:
    """Layers are numbered from 0 without a gap.

    >>> one = np.zeros(1, dtype=np.float32)
    >>> count_layers({f"encoder.layer.{number}.output.dense.bias": one for number in range(3)})
    3
    """
    number = 0
    while f"encoder.layer.{number}.output.dense.bias" in weights:
        number += 1
    return number


def build_pair_model(weights: Weights, packed: bool) -> bytes:
    """The serialised ONNX model; `packed` keeps its matrices in 8 bits and multiplies in whole numbers."""
    graph = PackedGraph(weights) if packed else GraphBuilder(weights)
    hidden = _add_pair_embeddings(graph, packed)
    for index in range(count_layers(weights)):
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
