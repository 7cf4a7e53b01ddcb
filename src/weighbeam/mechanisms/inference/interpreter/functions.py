"""The functions and methods a program may call. None of them sees anything but plain values."""

from collections.abc import Callable, Mapping
from typing import Any

from weighbeam.mechanisms.inference.interpreter.limits import (
    MAX_ITEMS,
    MAX_KEYS,
    LimitReached,
    Meter,
    ProgramFault,
    Unsupported,
)

MAX_PLACES = 15
POWER_STEPS = 500
POWER_BITS = 256
"""A power of longer numbers takes half a second each."""

METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        "lower upper strip lstrip rstrip split join replace startswith endswith find rfind index count isdigit isalpha "
        "isalnum isupper islower isspace title capitalize swapcase splitlines".split()
    ),
    list: frozenset("append extend insert pop remove index count reverse copy clear".split()),
    tuple: frozenset("index count".split()),
    dict: frozenset("get keys values items pop setdefault copy".split()),
    set: frozenset("add discard remove union intersection difference issubset issuperset copy".split()),
}


def list_items(meter: Meter, value: Any) -> list[Any]:
    """Items of a value in order: charged before they are made."""
    if not isinstance(value, str | list | tuple | set | dict | range):
        raise TypeError("object is not iterable")
    try:
        meter.pay_size(len(value))
    except OverflowError:
        raise LimitReached("size") from None
    if isinstance(value, set):
        meter.weigh(value)
        return sorted(value, key=_sort_mixed)  # the order of a set is nobody's promise: one that every machine has
    return list(value)


def _sort_mixed(value: Any) -> tuple[str, Any]:
    return ("number" if isinstance(value, int | float) else type(value).__name__, value)


def call_method(meter: Meter, owner: Any, name: str, given: list[Any]) -> Any:
    """`owner.name(*given)`."""
    if name not in METHODS.get(type(owner), ()):
        raise Unsupported(f"method {name}")
    _pay_call(meter, owner, name, given)
    _check_growth(meter, owner, name, given)
    result = getattr(owner, name)(*given)
    if isinstance(owner, dict) and name in ("keys", "values", "items"):
        result = list(result)
    return meter.check(result)


GROWING = frozenset("append insert extend".split())
CHEAP = GROWING | frozenset("pop add discard get setdefault clear keys values items copy reverse".split())
"""They do not look into what their owner holds, but perhaps at the places of all of it."""
PLACES_A_STEP = 64


