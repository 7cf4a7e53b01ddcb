"""Graphs that multiply in whole numbers, and the MiniLM encoder as one of them.

Each row of what goes into a matrix (one word piece) is scaled by its own maximum and rounded to 8 bits, each column of
the matrix has a scale of its own, and sums of products of whole numbers are exact; so a row's result depends neither
on the batch nor on the order of summing.

A processor without VNNI adds the products of unsigned by signed bytes in pairs of 16 bits, and cuts what does not fit.
Weights of 7 bits (-64..64) always fit. Weights of 8 bits do not: there the encoder is built with unsigned weights,
whose products the runtime widens first. The sums are the same, and slower.
"""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.adapters.embedding.minilm_graph import (
    HEADS,
    WORDS,
    GraphBuilder,
    Weights,
    add_positions,
    encode_encoder,
)
from weighbeam.senses.adapters.onnx import (
    INT32,
    UINT8,
    Array,
    OnnxGraph,
    OnnxNode,
    OnnxValue,
    encode_model,
    open_session,
)

PACKED_REVISION = "int8-1"
PACKED_LAYOUT = 2
"""Another one gives the same vectors in other steps: it names the file in the cache, and is in no digest."""
LEAST_PACKED = 4_096
SAFE_STEPS = 64
"""The greatest whole number that stands for a weight, if signed weights are to give the same sums on any processor."""
STEPS = 127
MIDDLE = 128
CONTRIB = "com.microsoft"
WIDTH = 384
"""Channels of the encoder."""
SMOOTHING = Path(__file__).with_name("smoothing.npy")
EIGHTHS = np.exp2(np.arange(8) / 8).astype(np.float32)


class PackedGraph(GraphBuilder):
    """A graph whose large matrices are stored as bytes with a float32 scale per column, and multiplied as such."""

    def __init__(self, weights: Weights, steps: int = SAFE_STEPS, signed: bool = True) -> None:
        super().__init__(weights)
        self.steps = steps
        self.signed = signed
        self.rounded: dict[str, tuple[str, str]] = {}
        zero = np.array(0, dtype=np.int8) if signed else np.array(MIDDLE, dtype=np.uint8)
        numbers: dict[str, Array] = {
            "row.axis": np.array([-1], dtype=np.int64),
            "row.step": np.array(1 / STEPS, dtype=np.float32),
            "row.least": np.array(1e-30, dtype=np.float32),
            "row.one": np.array(1, dtype=np.float32),
            "row.zero": np.array(MIDDLE, dtype=np.uint8),
            "weight.zero": zero,
        }
        for name, value in numbers.items():
            super().constant(name, value)

    def constant(self, name: str, value: Array) -> str:
        """A matrix that is not multiplied row by row becomes float32 when the session opens."""
        if value.dtype != np.float32 or value.ndim != 2 or value.size < LEAST_PACKED:
            return super().constant(name, value)
        packed, scales = pack_columns(value)
        super().constant(f"{name}.packed", packed)
        super().constant(f"{name}.scales", scales)
        wide = self.apply("Cast", [f"{name}.packed"], f"{name}.wide", to=1)
        return self.apply("Mul", [wide, f"{name}.scales"], name)

    def gather_words(self) -> str:
        """Only the words of a text are unpacked, each by its own scale."""
        packed, scales = pack_columns(self.weights[WORDS].T)
        table = self.constant("words.packed", packed.T)
        worth = self.constant("words.scales", scales[:, None])
        rows = self.apply("Gather", [table, "input_ids"], "words.rows")
        wide = self.apply("Cast", [rows], "words.wide", to=1)
        return self.apply("Mul", [wide, self.apply("Gather", [worth, "input_ids"], "words.worth")], "word")

    def round_rows(self, given: str) -> tuple[str, str]:
        """Each row as whole numbers 1..255 around 128, and what one is worth in it."""
        if given not in self.rounded:
            size = self.apply("Abs", [given], f"{given}.size")
            most = self.apply("ReduceMax", [size, "row.axis"], f"{given}.most", keepdims=1)
            least = self.apply("Max", [most, "row.least"], f"{given}.least")
            worth = self.apply("Mul", [least, "row.step"], f"{given}.worth")
            self.rounded[given] = self.divide_rows(given, worth), worth
        return self.rounded[given]

    def divide_rows(self, given: str, worth: str) -> str:
        scaled = self.apply("Div", [given, worth], f"{given}.scaled")
        return self.apply("QuantizeLinear", [scaled, "row.one", "row.zero"], f"{given}.whole")

    def multiply_rows(self, given: str, matrix: NDArray[np.float32], layer: str, output: str) -> str:
        """The product with a matrix that is named after its layer, without a bias."""
        whole, worth = self.round_rows(given)
        packed, scales = pack_columns(matrix, self.steps)
        kernel = GraphBuilder.constant(self, f"{layer}.packed", packed if self.signed else shift_bytes(packed))
        columns = GraphBuilder.constant(self, f"{layer}.scales", scales)
        taken = [whole, kernel, "row.one", columns, "row.zero", "weight.zero"]
        product = self.apply("MatMulIntegerToFloat", taken, f"{output}.product", domain=CONTRIB)
        return self.apply("Mul", [product, worth], f"{output}.rescaled")

    def dense_rows(self, given: str, layer: str, output: str) -> str:
        scaled = self.multiply_rows(given, self.weights[f"{layer}.weight"].T, layer, output)
        return self.apply("Add", [scaled, self.weight(f"{layer}.bias")], output)


