"""Measure an exported model on held-out pairs and on probes, with the code that runs it in production."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from pairs import LABELS, Pair, is_dev, read_pairs
from report import Outcome, describe, split_by
from weighbeam.senses.adapters.entailment.nli_minilm import MODEL, NliMiniLM, open_nli
from weighbeam.senses.adapters.model_files import hash_file

PROBES = Path(__file__).with_name("probes.jsonl")


def read_probes() -> list[Pair]:
    rows = [json.loads(line) for line in PROBES.read_text(encoding="utf-8").splitlines()]
    return [Pair(row["kind"], row["premise"], row["hypothesis"], LABELS.index(row["label"])) for row in rows]


def judge(model: NliMiniLM, pairs: list[Pair]) -> Outcome:
    millionths = model.judge([(pair.premise, pair.hypothesis) for pair in pairs])
    return Outcome(millionths / 1e6, np.array([pair.label for pair in pairs]))


def measure(model: NliMiniLM, pairs: list[Pair]) -> dict[str, Any]:
    begun = time.process_time()
    outcome = judge(model, pairs)
    spent = time.process_time() - begun
    sources = split_by([pair.source for pair in pairs], outcome)
    return {
        "pairs_per_cpu_second": round(len(pairs) / spent, 1),
        "all": describe(outcome),
        **{source: describe(part) for source, part in sources.items()},
    }


def list_misses(model: NliMiniLM, pairs: list[Pair]) -> list[dict[str, Any]]:
    """The probes it gets wrong, with what it said."""
    outcome = judge(model, pairs)
    return [
        {
            "kind": pair.source,
            "premise": pair.premise,
            "hypothesis": pair.hypothesis,
            "label": LABELS[pair.label],
            "said": LABELS[int(row.argmax())],
            "confidence": round(float(row.max()), 3),
        }
        for pair, row in zip(pairs, outcome.probabilities, strict=True)
        if row.argmax() != pair.label
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with eval.jsonl.gz and train.jsonl.gz")
    parser.add_argument("--model", type=Path, default=MODEL, help="an exported ONNX file")
    parser.add_argument("--out", type=Path, help="write the report here as JSON too")
    given = parser.parse_args()
    model = open_nli(given.model, "measured", hash_file(given.model))
    report = {
        "sha256": hash_file(given.model),
        "megabytes": round(given.model.stat().st_size / 1e6, 1),
        "eval": measure(model, list(read_pairs(given.data / "eval.jsonl.gz"))),
        "kept": measure(model, [pair for pair in read_pairs(given.data / "train.jsonl.gz") if is_dev(pair)]),
        "probes": measure(model, read_probes()),
        "misses": list_misses(model, read_probes()),
    }
    text = json.dumps(report, indent=1, ensure_ascii=False)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
