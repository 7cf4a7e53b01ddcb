"""The interpreter computes what Python does for what it knows, and nothing hostile gets through it."""

import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.mechanisms.inference.interpreter.interpret import Interpreter
from weighbeam.mechanisms.inference.interpreter.limits import LimitReached, Meter, ProgramFault, Unsupported
from weighbeam.mechanisms.inference.interpreter.parse import parse_program

SECONDS = 3.0
"""Far more than any program takes, on a busy machine."""


def call(source: str, *given: Any, name: str = "f") -> Any:
    program = Interpreter(Meter())
    program.run(parse_program(source))
    return program.call(name, list(given))


SAME_AS_PYTHON = [
    ("def f(n):\n    return 1 if n < 2 else n * f(n - 1)", (12,)),
    ("def f(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a", (90,)),
    ("def f(s):\n    d = {}\n    for c in s:\n        d[c] = d.get(c, 0) + 1\n    return d", ("banana",)),
    ("def f(x):\n    return sorted(x, key=lambda p: (-p[1], p[0]))", ([["a", 1], ["b", 2], ["c", 2]],)),
    ("def f(x):\n    x.sort(reverse=True)\n    return x[:2] + x[-1:]", ([3, 1, 2],)),
    (
        "def f(n):\n    while True:\n        n -= 1\n        if n % 7 == 0:\n            break\n"
        "        else:\n            continue\n    return n",
        (40,),
    ),
    (
        "def f(n):\n    for d in range(2, n):\n        if n % d == 0:\n            break\n    else:\n"
        "        return True\n    return False",
        (29,),
    ),
    ("def f(s):\n    return ' '.join(w.capitalize() for w in s.split())", ("to the sea",)),
    ("def f(m):\n    return [[row[i] for row in m] for i in range(len(m[0]))]", ([[1, 2], [3, 4]],)),
    ("def f(s):\n    return {c: s.count(c) for c in set(s)}", ("abba",)),
    ("def f(x):\n    def g(y):\n        return x + y\n    return g(2)", (5,)),
    ("def f(x):\n    return f'{x} and {x + 1}'", (5,)),
    (
        "from typing import List\ndef f(x: List[int]) -> int:\n    total: int = 0\n"
        "    for v in x:\n        total += v\n    return total",
        ([1, 2],),
    ),
    ("def f(x):\n    return x is not None and 1 <= x < 9 and x not in (4, 5)", (3,)),
    ("def f(x):\n    y = x\n    y += [4]\n    return x", ([1],)),
    ("def f(x):\n    return x[::-1], x[1:], len(x), max(x), min(x), sum(x), any(x), all(x)", ([3, 0, 2],)),
    (
        "def f(n):\n    return bin(n), divmod(n, 7), abs(-n), round(n / 7, 2), pow(n, 3, 10), n ** 2, "
        "n // 3, -n % 5, n >> 1",
        (23,),
    ),
    ("def f(a, b):\n    while b:\n        a, b = b, a % b\n    return a", (84, 36)),
    ("def f(x):\n    return list(enumerate(x, 1)), list(zip(x, x[1:])), list(reversed(x))", ([5, 6, 7],)),
]


@pytest.mark.parametrize(("source", "arguments"), SAME_AS_PYTHON)
def test_as_python(source: str, arguments: tuple[Any, ...]) -> None:
    names: dict[str, Any] = {}
    exec(source, names)  # our own cases, held against the real thing
    expected = names["f"](*[list(one) if isinstance(one, list) else one for one in arguments])
    assert call(source, *[list(one) if isinstance(one, list) else one for one in arguments]) == expected


