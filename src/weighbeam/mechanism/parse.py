"""Parse the answers of a question file: a list of uniquely named, timed rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number
from weighbeam.core.text import has_lone_surrogate


def parse_answer_rows(data: Any, shape: str) -> list[Any]:
    """The rows of `answers`; `shape` is what the remedy shows."""
    require(isinstance(data, Mapping), "bad_question", "the file is not a JSON object", f"write {shape}")
    rows = data.get("answers")
    if not isinstance(rows, list) or not rows:
        what = "answers is not a list" if rows else "there are no answers"
        raise WeighbeamError("no_answers", what, f"write {shape}")
    return rows


def parse_name_and_seconds(row: Any, index: int, shape: str) -> tuple[str, float]:
    """Parse hotkey and seconds of an answer; without a hotkey its number is its name."""
    if not isinstance(row, Mapping):
        raise WeighbeamError("bad_answer", f"answer {index} is not an object", f"write {shape}")
    hotkey, seconds = row.get("hotkey"), row.get("seconds")
    hotkey = f"answer-{index}" if hotkey is None else hotkey
    seconds = 0.0 if seconds is None else seconds
    named = isinstance(hotkey, str) and bool(hotkey) and not has_lone_surrogate(hotkey)
    require(named, "bad_hotkey", f"answer {index} has the hotkey {hotkey!r}", "give a string, or leave it out")
    timed = is_number(seconds)
    require(timed, "bad_seconds", f"answer {index} took {seconds!r} seconds", "give a finite number")
    return hotkey, float(seconds)


def refuse_doubles(hotkeys: Sequence[str]) -> None:
    for hotkey, times in Counter(hotkeys).items():
        require(times == 1, "duplicate_hotkey", f"{hotkey!r} answers {times} times", "name each answer differently")
