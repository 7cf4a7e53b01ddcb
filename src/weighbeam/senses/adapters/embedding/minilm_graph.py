"""The MiniLM encoder as an ONNX graph, built from its weights without torch.

Input `input_ids` (batch, pieces), every row of the same length and none padded, so the graph needs no mask and a
row's arithmetic never sees the rest of its batch. Output `last_hidden_state` (batch, pieces, 384). Pooling stays
outside: the runtime sums a batch of one in another order than a batch of two.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.adapters.onnx import FLOAT, INT64, Array, OnnxGraph, OnnxNode, OnnxValue, encode_model

REVISION = 1
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
WORDS = "embeddings.word_embeddings.weight"

Weights = Mapping[str, NDArray[np.float32]]


class GraphBuilder:
    """Nodes and constants of a graph in the making; each method adds one operation and names its output."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[OnnxNode] = []
        self.constants: dict[str, Array] = {}

    def constant(self, name: str, value: Array) -> str:
        self.constants[name] = value
        return name

    def apply(self, operation: str, inputs: list[str], output: str, domain: str = "", **attributes: float) -> str:
        self.nodes.append(OnnxNode(operation, inputs, output, domain, attributes))
        return output

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def dense(self, given: str, layer: str, output: str) -> str:
        kernel = self.constant(f"{layer}.kernel", self.weights[f"{layer}.weight"].T)
        product = self.apply("MatMul", [given, kernel], f"{output}.product")
        return self.apply("Add", [product, self.weight(f"{layer}.bias")], output)

    def normalise(self, given: str, layer: str, output: str) -> str:
        inputs = [given, self.weight(f"{layer}.weight"), self.weight(f"{layer}.bias")]
        return self.apply("LayerNormalization", inputs, output, axis=-1, epsilon=EPSILON)

    def add_normalise(self, given: str, residual: str, layer: str, output: str) -> str:
        return self.normalise(self.apply("Add", [given, residual], f"{output}.sum"), layer, output)


def build_encoder(weights: Weights) -> bytes:
    """The serialised ONNX model."""
    graph = GraphBuilder(weights)
    hidden = add_embeddings(graph)
    for index in range(LAYERS):
        hidden = add_layer(graph, hidden, f"encoder.layer.{index}")
    return encode_encoder(graph)


def encode_encoder(graph: GraphBuilder) -> bytes:
    """The model whose last node gives the hidden states."""
    graph.nodes[-1] = replace(graph.nodes[-1], output="last_hidden_state")
    width = graph.weights["embeddings.LayerNorm.weight"].shape[0]
    taken = OnnxValue("input_ids", INT64, ["batch", "pieces"])
    given = OnnxValue("last_hidden_state", FLOAT, ["batch", "pieces", width])
    return encode_model(OnnxGraph("minilm", graph.nodes, graph.constants, [taken], [given]))


def add_embeddings(graph: GraphBuilder) -> str:
    """Word, position and (single) segment embeddings, normalised."""
    words = graph.weight(WORDS)
    near = add_positions(graph)
    word = graph.apply("Gather", [words, "input_ids"], "word_embeddings")
    return graph.add_normalise(word, near, "embeddings.LayerNorm", "embedded")


def add_positions(graph: GraphBuilder) -> str:
    """Position and segment embeddings of as many pieces as there are; always float32."""
    where = graph.weights["embeddings.position_embeddings.weight"]
    table = where + graph.weights["embeddings.token_type_embeddings.weight"][0]
    positions = GraphBuilder.constant(graph, "positions", table)
    length = graph.apply("Shape", ["input_ids"], "length", start=1, end=2)
    zero = graph.constant("zero", np.array([0], dtype=np.int64))
    return graph.apply("Slice", [positions, zero, length], "position_embeddings")


def add_layer(graph: GraphBuilder, hidden: str, layer: str) -> str:
    """One transformer layer: attention, then the feed-forward block, each with its residual."""
    inner = f"{layer}.attention.self"
    merged = [graph.weights[f"{inner}.{part}.weight"].T for part in ("query", "key", "value")]
    biases = [graph.weights[f"{inner}.{part}.bias"] for part in ("query", "key", "value")]
    kernel = graph.constant(f"{inner}.kernel", np.concatenate(merged, axis=1))
    bias = graph.constant(f"{inner}.bias", np.concatenate(biases))
    attended = graph.apply("Attention", [hidden, kernel, bias], f"{inner}.out", domain="com.microsoft", num_heads=HEADS)
    mixed = graph.dense(attended, f"{layer}.attention.output.dense", f"{layer}.mixed")
    first = graph.add_normalise(mixed, hidden, f"{layer}.attention.output.LayerNorm", f"{layer}.first")
    wide = graph.dense(first, f"{layer}.intermediate.dense", f"{layer}.wide")
    active = graph.apply("Gelu", [wide], f"{layer}.active")
    narrow = graph.dense(active, f"{layer}.output.dense", f"{layer}.narrow")
    return graph.add_normalise(narrow, first, f"{layer}.output.LayerNorm", f"{layer}.second")


def load_weights(path: Path) -> Weights:
    from safetensors.numpy import load_file

    return load_file(path)
