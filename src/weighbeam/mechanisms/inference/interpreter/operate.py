"""Operators with the size of their result checked before it is made."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from weighbeam.mechanisms.inference.interpreter.limits import MAX_BITS, LimitReached, Meter, Unsupported

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
BIG_STEPS = 50
"""Cost of an operation on long integers."""


def apply_binary(meter: Meter, kind: type[ast.operator], left: Any, right: Any) -> Any:
    """`left kind right`; what would be too large is never computed."""
    if kind not in BINARY:
        raise Unsupported(kind.__name__)
    if isinstance(left, int) and isinstance(right, int):
        _check_integers(meter, kind, left, right)
    elif kind is ast.Mod and isinstance(left, str):
        raise Unsupported("string formatting")
    elif kind is ast.Mult:
        _check_repeated(left, right)
    elif isinstance(left, str | list | tuple | set) and isinstance(right, str | list | tuple | set):
        meter.pay_size(len(left) + len(right))
    return meter.check(BINARY[kind](left, right))


def _check_integers(meter: Meter, kind: type[ast.operator], left: int, right: int) -> None:
    bits = left.bit_length() + right.bit_length()
    if bits > MAX_BITS // 8:
        meter.pay(BIG_STEPS)
    if kind is ast.Mult and bits > MAX_BITS + 1:
        raise LimitReached("integer")
    if kind is ast.Pow and abs(left) > 1 and abs(right) * left.bit_length() > MAX_BITS:
        raise LimitReached("integer")
    if kind is ast.LShift and left and right + left.bit_length() > MAX_BITS:
        raise LimitReached("integer")
    if kind is ast.RShift and right > MAX_BITS:
        raise LimitReached("integer")


def _check_repeated(left: Any, right: Any) -> None:
    """A string or a list times a number."""
    for one, times in ((left, right), (right, left)):
        if isinstance(one, str | list | tuple) and isinstance(times, int) and len(one) * max(0, times) > MAX_REPEATED:
            raise LimitReached("size")


MAX_REPEATED = 10_000


def apply_unary(meter: Meter, kind: type[ast.unaryop], value: Any) -> Any:
    return meter.check(UNARY[kind](value))


def apply_compare(meter: Meter, kind: type[ast.cmpop], left: Any, right: Any) -> bool:
    """Comparisons, membership, and `is` beside None, True or False."""
    if kind in (ast.Is, ast.IsNot):
        if right is not None and not isinstance(right, bool):
            raise Unsupported("is")
        return (left is right) == (kind is ast.Is)
    if kind in (ast.In, ast.NotIn):
        return contains(meter, right, left) == (kind is ast.In)
    meter.weigh(left)
    meter.weigh(right)
    return bool(COMPARED[kind](left, right))


def contains(meter: Meter, container: Any, value: Any) -> bool:
    if isinstance(container, range):
        return isinstance(value, int) and value in container
    meter.weigh(value)
    if not isinstance(container, set | dict):
        meter.weigh(container)
    if not isinstance(container, str | list | tuple | set | dict):
        raise TypeError("argument is not iterable")
    return value in container
