"""Turn a checkpoint into the ONNX file of the package: calibrate its confidence, pack its matrices in 8 bits."""

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from fever_pairs import make_fever_pairs
from graph import build_pair_model
from model import read_state
from pairs import CONTRADICTION, LABELS, NEUTRAL, Pair, is_dev, read_all
from weighbeam.senses.adapters.entailment.nli_minilm import NliMiniLM
from weighbeam.senses.adapters.model_files import TOKENIZER_SHA256, hash_file, verify_file
from weighbeam.senses.adapters.onnx import open_session
from weighbeam.senses.adapters.text.word_pieces import open_pair_tokenizer

Weights = dict[str, NDArray[np.float32]]
Scored = tuple[NDArray[np.float64], NDArray[np.int64]]
BALANCED = (("mnli", "mnli2"), ("snli",), ("fever", "fever_neutral"))
KEPT = Path(__file__).with_name("kept")
MOST_DEV = 600
ROUNDS = 6


@dataclass(frozen=True)
class Scale:
    """What makes probabilities mean what they say: logits / temperature + shifts."""

    temperature: float = 1.0
    shifts: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def shift(self, index: int, value: float) -> "Scale":
        """
        >>> Scale().shift(1, -0.5).shifts
        (0.0, -0.5, 0.0)
        """
        shifts = [value if place == index else old for place, old in enumerate(self.shifts)]
        return Scale(self.temperature, (shifts[0], shifts[1], shifts[2]))


def read_weights(checkpoint: Path, average: bool = False) -> Weights:
    """The weights of a run, or the running mean that it kept of them."""
    state = dict(read_state(checkpoint))
    if average:
        state |= torch.load(checkpoint, weights_only=True)["average"]
    return {name: tensor.float().numpy() for name, tensor in state.items()}


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
        scored.append(score_pairs(model, pairs))
    return scored


def score_pairs(model: NliMiniLM, pairs: list[Pair]) -> Scored:
    logits = model.weigh_classes([(pair.premise, pair.hypothesis) for pair in pairs])
    return logits.astype(np.float64), np.array([pair.label for pair in pairs])


def read_snippets(snippets: Path, statements: Path) -> list[Pair]:
    """Excerpts of pages, each with its statement and the stance a person read in it.

    Excerpts marked as an attack are left out: their stance is not what they say.
    """
    rows, about = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in (snippets, statements)
    )
    texts = {row["id"]: row["statement"] for row in about}
    return [
        Pair("snippets", row["excerpt"], texts[row["statement_id"]], LABELS.index(row["stance"]))
        for row in rows
        if "attack" not in row
    ]


def read_kept() -> list[Pair]:
    """Written pairs on subjects that training never saw: how sure the model may be where it has not been."""
    rows = [json.loads(line) for path in sorted(KEPT.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [Pair("kept", row["premise"], row["hypothesis"], LABELS.index(row["label"])) for row in rows]


def surprise(scored: Scored, scale: Scale) -> float:
    """The mean negative logarithm of the probability given to the labels."""
    logits, labels = scored
    scaled = logits / scale.temperature + np.array(scale.shifts)
    scaled -= scaled.max(axis=1, keepdims=True)
    chances = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
    return float(-chances[np.arange(len(labels)), labels].mean())


def fit_scale(scored: list[Scored]) -> Scale:
    """The scale under which the labels are likeliest, every group weighing the same; one number after the other."""
    scale = Scale()
    for _ in range(ROUNDS):
        tried = [Scale(step / 100, scale.shifts) for step in range(40, 300)]
        scale = min(tried, key=lambda one: sum(surprise(part, one) for part in scored))
        for index in (CONTRADICTION, NEUTRAL):
            tried = [scale.shift(index, step / 50) for step in range(-100, 101)]
            scale = min(tried, key=lambda one: sum(surprise(part, one) for part in scored))
    return scale


def calibrate(weights: Weights, tokenizer: Path, data: Path, snippets: list[Pair]) -> Scale:
    """Scale the last layer, in place, and return how."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(build_pair_model(weights, packed=True))
        model = open_model(path, tokenizer)
        scale = fit_scale([*score_dev(model, data), score_pairs(model, snippets), score_pairs(model, read_kept())])
    weights["head.out.weight"] = (weights["head.out.weight"] / scale.temperature).astype(np.float32)
    bias = weights["head.out.bias"] / scale.temperature + np.array(scale.shifts)
    weights["head.out.bias"] = bias.astype(np.float32)
    return scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.jsonl.gz and more.jsonl.gz")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--snippets", type=Path, required=True, help="labelled excerpts of pages")
    parser.add_argument("--statements", type=Path, required=True, help="the statements they are about")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--average", action="store_true", help="take the running mean of the weights")
    parser.add_argument("--precision", choices=("int8", "fp32"), default="int8")
    given = parser.parse_args()
    weights = read_weights(given.checkpoint, given.average)
    scale = calibrate(weights, given.tokenizer, given.data, read_snippets(given.snippets, given.statements))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_bytes(build_pair_model(weights, packed=given.precision == "int8"))
    print(f"temperature {scale.temperature}, shifts {scale.shifts}")
    print(f"{given.out.stat().st_size / 1e6:.1f} MB, SHA-256 {hash_file(given.out)}")


if __name__ == "__main__":
    main()