class PlainRows(PackedGraph):
    """The same numbers from a plane of rows (pieces of all texts, channels): the runtime can divide each row by its own
    scale while it rounds, which saves writing and reading all of them once. Only attention needs to know the texts."""

    def add_shapes(self) -> None:
        """`cube` is (texts, pieces, channels), `plane` the same as rows, `row.zeros` the middle of each row."""
        shapes: dict[str, list[int]] = {"row.flat": [-1], "plane": [-1, WIDTH], "width": [WIDTH]}
        for name, shape in shapes.items():
            GraphBuilder.constant(self, name, np.array(shape, dtype=np.int64))
        self.apply("Concat", [self.apply("Shape", ["input_ids"], "texts"), "width"], "cube", axis=0)
        flat = self.apply("Reshape", ["input_ids", "row.flat"], "pieces")
        self.apply("Expand", ["row.zero", self.apply("Shape", [flat], "count")], "row.zeros")

    def reshape(self, given: str, shape: str) -> str:
        return self.apply("Reshape", [given, shape], f"{given}.{shape}")

    def divide_rows(self, given: str, worth: str) -> str:
        scales = self.reshape(worth, "row.flat")
        return self.apply("QuantizeLinear", [given, scales, "row.zeros"], f"{given}.whole", axis=0)


