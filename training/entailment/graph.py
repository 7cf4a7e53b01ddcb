"""The cross-encoder of pairs as an ONNX graph: as many layers as its weights have, two segments, three classes.

Inputs `input_ids` and `token_type_ids` (batch, pieces), every row of the same length and none padded. Output `logits`
(batch, 3): contradiction, neutral, entailment.

The layers multiply in whole numbers (`packed_graph`). Weights lie in -64..64: two products of 8 by 7 bits fit into 16,
so a processor that adds them in pairs without VNNI gets the same sums. The head stays in float32.
"""

import numpy as np

from weighbeam.senses.adapters.embedding.minilm_graph import HEADS, WORDS, GraphBuilder, Weights
from weighbeam.senses.adapters.embedding.packed_graph import CONTRIB, PackedGraph
from weighbeam.senses.adapters.onnx import FLOAT, INT64, OnnxGraph, OnnxValue, encode_model
from weighbeam.senses.adapters.text.word_pieces import CLS, SEP


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
    hidden = _add_pair_embeddings(graph)
    for index in range(count_layers(weights)):
        hidden = add_layer(graph, hidden, f"encoder.layer.{index}")
    _add_head(graph, _add_features(graph, hidden))
    taken = [OnnxValue(name, INT64, ["batch", "pieces"]) for name in ("input_ids", "token_type_ids")]
    given = OnnxValue("logits", FLOAT, ["batch", 3])
    return encode_model(OnnxGraph("nli-minilm", graph.nodes, graph.constants, taken, [given]))


def _add_pair_embeddings(graph: GraphBuilder) -> str:
    """Word, position and segment embeddings, normalised."""
    positions = GraphBuilder.constant(graph, "positions", graph.weights["embeddings.position_embeddings.weight"])
    length = graph.apply("Shape", ["input_ids"], "length", start=1, end=2)
    zero = graph.constant("zero", np.array([0], dtype=np.int64))
    near = graph.apply("Slice", [positions, zero, length], "position_embeddings")
    types = graph.weight("embeddings.token_type_embeddings.weight")
    segment = graph.apply("Gather", [types, "token_type_ids"], "type_embeddings")
    placed = graph.apply("Add", [segment, near], "placed")
    word = (
        graph.gather_words()
        if isinstance(graph, PackedGraph)
        else graph.apply("Gather", [graph.weight(WORDS), "input_ids"], "word")
    )
    return graph.add_normalise(word, placed, "embeddings.LayerNorm", "embedded")


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
