"""Train the cross-encoder. Stop it at any time; the same command goes on from the last checkpoint."""

import argparse
import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from batches import draw, make_batches
from model import CrossEncoder, collate, from_minilm
from number_pairs import make_number_pairs
from pairs import Example, is_dev, read_pairs, to_examples
from weighbeam.senses.adapters.text.word_pieces import open_pair_tokenizer

MIX = {
    "mnli": 3.0,
    "cnli": 1.0,
    "conjnli": 1.0,
    "med": 1.0,
    "fever_sym": 2.0,
    "neg_MNLI": 2.0,
    "neg_RTE": 2.0,
    "neg_SNLI": 2.0,
    "rule_numbers": 0.6,
}
DEV_PAIRS = 1_000
KEPT = ("step", "seconds", "loss", "bend", "log")


@dataclass
class Run:
    """What a checkpoint holds. `bend` is (step, rate) where a shortened schedule left the first one."""

    model: CrossEncoder
    optimizer: torch.optim.Optimizer
    step: int = 0
    seconds: float = 0.0
    loss: float = 1.1
    bend: tuple[int, float] | None = None
    log: list[dict[str, Any]] = field(default_factory=list)

    def save(self, path: Path, settings: dict[str, Any]) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "settings": settings,
            **{name: getattr(self, name) for name in KEPT},
        }
        fresh = path.with_suffix(".new")
        torch.save(state, fresh)
        fresh.replace(path)

    def load(self, path: Path) -> None:
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        for name in KEPT:
            setattr(self, name, state.get(name))


@dataclass(frozen=True)
class Data:
    examples: list[Example]
    dev: list[Example]
    batches: list[list[int]]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.jsonl.gz")
    parser.add_argument("--minilm", type=Path, required=True, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--run", type=Path, required=True, help="folder for checkpoints and the log")
    parser.add_argument("--pairs", type=int, required=True, help="pairs to see in all; fixes data and schedule")
    parser.add_argument("--finish", type=int, help="decay from where the run is to nothing at this step, and end there")
    parser.add_argument("--until", type=int, help="stop after this step, the schedule unchanged")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--warmup", type=float, default=0.03, help="share of the steps")
    parser.add_argument("--smoothing", type=float, default=0.05)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--tokens", type=int, default=1_400, help="word pieces in a batch")
    parser.add_argument("--longest", type=int, default=160, help="word pieces in a pair")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1, help="at most; fewer while the machine is busy")
    parser.add_argument("--every", type=float, default=600, help="seconds between checkpoints")
    return parser.parse_args()


def prepare(given: argparse.Namespace) -> Data:
    tokenizer = open_pair_tokenizer(given.minilm / "tokenizer.json")
    pairs = list(read_pairs(given.data / "train.jsonl.gz"))
    learn = [pair for pair in pairs if not is_dev(pair)]
    learn += make_number_pairs(learn, random.Random(given.seed))
    dev = to_examples(tokenizer, [pair for pair in pairs if is_dev(pair)][:DEV_PAIRS], given.longest)
    examples = to_examples(tokenizer, learn, given.longest)
    drawn = draw(learn, MIX, given.pairs, given.seed)
    return Data(examples, dev, make_batches(examples, drawn, given.tokens, given.seed))


def open_run(given: argparse.Namespace) -> Run:
    model = from_minilm(given.minilm / "model.safetensors", given.dropout)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    run = Run(model, torch.optim.AdamW(learned, lr=given.rate, weight_decay=0.01, fused=True))
    if (given.run / "checkpoint.pt").exists():
        run.load(given.run / "checkpoint.pt")
    return run


def measure(model: CrossEncoder, examples: list[Example]) -> float:
    """Accuracy on pairs kept from training."""
    model.eval()
    right = 0
    ordered = sorted(examples, key=len)
    with torch.inference_mode():
        for start in range(0, len(ordered), 32):
            batch = collate(ordered[start : start + 32])
            right += int((model(batch).argmax(dim=1) == batch.labels).sum())
    model.train()
    return right / len(ordered)


def rate_at(step: int, steps: int, warmup: float) -> float:
    """Linear rise, then linear decay to nothing at the last step."""
    rising = max(1, round(warmup * steps))
    return min((step + 1) / rising, (steps - step) / max(1, steps - rising))


def find_rate(run: Run, given: argparse.Namespace, steps: int) -> float:
    share = rate_at(run.step, steps, given.warmup)
    if given.finish is not None:
        run.bend = run.bend or (run.step, share)
        bent, share = run.bend
        share *= (given.finish - run.step) / (given.finish - bent)
    return float(given.rate * share)


def learn_batch(run: Run, rows: list[Example], rate: float, smoothing: float) -> None:
    for group in run.optimizer.param_groups:
        group["lr"] = rate
    batch = collate(rows)
    loss = functional.cross_entropy(run.model(batch), batch.labels, label_smoothing=smoothing)
    run.optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(run.optimizer.param_groups[0]["params"], 1.0)
    run.optimizer.step()
    run.loss += 0.01 * (loss.item() - run.loss)
    run.step += 1


def spare_threads(most: int) -> int:
    """How many of `most` threads the load of others leaves room for."""
    others = os.getloadavg()[0] - torch.get_num_threads()
    return max(1, min(most, round((os.cpu_count() or 1) - others - 0.2)))


def train(run: Run, data: Data, given: argparse.Namespace, settings: dict[str, Any]) -> None:
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: stop.append(received))
    last = min(step for step in (len(data.batches), given.finish, given.until) if step is not None)
    seen = sum(len(batch) for batch in data.batches[: run.step])
    begun = saved = time.monotonic()
    earlier = run.seconds
    run.model.train()
    while run.step < last and not stop:
        rows = [data.examples[index] for index in data.batches[run.step]]
        learn_batch(run, rows, find_rate(run, given, len(data.batches)), given.smoothing)
        seen += len(rows)
        run.seconds = earlier + time.monotonic() - begun
        if run.step % 10 == 0 and (spare := spare_threads(given.threads)) != torch.get_num_threads():
            torch.set_num_threads(spare)
        if run.step % 50 == 0:
            pace = f"seconds {run.seconds:.0f} threads {torch.get_num_threads()}"
            print(f"step {run.step} pairs {seen} loss {run.loss:.4f} {pace}", flush=True)
        if time.monotonic() - saved > given.every or run.step == last:
            accuracy = measure(run.model, data.dev)
            run.log.append({"step": run.step, "pairs": seen, "loss": round(run.loss, 4), "dev": round(accuracy, 4)})
            print(json.dumps(run.log[-1]), flush=True)
            run.save(given.run / "checkpoint.pt", settings)
            saved = time.monotonic()
    run.save(given.run / "checkpoint.pt", settings)


def main() -> None:
    given = read_arguments()
    settings = {name: value for name, value in vars(given).items() if not isinstance(value, Path)} | {"mix": MIX}
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    given.run.mkdir(parents=True, exist_ok=True)
    data = prepare(given)
    run = open_run(given)
    print(f"{len(data.examples)} pairs to learn from, {len(data.batches)} steps, at step {run.step}", flush=True)
    train(run, data, given, settings)


if __name__ == "__main__":
    main()
