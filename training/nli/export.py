"""Turn a checkpoint into the ONNX file of the package: its confidence set right, its matrices packed in 8 bits."""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from graph import build_pair_model
from pairs import is_dev, read_pairs
from weighbeam.senses.adapters.entailment.nli_minilm import MODEL, open_nli
from weighbeam.senses.adapters.model_files import hash_file

Weights = dict[str, NDArray[np.float32]]
BALANCED = ("mnli", "snli")


def read_weights(checkpoint: Path) -> Weights:
    state = torch.load(checkpoint, weights_only=True)["model"]
    return {name: tensor.float().numpy() for name, tensor in state.items()}


def score_dev(weights: Weights, data: Path, source: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Logits and labels of the pairs of one source that were kept from training."""
    pairs = [pair for pair in read_pairs(data / "train.jsonl.gz") if pair.source == source and is_dev(pair)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(build_pair_model(weights, packed=False))
        model = open_nli(path, "dev", hash_file(path))
        logits = model.weigh_classes([(pair.premise, pair.hypothesis) for pair in pairs])
    return logits.astype(np.float64), np.array([pair.label for pair in pairs])


def surprise(logits: NDArray[np.float64], labels: NDArray[np.int64], temperature: float) -> float:
    """The mean negative logarithm of what the labels were given."""
    scaled = logits / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    chances = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return float(-chances[np.arange(len(labels)), labels].mean())


def fit_temperature(weights: Weights, data: Path) -> float:
    """The divisor of the logits under which the labels are likeliest, to a hundredth; both sources weigh the same."""
    scored = [score_dev(weights, data, source) for source in BALANCED]
    steps = [step / 100 for step in range(40, 300)]
    return min(steps, key=lambda step: sum(surprise(*part, step) for part in scored))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.jsonl.gz")
    parser.add_argument("--out", type=Path, default=MODEL)
    parser.add_argument("--precision", choices=("int8", "fp32"), default="int8")
    given = parser.parse_args()
    weights = read_weights(given.checkpoint)
    temperature = fit_temperature(weights, given.data)
    for name in ("head.out.weight", "head.out.bias"):
        weights[name] = (weights[name] / temperature).astype(np.float32)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_bytes(build_pair_model(weights, packed=given.precision == "int8"))
    print(f"temperature {temperature}")
    print(f"{given.out.stat().st_size / 1e6:.1f} MB, SHA-256 {hash_file(given.out)}")


if __name__ == "__main__":
    main()