def _pay_call(meter: Meter, owner: Any, name: str, given: list[Any]) -> None:
    if name in CHEAP:
        meter.pay(1 + len(owner) // PLACES_A_STEP)
    else:
        meter.weigh(owner)
    if name not in GROWING:
        for one in given:
            meter.weigh(one)


def _check_growth(meter: Meter, owner: Any, name: str, given: list[Any]) -> None:
    """Refuse what would make a value too large, before it does."""
    if isinstance(owner, str):
        _check_text(meter, owner, name, given)
    elif isinstance(owner, list) and name in ("append", "insert") and len(owner) >= MAX_ITEMS:
        raise LimitReached("size")
    elif isinstance(owner, list) and name == "extend":
        given[0] = list_items(meter, given[0])
        meter.pay_size(len(owner) + len(given[0]))
    elif isinstance(owner, dict | set) and name in ("setdefault", "add") and len(owner) >= MAX_KEYS:
        raise LimitReached("keys")


def _check_text(meter: Meter, owner: str, name: str, given: list[Any]) -> None:
    if name == "join":
        parts = list_items(meter, given[0])
        if not all(isinstance(part, str) for part in parts):
            raise TypeError("sequence item is not a string")
        meter.pay_size(sum(map(len, parts)) + len(owner) * len(parts))
        given[0] = parts
    elif name == "replace" and len(given) >= 2 and all(isinstance(one, str) for one in given[:2]):
        meter.pay_size(len(owner) + owner.count(given[0]) * len(given[1]))


def _range(_: Meter, *given: Any) -> range:
    return range(*given)


def _len(_: Meter, value: Any) -> int:
    if not isinstance(value, str | list | tuple | set | dict | range):
        raise TypeError("object has no length")
    return len(value)


def _sum(meter: Meter, value: Any, start: Any = 0) -> Any:
    items = list_items(meter, value)
    if not all(isinstance(one, int | float) for one in [*items, start]):
        raise TypeError("only numbers are added up")
    return sum(items, start)


def _pick_extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def pick(meter: Meter, *given: Any) -> Any:
        items = list_items(meter, given[0]) if len(given) == 1 else list(given)
        meter.weigh(items)
        return choose(items)

    return pick


def _sorted(meter: Meter, value: Any) -> list[Any]:
    items = list_items(meter, value)
    meter.weigh(items)
    meter.pay(2 * len(items))
    return sorted(items)


def _zip(meter: Meter, *given: Any) -> list[Any]:
    return list(zip(*(list_items(meter, one) for one in given), strict=False))


def _int(meter: Meter, value: Any = 0, *base: int) -> int:
    if isinstance(value, str):
        meter.pay_size(len(value))
    return int(value, *base)


def _show(meter: Meter, value: Any = "") -> str:
    meter.weigh(value)
    if isinstance(value, set):
        raise Unsupported("str of a set")
    return str(value)


def _round(_: Meter, value: Any, places: Any = None) -> Any:
    if places is not None and (not isinstance(places, int) or abs(places) > MAX_PLACES):
        raise LimitReached("places")
    return round(value, places)


def _pow(meter: Meter, base: Any, power: Any, modulus: Any) -> Any:
    meter.pay(POWER_STEPS)
    if any(isinstance(one, int) and one.bit_length() > POWER_BITS for one in (base, power, modulus)):
        raise LimitReached("integer")
    return pow(base, power, modulus)


def _hash_all(meter: Meter, value: Any = ()) -> list[Any]:
    items = list_items(meter, value)
    meter.weigh(items)
    if len(items) > MAX_KEYS:
        raise LimitReached("keys")
    return items


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "range": _range,
    "len": _len,
    "sum": _sum,
    "min": _pick_extreme(min),
    "max": _pick_extreme(max),
    "sorted": _sorted,
    "zip": _zip,
    "int": _int,
    "str": _show,
    "round": _round,
    "abs": lambda _, value: abs(value),
    "float": lambda _, value=0.0: float(value),
    "bool": lambda _, value=False: bool(value),
    "ord": lambda _, value: ord(value),
    "chr": lambda _, value: chr(value),
    "bin": lambda _, value: bin(value),
    "divmod": lambda _, left, right: divmod(left, right),
    "any": lambda meter, value: any(list_items(meter, value)),
    "all": lambda meter, value: all(list_items(meter, value)),
    "reversed": lambda meter, value: list_items(meter, value)[::-1],
    "enumerate": lambda meter, value, start=0: list(enumerate(list_items(meter, value), start)),
    "list": lambda meter, value=(): list_items(meter, value),
    "tuple": lambda meter, value=(): tuple(list_items(meter, value)),
    "set": lambda meter, value=(): set(_hash_all(meter, value)),
    "dict": lambda meter, value=(): dict(value if isinstance(value, dict) else _hash_all(meter, value)),
    "print": lambda *_: None,
}


def call_function(meter: Meter, name: str, given: list[Any], named: dict[str, Any]) -> Any:
    """A function of Python's own; with three numbers, `pow`."""
    if name == "pow" and len(given) == 3:
        return meter.check(_pow(meter, *given))
    if name not in FUNCTIONS or (named and name not in ("enumerate", "print")):
        raise Unsupported(f"function {name}")
    return meter.check(FUNCTIONS[name](meter, *given, **named))


FAULTS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, UnicodeError)
"""Exceptions of plain operations on plain values."""


def call_plain(call: Callable[[], Any]) -> Any:
    """The result of an operation; what Python refuses is the program's fault."""
    try:
        return call()
    except FAULTS as fault:
        raise ProgramFault(type(fault).__name__) from None
    except MemoryError:
        raise LimitReached("memory") from None
