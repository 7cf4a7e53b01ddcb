"""Turn a checkpoint into the ONNX file of the package: calibrate its confidence, pack its matrices in 8 bits."""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fever_pairs import make_fever_pairs
from graph import build_pair_model
from model import read_state
from pairs import Pair, is_dev, read_all
from weighbeam.senses.adapters.entailment.nli_minilm import NliMiniLM
from weighbeam.senses.adapters.model_files import TOKENIZER_SHA256, hash_file, verify_file
from weighbeam.senses.adapters.onnx import open_session
from weighbeam.senses.adapters.text.word_pieces import open_pair_tokenizer

Weights = dict[str, NDArray[np.float32]]
Scored = tuple[NDArray[np.float64], NDArray[np.int64]]
BALANCED = (("mnli", "mnli2"), ("snli",), ("fever", "fever_neutral"))
MOST_DEV = 600


def read_weights(checkpoint: Path) -> Weights:
    return {name: tensor.float().numpy() for name, tensor in read_state(checkpoint).items()}


def open_model(model: Path | bytes, tokenizer: Path) -> NliMiniLM:
    """The exported model behind the package's own interface."""
    verify_file(tokenizer, TOKENIZER_SHA256)
    return NliMiniLM("exported", "", open_session(model), open_pair_tokenizer(tokenizer))


def list_dev_pairs(data: Path) -> list[Pair]:
    """Pairs kept from training, with neutral ones made for the FEVER claims among them."""
    kept = [pair for pair in read_all(data) if is_dev(pair)]
    return kept + make_fever_pairs(kept)


def score_dev(model: NliMiniLM, data: Path) -> list[Scored]:
    """Logits and labels of the kept pairs, one entry for each group of sources that weighs the same."""
    kept = list_dev_pairs(data)
    scored: list[Scored] = []
    for sources in BALANCED:
        pairs = [pair for pair in kept if pair.source in sources]
        pairs = pairs[:: max(1, len(pairs) // MOST_DEV)]
        logits = model.weigh_classes([(pair.premise, pair.hypothesis) for pair in pairs])
        scored.append((logits.astype(np.float64), np.array([pair.label for pair in pairs])))
    return scored


def surprise(logits: NDArray[np.float64], labels: NDArray[np.int64], temperature: float) -> float:
    """The mean negative logarithm of the probability given to the labels."""
    scaled = logits / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    chances = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return float(-chances[np.arange(len(labels)), labels].mean())


def fit_temperature(scored: list[Scored]) -> float:
    """The divisor of the logits under which the labels are likeliest, to a hundredth."""
    steps = [step / 100 for step in range(40, 300)]
    return min(steps, key=lambda step: sum(surprise(*part, step) for part in scored))


def calibrate(weights: Weights, tokenizer: Path, data: Path) -> float:
    """Divide the last layer by the temperature, in place, and return it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(build_pair_model(weights, packed=True))
        temperature = fit_temperature(score_dev(open_model(path, tokenizer), data))
    for name in ("head.out.weight", "head.out.bias"):
        weights[name] = (weights[name] / temperature).astype(np.float32)
    return temperature


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.jsonl.gz and more.jsonl.gz")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--precision", choices=("int8", "fp32"), default="int8")
    given = parser.parse_args()
    weights = read_weights(given.checkpoint)
    temperature = calibrate(weights, given.tokenizer, given.data)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_bytes(build_pair_model(weights, packed=given.precision == "int8"))
    print(f"temperature {temperature}")
    print(f"{given.out.stat().st_size / 1e6:.1f} MB, SHA-256 {hash_file(given.out)}")


if __name__ == "__main__":
    main()