def pack_columns(matrix: NDArray[np.float32], steps: int = STEPS) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Whole numbers in -steps..steps and what each column's are worth.

    >>> packed, scales = pack_columns(np.array([[1.27, 0.0], [-0.64, 0.0]], dtype=np.float32))
    >>> packed.tolist(), scales.round(4).tolist()
    ([[127, 0], [-64, 0]], [0.009999999776482582, 1.0])
    """
    scales = np.abs(matrix).max(axis=0) / np.float32(steps)
    scales[scales == 0] = 1
    return np.rint(matrix / scales).astype(np.int8), scales


def shift_bytes(packed: NDArray[np.int8]) -> NDArray[np.uint8]:
    """The same whole numbers around 128.

    >>> shift_bytes(np.array([-127, 0, 127], dtype=np.int8)).tolist()
    [1, 128, 255]
    """
    return (packed.astype(np.int16) + MIDDLE).astype(np.uint8)


def build_packed_encoder(weights: Weights, signed: bool) -> bytes:
    """The serialised encoder. Signed weights are for a processor that `multiplies_exactly`."""
    graph = PlainRows(weights, STEPS, signed)
    graph.add_shapes()
    near = add_positions(graph)
    hidden = graph.add_normalise(graph.gather_words(), near, "embeddings.LayerNorm", "embedded")
    hidden = graph.reshape(hidden, "plane")
    for index, smoothing in enumerate(read_smoothing(np.load(SMOOTHING))):
        hidden = _add_smooth_layer(graph, hidden, f"encoder.layer.{index}", smoothing)
    graph.reshape(hidden, "cube")
    return encode_encoder(graph)


def read_smoothing(eighths: NDArray[np.int8]) -> NDArray[np.float32]:
    """Factors of each layer, place and channel, from eighths of a power of two.

    Only products and sums that every machine rounds alike: the same weights are built everywhere.

    >>> read_smoothing(np.array([0, 8, -12], dtype=np.int8)).round(4).astype(str).tolist()
    ['1.0', '2.0', '0.3536']
    """
    whole, part = np.divmod(eighths, np.int8(8))
    return np.ldexp(EIGHTHS[part], whole)


def _add_smooth_layer(graph: PlainRows, hidden: str, layer: str, smoothing: NDArray[np.float32]) -> str:
    """One transformer layer. Channels that outgrow the others leave them few steps of a row's scale, so what enters the
    layer and its feed-forward block is divided by a factor per channel, and the weights behind it are multiplied."""
    inner, (at_entry, at_wide) = f"{layer}.attention.self", smoothing
    entry = _smooth(graph, hidden, at_entry)
    sides = [f"{inner}.{part}" for part in ("query", "key", "value")]
    rows = [graph.multiply_rows(entry, _scale_inputs(graph, side, at_entry), side, f"{side}.out") for side in sides]
    parts = [graph.reshape(side, "cube") for side in rows]
    bias = graph.constant(f"{inner}.bias", np.concatenate([graph.weights[f"{side}.bias"] for side in sides]))
    attended = graph.apply("MultiHeadAttention", [*parts, bias], f"{inner}.out", domain=CONTRIB, num_heads=HEADS)
    attended = graph.reshape(attended, "plane")
    mixed = graph.dense_rows(attended, f"{layer}.attention.output.dense", f"{layer}.mixed")
    first = graph.add_normalise(mixed, hidden, f"{layer}.attention.output.LayerNorm", f"{layer}.first")
    block = f"{layer}.intermediate.dense"
    matrix = _scale_inputs(graph, block, at_wide)
    wide = graph.multiply_rows(_smooth(graph, first, at_wide), matrix, block, f"{layer}.wide")
    active = graph.apply("BiasGelu", [wide, graph.weight(f"{block}.bias")], f"{layer}.active", domain=CONTRIB)
    narrow = graph.dense_rows(active, f"{layer}.output.dense", f"{layer}.narrow")
    return graph.add_normalise(narrow, first, f"{layer}.output.LayerNorm", f"{layer}.second")


def _smooth(graph: PackedGraph, given: str, factors: NDArray[np.float32]) -> str:
    share = graph.constant(f"{given}.share", np.float32(1) / factors)
    return graph.apply("Mul", [given, share], f"{given}.smooth")


def _scale_inputs(graph: PackedGraph, layer: str, factors: NDArray[np.float32]) -> NDArray[np.float32]:
    return graph.weights[f"{layer}.weight"].T * factors[:, None]


@cache
def multiplies_exactly() -> bool:
    """Whether products of unsigned by signed bytes of 8 bits add up right in this process, tried at their extremes."""
    length, ends = 1_536, np.array([STEPS, -STEPS] * 16)
    given, sums = OnnxValue("rows", UINT8, ["count", length]), OnnxValue("sums", INT32, ["count", len(ends)])
    product = OnnxNode("MatMulInteger", ["rows", "weights"], "sums")
    constants = {"weights": np.tile(ends, (length, 1)).astype(np.int8)}
    session = open_session(encode_model(OnnxGraph("probe", [product], constants, [given], [sums])))
    for count in (1, 64):
        found = session.run(["sums"], {"rows": np.full((count, length), 255, np.uint8)})[0]
        if not np.array_equal(found, np.tile(ends * 255 * length, (count, 1))):
            return False
    return True
