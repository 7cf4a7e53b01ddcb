"""Labelled pairs, read from gzipped JSON lines, and the examples training sees."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbeam.senses.adapters.text.word_pieces import PairPieces, tokenise_pairs

LABELS = ("contradiction", "neutral", "entailment")
CONTRADICTION, NEUTRAL, ENTAILMENT = range(3)
FILES = ("train.jsonl.gz", "more.jsonl.gz")
WRITTEN = Path(__file__).with_name("written")
DEV_SHARE = 40

Target = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Pair:
    """`target` holds the probabilities to learn where they are not simply 1 for the label."""

    source: str
    premise: str
    hypothesis: str
    label: int
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A pair as word pieces, with the probabilities to learn."""

    pieces: PairPieces
    label: int
    target: Target

    def __len__(self) -> int:
        return len(self.pieces.ids)


def read_pairs(path: Path) -> Iterator[Pair]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            target = tuple(row["target"]) if "target" in row else None
            yield Pair(row["source"], row["premise"], row["hypothesis"], LABELS.index(row["label"]), target)


def read_written() -> Iterator[Pair]:
    """Pairs written for this training: evidence in the words of studies and reports, claims in those of a debate."""
    for path in sorted(WRITTEN.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            source = "claims" if path.stem.endswith("_claims") else "written"
            yield Pair(source, row["premise"], row["hypothesis"], LABELS.index(row["label"]))


def read_all(folder: Path) -> list[Pair]:
    """The pairs of every training file in `folder`, in file order, and those written for this training."""
    return [*(pair for name in FILES for pair in read_pairs(folder / name)), *read_written()]


def is_dev(pair: Pair) -> bool:
    """Keep one premise in 40 out of training, to watch progress and to set the temperature.

    The rule depends on the premise alone, so every pair of a premise falls on the same side.
    """
    return int.from_bytes(hashlib.sha256(pair.premise.encode()).digest()[:8], "big") % DEV_SHARE == 0


def soften(label: int, smoothing: float) -> Target:
    """Label smoothing: most of the weight on `label`, the rest shared by all three classes.

    >>> soften(2, 0.06)
    (0.02, 0.02, 0.96)
    """
    low = smoothing / 3
    high = round(1 - 2 * low, 12)
    return (high if label == 0 else low, high if label == 1 else low, high if label == 2 else low)


def to_examples(tokenizer: Any, pairs: Iterable[Pair], limit: int, smoothing: float = 0.0) -> list[Example]:
    given: Sequence[Pair] = list(pairs)
    pieces = tokenise_pairs(tokenizer, [(pair.premise, pair.hypothesis) for pair in given], limit)
    return [
        Example(row, pair.label, pair.target or soften(pair.label, smoothing))
        for row, pair in zip(pieces, given, strict=True)
    ]
