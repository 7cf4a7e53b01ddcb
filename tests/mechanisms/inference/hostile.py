"""Texts that nobody writes by mistake, and how long reading one of them takes."""

import time
from collections.abc import Callable
from typing import Any

BYTES = 60_000
MOST_SECONDS = 2.0

HOSTILE = {
    "empty": "",
    "signs": "?!… " * (BYTES // 6),
    "emoji": "🌉",
    "many emoji": "🌉🔥 " * (BYTES // 9),
    "chinese": "引力潮汐" * (BYTES // 12),
    "one chinese letter": "潮",
    "right to left": "\u202eإن الجسور الطويلة تحتاج إلى فواصل التمدد. " * 300,
    "chinese and latin": "引a" * (BYTES // 4),
    "one word": "x" * BYTES,
    "words": "word " * 2000,
    "marks": "a" + "\u0301\u0316" * 9000,
    "open brackets": "(" * BYTES,
    "closed brackets": "[(" * (BYTES // 4) + ")]" * (BYTES // 4),
    "blanks": " " * BYTES + "x",
    "blank lines": "\n" * BYTES + "x",
    "line separators": "\u2028" * (BYTES // 3),
    "short lines": "a\n" * (BYTES // 2),
    "definitions": "def f(" * (BYTES // 6),
    "a definition that never ends": "def f(" + "):" * (BYTES // 2) + "x",
    "brackets of a definition": "def f(" + ")" * BYTES,
    "fences": "```\n" * (BYTES // 4),
    "semicolons": (";" + " " * 300 + "x") * (BYTES // 302),
    "digits": "1" * BYTES,
    "figures": "1, " * (BYTES // 3),
    "fractions": "1/" * (BYTES // 2),
    "hundreds": "hundred " * 4000,
    "formulas": "\\frac{ " * (BYTES // 7),
    "answers": "the answer is 1 or " * (BYTES // 19),
    "apostrophes": "a'" * (BYTES // 2),
    "controls": "\x00\x07\x1b[2J\x7f",
}


def run_in_time(call: Callable[..., Any], *given: Any) -> Any:
    """What the call returns, which must not take more than two seconds of a processor."""
    start = time.process_time()
    result = call(*given)
    taken = time.process_time() - start
    assert taken < MOST_SECONDS, f"{taken:.1f} s"
    return result
