"""Labelled pairs, read from gzipped JSON lines."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbeam.senses.adapters.text.word_pieces import PairPieces, tokenise_pairs

LABELS = ("contradiction", "neutral", "entailment")
DEV_SHARE = 80


@dataclass(frozen=True, slots=True)
class Pair:
    source: str
    premise: str
    hypothesis: str
    label: int


@dataclass(frozen=True, slots=True)
class Example:
    pieces: PairPieces
    label: int

    def __len__(self) -> int:
        return len(self.pieces.ids)


def read_pairs(path: Path) -> Iterator[Pair]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Pair(row["source"], row["premise"], row["hypothesis"], LABELS.index(row["label"]))


def is_dev(pair: Pair) -> bool:
    """One premise in 80 is kept from training, to watch it and to set the temperature."""
    return int.from_bytes(hashlib.sha256(pair.premise.encode()).digest()[:8], "big") % DEV_SHARE == 0


def to_examples(tokenizer: Any, pairs: Iterable[Pair], most: int) -> list[Example]:
    given = list(pairs)
    pieces = tokenise_pairs(tokenizer, [(pair.premise, pair.hypothesis) for pair in given], most)
    return [Example(row, pair.label) for row, pair in zip(pieces, given, strict=True)]
