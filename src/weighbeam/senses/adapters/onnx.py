"""ONNX: open a model on one thread, and encode a graph byte for byte as the `onnx` package does.

A message of protocol buffers is its fields in order of their numbers, each with a tag: number · 8 + 0 for an integer,
2 for bytes, 5 for a float. What is large is never copied before the whole is joined.
"""

import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def open_session(model: Path | bytes) -> Any:
    """A session on one thread. The runtime reports usage to its maker unless this is disabled before its import."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from onnxruntime import InferenceSession, SessionOptions, disable_telemetry_events

    disable_telemetry_events()
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    return InferenceSession(source, options, providers=["CPUExecutionProvider"])


FLOAT, UINT8, INT32, INT64 = 1, 2, 6, 7
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, np.dtype(np.int8): 3, np.dtype(np.uint8): UINT8}
IR_VERSION = 10
OPSETS = {"": 20, "com.microsoft": 1}

OnnxBytes = bytes | memoryview
Array = NDArray[Any]
Attribute = int | float
Shape = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation of a graph."""

    operation: str
    inputs: Sequence[str]
    output: str
    domain: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OnnxValue:
    """Input or output of a graph; a dimension of variable length has a name."""

    name: str
    type: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    name: str
    nodes: Sequence[OnnxNode]
    constants: Mapping[str, Array]
    inputs: Sequence[OnnxValue]
    outputs: Sequence[OnnxValue]


def encode_model(graph: OnnxGraph) -> bytes:
    parts = [_integer(1, IR_VERSION), *_nest(7, _encode_graph(graph))]
    for domain, version in OPSETS.items():
        parts += _nest(8, [_text(1, domain), _integer(2, version)])
    return b"".join(parts)


def _encode_graph(graph: OnnxGraph) -> Iterator[OnnxBytes]:
    for node in graph.nodes:
        yield from _nest(1, _encode_node(node))
    yield _text(2, graph.name)
    for name, constant in graph.constants.items():
        yield from _nest(5, _encode_tensor(name, constant))
    for number, values in ((11, graph.inputs), (12, graph.outputs)):
        for value in values:
            yield from _nest(number, _encode_value(value))


def _encode_node(node: OnnxNode) -> Iterator[OnnxBytes]:
    yield from (_text(1, name) for name in node.inputs)
    yield _text(2, node.output)
    yield _text(4, node.operation)
    for name, value in sorted(node.attributes.items()):
        yield from _nest(5, _encode_attribute(name, value))
    if node.domain:
        yield _text(7, node.domain)


def _encode_attribute(name: str, value: Attribute) -> Iterator[OnnxBytes]:
    yield _text(1, name)
    if isinstance(value, float):
        yield _tag(2, 5) + struct.pack("<f", value) + _integer(20, 1)
    else:
        yield _integer(3, value) + _integer(20, 2)


def _encode_tensor(name: str, value: Array) -> Iterator[OnnxBytes]:
    yield from (_integer(1, length) for length in value.shape)
    yield _integer(2, TYPES[value.dtype])
    yield _text(8, name)
    yield from _nest(9, [np.ascontiguousarray(value).data.cast("B")])


def _encode_value(value: OnnxValue) -> Iterator[OnnxBytes]:
    sides = [_text(2, side) if isinstance(side, str) else _integer(1, side) for side in value.shape]
    shape = [part for side in sides for part in _nest(1, [side])]
    yield _text(1, value.name)
    yield from _nest(2, _nest(1, [_integer(1, value.type), *_nest(2, shape)]))


def _nest(number: int, parts: Iterable[OnnxBytes]) -> Iterator[OnnxBytes]:
    """Bytes, or a message inside another: its length is known once its parts are."""
    inner = list(parts)
    yield _tag(number, 2) + _varint(sum(len(part) for part in inner))
    yield from inner


def _text(number: int, value: str) -> bytes:
    return b"".join(_nest(number, [value.encode()]))


def _integer(number: int, value: int) -> bytes:
    return _tag(number, 0) + _varint(value)


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; a negative number as the 64 bits that stand for it.

    >>> _varint(300).hex(), _varint(-1).hex()
    ('ac02', 'ffffffffffffffffff01')
    """
    left, written = value & (1 << 64) - 1, bytearray()
    while left > 0x7F:
        written.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*written, left])
