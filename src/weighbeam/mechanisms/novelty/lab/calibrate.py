"""Fit the similarity scale of an embedder to labelled pairs."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weighbeam.cli.common.receipts import open_lines
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.scale import USUAL_ROWS, expand_scale, format_scale
from weighbeam.senses.ports.protocols import Embedder

MAX_LINE = 8_000_000
MIN_PAIRS = 10
MISSED = 5
"""Per cent of repetitions that may be paid ten tokens or more."""
SURE = 25
"""Per cent of repetitions that may be paid anything at all."""
BELOW, ABOVE = 0.04, 0.05
AT_TEN, AT_NOTHING = 0.05, 0.2
"""How far above the cap the curve pays 10 tokens, and nothing."""
Pair = tuple[str, str, bool]


def fit_pairs(path: Path, name: str, embedder: Embedder) -> tuple[str, int]:
    """The scale of an embedder by the pairs of a file, and how many they are."""
    rows = load_pairs(path)
    first = embedder.embed([a for a, _, _ in rows]).astype(np.float64) / MILLION
    second = embedder.embed([b for _, b, _ in rows]).astype(np.float64) / MILLION
    return expand_scale(fit_scale(name, first, second, [same for _, _, same in rows])), len(rows)


def load_pairs(path: Path) -> list[Pair]:
    """Labelled pairs of a file; `bad_rows` for a line that is none, or too few of either kind."""
    rows: list[Pair] = []
    with open_lines(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), b""), start=1):
            if line.strip():
                rows.append(_parse_pair(number, line))
    for same in (True, False):
        count = sum(row[2] == same for row in rows)
        told = f"{count} pairs are {'the same' if same else 'different'}, at least {MIN_PAIRS} are needed"
        require(count >= MIN_PAIRS, "bad_rows", told, "label more pairs")
    return rows


def _parse_pair(number: int, line: bytes) -> Pair:
    try:
        row = json.loads(line)
        a, b, same = row["a"], row["b"], row["same"]
    except (ValueError, RecursionError, KeyError, TypeError):
        a = b = same = None
    if not (isinstance(a, str) and isinstance(b, str) and same in (True, False)):
        remedy = 'write {"a": "…", "b": "…", "same": true}'
        raise WeighbeamError("bad_rows", f"line {number} is not a labelled pair", remedy)
    return a, b, bool(same)


def fit_scale(name: str, first: NDArray[np.float64], second: NDArray[np.float64], same: Sequence[bool]) -> str:
    """The scale by which one repetition in twenty is paid ten tokens and three of four nothing; how much the cut rises
    with the corpus is how much nearer the nearest stranger is among ten times as many.

    >>> draw = np.random.default_rng(3).standard_normal
    >>> one, other = draw((200, 32)), draw((200, 32))
    >>> other[:100] = one[:100] + 0.5 * other[:100]
    >>> unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other)]
    >>> fit_scale("drawn-1", *unit, [True] * 100 + [False] * 100).split(":")[0]
    'drawn-1'
    """
    labels = np.array(same)
    repeated = (first[labels] * second[labels]).sum(axis=1)
    ten, none = float(np.percentile(repeated, MISSED)), float(np.percentile(repeated, SURE))
    slope = min(100.0, (AT_NOTHING - AT_TEN) / max(0.01, none - ten))
    cut, rows = ten - AT_TEN / slope, len(first)
    rise = _measure_rise(first, second[~labels])
    low, high = max(0.01, cut - BELOW), min(0.99, max(0.02, cut + ABOVE))
    usual = min(1.0, cut + rise * float(np.log10(USUAL_ROWS / rows)))
    numbers = (round(usual, 3), round(rise, 3), round(low, 3), round(high, 3), round(slope, 2))
    return format_scale(name, numbers)


def _measure_rise(known: NDArray[np.float64], strangers: NDArray[np.float64]) -> float:
    """How much nearer the nearest of all is than the nearest of a tenth, for strangers; halfway between two, and the
    own partner of a stranger is one of many."""
    found = strangers @ known.T
    few = found[:, :: max(1, len(known) // max(2, len(known) // 10))]
    return float(np.clip(np.median(found.max(axis=1)) - np.median(few.max(axis=1)), 0.0, 0.3))
