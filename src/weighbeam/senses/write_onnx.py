"""ONNX files written by hand, byte for byte as the `onnx` package writes them: the few messages our two graphs need.

A message of protocol buffers is its fields in order of their numbers, each with a tag: number · 8 + 0 for an integer,
2 for bytes, 5 for a float. What is large is never copied before the whole is joined.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT64, FLOAT = 7, 1
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, np.dtype(np.int8): 3}
IR_VERSION = 10
OPSETS = {"": 20, "com.microsoft": 1}

Part = bytes | memoryview
Array = NDArray[Any]
Attribute = int | float
Shape = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of a graph."""

    operation: str
    inputs: Sequence[str]
    output: str
    domain: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Value:
    """What goes into a graph or comes out of it; a side of no fixed length has a name."""

    name: str
    type: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Graph:
    name: str
    nodes: Sequence[Node]
    constants: Mapping[str, Array]
    inputs: Sequence[Value]
    outputs: Sequence[Value]


def write_model(graph: Graph) -> bytes:
    parts = [_integer(1, IR_VERSION), *_nest(7, _write_graph(graph))]
    for domain, version in OPSETS.items():
        parts += _nest(8, [_text(1, domain), _integer(2, version)])
    return b"".join(parts)


def _write_graph(graph: Graph) -> Iterator[Part]:
    for node in graph.nodes:
        yield from _nest(1, _write_node(node))
    yield _text(2, graph.name)
    for name, constant in graph.constants.items():
        yield from _nest(5, _write_tensor(name, constant))
    for number, values in ((11, graph.inputs), (12, graph.outputs)):
        for value in values:
            yield from _nest(number, _write_value(value))


def _write_node(node: Node) -> Iterator[Part]:
    yield from (_text(1, name) for name in node.inputs)
    yield _text(2, node.output)
    yield _text(4, node.operation)
    for name, value in sorted(node.attributes.items()):
        yield from _nest(5, _write_attribute(name, value))
    if node.domain:
        yield _text(7, node.domain)


def _write_attribute(name: str, value: Attribute) -> Iterator[Part]:
    yield _text(1, name)
    if isinstance(value, float):
        yield _tag(2, 5) + struct.pack("<f", value) + _integer(20, 1)
    else:
        yield _integer(3, value) + _integer(20, 2)


def _write_tensor(name: str, value: Array) -> Iterator[Part]:
    yield from (_integer(1, length) for length in value.shape)
    yield _integer(2, TYPES[value.dtype])
    yield _text(8, name)
    yield from _nest(9, [np.ascontiguousarray(value).data.cast("B")])


def _write_value(value: Value) -> Iterator[Part]:
    sides = [_text(2, side) if isinstance(side, str) else _integer(1, side) for side in value.shape]
    shape = [part for side in sides for part in _nest(1, [side])]
    yield _text(1, value.name)
    yield from _nest(2, _nest(1, [_integer(1, value.type), *_nest(2, shape)]))


def _nest(number: int, parts: Iterable[Part]) -> Iterator[Part]:
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