HOSTILE = [
    "10 ** 10 ** 10",
    "(2 ** 4000) ** 4000",
    "1 << 10 ** 9",
    "'a' * 10 ** 9",
    "[0] * 10 ** 9",
    "10 ** 9 * [0]",
    "sum(range(10 ** 12))",
    "max(range(10 ** 12))",
    "list(range(10 ** 9))",
    "sorted(range(10 ** 9))",
    "[x for x in range(10 ** 12)]",
    "{x for x in range(10 ** 12)}",
    "len([y for x in range(10 ** 6) for y in range(10 ** 6)])",
    "round(5, -10 ** 9)",
    "'%1000000000d' % 5",
    "f'{5:1000000000}'",
    "'{:1000000000}'.format(5)",
    "'a'.ljust(10 ** 9)",
    "'a'.zfill(10 ** 9)",
    "('a' * 9999).replace('a', 'b' * 9999)",
    "('ab' * 4000).join(['c' * 4000] * 4000)",
    "[[1] * 9999 for _ in range(9999)]",
    "f(0)",
    "(lambda g: g(g))(lambda g: g(g))",
    "int('9' * 9999)",
    "'x' * 9999 + 'x' * 9999",
    "'a\\n'.__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "f.__globals__",
    "open('/etc/passwd').read()",
    "__import__('os').system('true')",
    "eval('1')",
    "exec('1')",
    "globals()",
    "getattr(1, 'real')",
    "type(1)",
    "vars()",
    "input()",
    "(-8) ** 0.5",
    "b'a' * 9",
    "1j",
    "...",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_nothing_hostile_gets_through(expression: str) -> None:
    began = time.perf_counter()
    with pytest.raises((LimitReached, Unsupported, ProgramFault)):
        call(f"def f(n=0):\n    return {expression}")
    assert time.perf_counter() - began < SECONDS


HOSTILE_PROGRAMS = [
    "while True:\n    pass",
    "a = [1]\nwhile True:\n    a += a",
    "a = [1]\nwhile True:\n    a = a + a",
    "a = [1]\nwhile True:\n    a.extend(a)",
    "a = []\nfor _ in range(60):\n    a = [a, a]\nb = a == a",
    "a = ()\nfor _ in range(60):\n    a = (a, a)\nb = {a: 1}",
    "a = ()\nfor _ in range(60):\n    a = (a, a)\nb = a in [a]",
    "a = []\na.append(a)\nb = str(a)",
    "a = []\na.append(a)\nb = a == [a]",
    "a = {}\na[1] = a\nb = str(a)",
    "s = 'ab'\nwhile True:\n    s = s.replace('a', s)",
    "s = 'ab'\nwhile True:\n    s += s",
    "x = 3\nwhile True:\n    x *= x",
    "x = 3\nwhile True:\n    x = pow(x, x + 2, 10 ** 1000 + 1) + 10 ** 999",
    "s = set()\ni = 0\nwhile True:\n    i += 2305843009213693951\n    s.add(i)",
    "d = {}\ni = 0\nwhile True:\n    i += 1\n    d[i] = i",
    "def g(n):\n    return g(n + 1) + g(n + 2)\nx = g(0)",
    "def g(n):\n    for i in range(10):\n        g(n)\nx = g(0)",
    "x = " + "-" * 3900 + "1",
    "x = " + "1+" * 1900 + "1",
    "x = " + "[" * 90 + "]" * 90,
    "x = " + "not " * 900 + "1",
    "x = " + "f(" * 95 + ")" * 95,
    "x = " + "9" * 3900,
    "x = " + "lambda: " * 400 + "1",
    "import os",
    "from os import path",
    "from typing import List as L\nimport sys",
    "class A:\n    pass",
    "try:\n    1 / 0\nexcept Exception:\n    pass",
    "with open('x') as f:\n    pass",
    "global x",
    "def g():\n    yield 1\ng()",
    "async def g():\n    pass",
    "@print\ndef g():\n    pass",
    "del x",
    "x = (y := 3)",
    "print.x = 3",
    "return 3",
    "break",
    "raise SystemExit",
    "assert False",
    "\x00",
    "def f(:",
]


@pytest.mark.parametrize("program", HOSTILE_PROGRAMS, ids=range(len(HOSTILE_PROGRAMS)))
def test_no_program_hangs_or_reaches_anything(program: str) -> None:
    began = time.perf_counter()
    with pytest.raises((LimitReached, Unsupported, ProgramFault)):
        Interpreter(Meter()).run(parse_program(program))
    assert time.perf_counter() - began < SECONDS


PIECES = st.sampled_from(
    "x y f 1 2 99 10**9 'ab' [1,2] {} + - * ** // % << == < in not and or if else for while def return : ( ) [ ] , . = "
    "+= \n \n\x20\x20\x20\x20 lambda range len str sorted append join replace print".split(" ")
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_any_text_ends_in_one_of_four_ways(pieces: list[str]) -> None:
    began = time.perf_counter()
    with suppress(LimitReached, Unsupported, ProgramFault):
        Interpreter(Meter()).run(parse_program("x = 3\ny = [1]\n" + " ".join(pieces)))
    assert time.perf_counter() - began < SECONDS


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(LimitReached, Unsupported, ProgramFault):
        Interpreter(Meter()).run(parse_program(text))


NUMBERS = st.integers(-30, 30)


@settings(max_examples=200, deadline=None)
@given(NUMBERS, NUMBERS, st.sampled_from("+ - * // % == < >= ^ | &".split()), st.booleans())
def test_arithmetic_is_pythons(left: int, right: int, sign: str, negated: bool) -> None:
    expression = f"{'not' if negated else ''} (a {sign} b)"
    try:
        expected = eval(expression, {"a": left, "b": right})
    except ZeroDivisionError:
        with pytest.raises(ProgramFault):
            call(f"def f(a, b):\n    return {expression}", left, right)
        return
    assert call(f"def f(a, b):\n    return {expression}", left, right) == expected


def test_a_long_source_is_refused() -> None:
    with pytest.raises(LimitReached):
        parse_program("x = 1\n" * 1000)


def test_sets_come_in_an_order_that_every_machine_has() -> None:
    assert call("def f(x):\n    return [c for c in set(x)]", list("zebra")) == sorted("zebra")
