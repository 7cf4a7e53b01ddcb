"""Count which words follow each other in English, and write the table that tells written order from shuffled words.

    python training/word_order/make_table.py --data DATA

DATA is a folder with train.jsonl.gz and more.jsonl.gz (see training/entailment). Docstrings of Python's library are
read besides, for the register of instructions. Only counts of the 1,500 commonest words and of classes of endings
leave this program; no sentence can be told from them.
"""

import argparse
import ast
import gzip
import json
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.word_order import ENDINGS, NUMBER, OTHER, TABLE, OrderedWords, cut_phrases

WORDS = 1_500
LEFT_OUT = ("conjnli", "med", "cnli")
"""Sources whose sentences are made from each other."""
CAPTIONS = 5
"""One caption of a photograph in five is read: they are all alike."""
SMOOTHING = 3.0
STEP = 20
"""A table entry counts twentieths."""
MOST = 3.0


def read_sentences(data: Path) -> Iterator[str]:
    seen: set[str] = set()
    for name in ("train.jsonl.gz", "more.jsonl.gz"):
        with gzip.open(data / name, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["source"] in LEFT_OUT:
                    continue
                for text in (row["premise"], row["hypothesis"]):
                    if text in seen:
                        continue
                    seen.add(text)
                    if row["source"] != "snli" or len(seen) % CAPTIONS == 0:
                        yield text


def read_docstrings() -> Iterator[str]:
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted([*library.glob("*.py"), *library.glob("*/*.py")]):
        if "site-packages" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                for part in (ast.get_docstring(node) or "").split("\n\n"):
                    if ">>>" not in part and "::" not in part:
                        yield " ".join(part.split())


def count_pairs(phrases: list[list[str]], vocabulary: OrderedWords) -> NDArray[np.float64]:
    counts = np.zeros((len(vocabulary), len(vocabulary)))
    for phrase in phrases:
        classes = vocabulary.classify(phrase)
        np.add.at(counts, (classes[:-1], classes[1:]), 1.0)
    return counts


def weigh_pairs(counts: NDArray[np.float64]) -> NDArray[np.int8]:
    """How much likelier than by chance one follows the other: a logarithm, in twentieths."""
    chance = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / counts.sum()
    weight = np.log((counts + SMOOTHING) / (chance + SMOOTHING))
    return np.rint(np.clip(weight, -MOST, MOST) * STEP).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    phrases = [
        phrase for text in (*read_sentences(given.data), *read_docstrings()) for phrase in cut_phrases(text) if phrase
    ]
    common = Counter(word for phrase in phrases for word in phrase)
    names = [word for word, _ in common.most_common(WORDS)] + [NUMBER, OTHER, *(f"-{ending}" for ending in ENDINGS)]
    vocabulary = OrderedWords(names)
    table = weigh_pairs(count_pairs(phrases, vocabulary))
    np.savez_compressed(TABLE, names=np.array(names), table=table)
    print(f"{sum(common.values()):,} words, {len(names):,} classes, {TABLE.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
