"""Measure an exported model on held-out pairs and on probes, with the code that runs it in production."""

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from export import list_dev_pairs, open_model
from pairs import LABELS, Pair, read_pairs
from report import Outcome, describe, split_by
from weighbeam.senses.adapters.entailment.nli_minilm import NliMiniLM
from weighbeam.senses.adapters.model_files import hash_file

PROBES = Path(__file__).with_name("probes.jsonl")
SPEED_ROWS, SPEED_PIECES, SPEED_ROUNDS = 8, 64, 6


def read_probes() -> list[Pair]:
    rows = [json.loads(line) for line in PROBES.read_text(encoding="utf-8").splitlines()]
    return [Pair(row["kind"], row["premise"], row["hypothesis"], LABELS.index(row["label"])) for row in rows]


def judge(model: NliMiniLM, pairs: Sequence[Pair]) -> Outcome:
    millionths = model.judge([(pair.premise, pair.hypothesis) for pair in pairs])
    return Outcome(millionths / 1e6, np.array([pair.label for pair in pairs]))


def measure(model: NliMiniLM, pairs: Sequence[Pair]) -> dict[str, Any]:
    begun = time.process_time()
    outcome = judge(model, pairs)
    spent = time.process_time() - begun
    sources = split_by([pair.source for pair in pairs], outcome)
    return {
        "pairs_per_cpu_second": round(len(pairs) / spent, 1),
        "all": describe(outcome),
        **{source: describe(part) for source, part in sources.items()},
    }


def list_misses(model: NliMiniLM, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The probes the model gets wrong, with its answer."""
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


def measure_speed(model: NliMiniLM) -> float:
    """Pairs of 64 pieces per CPU second, the best of a few rounds."""
    words = " ".join(["water"] * ((SPEED_PIECES - 3) // 2)), " ".join(["stone"] * ((SPEED_PIECES - 2) // 2))
    best = 0.0
    for _ in range(SPEED_ROUNDS):
        begun = time.process_time()
        model.weigh_classes([words] * SPEED_ROWS * 2)
        best = max(best, SPEED_ROWS * 2 / (time.process_time() - begun))
    return round(best, 1)


def count_batch_effects(model: NliMiniLM, pairs: Sequence[Pair], seed: int = 5) -> int:
    """How many pairs get another result, to the bit, alone than together with others in two orders."""
    texts = [(pair.premise, pair.hypothesis) for pair in pairs]
    together = model.weigh_classes(texts)
    alone = np.concatenate([model.weigh_classes([text]) for text in texts])
    order = list(range(len(texts)))
    random.Random(seed).shuffle(order)
    mixed = model.weigh_classes([texts[index] for index in order])
    differs = (together != alone).any(axis=1) | (together[order] != mixed)[np.argsort(order)].any(axis=1)
    return int(differs.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with eval.jsonl.gz and the training files")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="an exported ONNX file")
    parser.add_argument("--out", type=Path, help="write the report here as JSON too")
    parser.add_argument("--only-kept", action="store_true", help="leave eval.jsonl.gz alone")
    given = parser.parse_args()
    model = open_model(given.model, given.tokenizer)
    kept = list_dev_pairs(given.data)
    report = {
        "sha256": hash_file(given.model),
        "megabytes": round(given.model.stat().st_size / 1e6, 1),
        "pairs_of_64_pieces_per_cpu_second": measure_speed(model),
        "pairs_changed_by_batch": count_batch_effects(model, kept[::40][:100]),
        "kept": measure(model, kept),
        "probes": measure(model, read_probes()),
        "misses": list_misses(model, read_probes()),
    }
    if not given.only_kept:
        report["eval"] = measure(model, list(read_pairs(given.data / "eval.jsonl.gz")))
    text = json.dumps(report, indent=1, ensure_ascii=False)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
