"""The kind of answer that a prompt asks for (spec § 18).

It decides which rules hold, so the answers of a round decide it together with the prompt: no single miner can.
"""

import re
from collections.abc import Sequence
from statistics import median
from typing import Literal, TypeAlias

from weighbeam.core.text import find_words

Kind: TypeAlias = Literal["code", "number", "short", "open"]

SHORT_ANSWER = 25
SHORT_QUESTION = 60

FENCE = "```"
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
DEFINITION = re.compile(r"^[^\S\n]*def \w+\(.*\)[^)\n]*:[^\S\n]*$", re.MULTILINE)
CODE_LINE = re.compile(
    r"^\s*(?:def |class |import |from \w+ import|#include|public |function |const |let |var |SELECT |return )|[{};]\s*$"
)
CODE_SHARE = 0.3
ASKS_CODE = re.compile(
    r"\b(?:code|function|program|script|python|javascript|java|c\+\+|sql|html|css|regex|algorithm)\b|```", re.IGNORECASE
)
QUANTITY = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice|dozen)\b", re.IGNORECASE)
NUMERAL = re.compile(r"\d[\d,.]*")
ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|far|long|old|tall|fast)\b|\bwhat (?:percent\w*|fraction)\b|\btotal\b|\bcosts?\b|\bcalculate\b"
    r"|\bprice\b|\bsum\b|\baverage\b|\bpercent",
    re.IGNORECASE,
)
ASKS_MORE = re.compile(
    r"\b(?:why|explain|describe|discuss|compare|write|list|summari[sz]e"
    r"|how (?:do|does|did|can|could|should|would|to))\b",
    re.IGNORECASE,
)
"""Asked for reasons or for a text, no majority of short answers makes the question a short one."""
ASKS_WHAT = re.compile(r"\bwhat (?:is|was|will)\b", re.IGNORECASE)


def count_size(clean: str) -> float:
    """The length of a text in words; two letters of a script without spaces count as one.

    >>> count_size("How tall is it?"), count_size("你好世界")
    (4, 2.0)
    """
    letters = len(CJK.findall(clean))
    return len(find_words(CJK.sub(" ", clean) if letters else clean)) + (letters / 2 if letters else 0)


def has_code(clean: str) -> bool:
    """
    >>> has_code("def f(x):\\n    return x"), has_code("The function returns x.")
    (True, False)
    """
    if FENCE in clean or DEFINITION.search(clean):
        return True
    lines = [line for line in clean.splitlines() if line.strip()]
    return bool(lines) and sum(bool(CODE_LINE.search(line)) for line in lines) >= CODE_SHARE * len(lines)


def find_kind(prompt: str, answers: Sequence[str]) -> Kind:
    """The kind of a round, from its clean prompt and its clean answers, each different one once."""
    if not answers:
        return "open"
    coded = sum(map(has_code, answers)) / len(answers)
    if coded >= 0.5 or (coded >= 0.25 and ASKS_CODE.search(prompt)):
        return "code"
    if "?" in prompt and _asks_number(prompt, answers):
        return "number"
    asks_little = count_size(prompt) <= SHORT_QUESTION and not ASKS_MORE.search(prompt)
    if asks_little and median(map(count_size, answers)) <= SHORT_ANSWER:
        return "short"
    return "open"


def _asks_number(prompt: str, answers: Sequence[str]) -> bool:
    counts = [len(NUMERAL.findall(answer)) for answer in answers]
    if not QUANTITY.search(prompt) or sum(count >= 1 for count in counts) < 0.6 * len(counts):
        return False
    if ASKS_NUMBER.search(prompt):
        return True
    several = sum(count >= 2 for count in counts) >= 0.5 * len(counts)
    return bool(ASKS_WHAT.search(prompt)) and several and len(NUMERAL.findall(prompt)) >= 2
