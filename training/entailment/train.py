"""Train the cross-encoder. Stop it at any time; the same command continues from the last checkpoint.

The rate rises at the start and after every restart, then stays constant, so a run has no fixed length. To end it,
give --cool-from and --cool-to: between these times of day (UTC) the rate decays to nothing, and the run stops with
`cooled.pt`; the state before it is kept as `stable.pt`.
"""

import argparse
import json
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from batches import draw_round, make_batches
from guide import Guide, open_guide
from made_pairs import make_pairs
from model import CrossEncoder, collate, from_state, read_state
from pairs import Example, Pair, is_dev, read_all, to_examples
from teacher import Teacher, read_teacher
from weighbeam.senses.adapters.text.word_pieces import open_pair_tokenizer

MIX = {
    "mnli": 18.0,
    "mnli2": 18.0,
    "snli": 32.0,
    "fever": 11.0,
    "fever_neutral": 6.0,
    "fever_sym": 2.0,
    "conjnli": 4.0,
    "cnli": 5.0,
    "med": 2.0,
    "neg_MNLI": 1.5,
    "neg_RTE": 0.3,
    "neg_SNLI": 1.2,
    "rule_numbers": 2.0,
    "rule_negation": 1.5,
    "rule_order": 1.0,
    "rule_quantity": 1.2,
    "rule_limit": 1.5,
    "written": 16.0,
    "claims": 90.0,
}
ROUND_PAIRS = 20_000
WATCHED = {
    "mnli": 130,
    "mnli2": 130,
    "snli": 200,
    "fever": 200,
    "fever_neutral": 100,
    "conjnli": 60,
    "rules": 120,
    "written": 60,
    "claims": 120,
}
KEPT = ("step", "round", "batch", "pairs", "seconds", "loss", "log", "average")


@dataclass
class Run:
    """The contents of a checkpoint. `batch` counts the batches of the current `round` that are done."""

    model: CrossEncoder | Teacher
    optimizer: torch.optim.Optimizer
    step: int = 0
    round: int = 0
    batch: int = 0
    pairs: int = 0
    seconds: float = 0.0
    loss: float = 1.1
    log: list[dict[str, Any]] = field(default_factory=list)
    average: dict[str, torch.Tensor] = field(default_factory=dict)

    def follow(self, decay: float) -> None:
        """Move the running mean of the trained weights a little towards the present ones."""
        for name, weight in self.model.named_parameters():
            if weight.requires_grad:
                mean = self.average.setdefault(name, weight.detach().clone())
                mean.lerp_(weight.detach(), 1 - decay)

    def save(self, path: Path, settings: dict[str, Any]) -> None:
        """Write beside the file first, so that a kill leaves the last checkpoint whole."""
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
            setattr(self, name, state.get(name, getattr(self, name)))


@dataclass(frozen=True)
class Data:
    pairs: list[Pair]
    examples: list[Example]
    dev: dict[str, list[Example]]


@dataclass(frozen=True)
class Cooling:
    """When the rate decays to nothing, in seconds since the epoch."""

    begin: float
    end: float

    def share(self, now: float) -> float:
        """
        >>> Cooling(100.0, 200.0).share(150.0)
        0.5
        """
        return min(1.0, max(0.0, (self.end - now) / (self.end - self.begin)))


def read_arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.jsonl.gz and more.jsonl.gz")
    parser.add_argument("--start", type=Path, help="first weights: a safetensors file or a checkpoint")
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json of the base")
    parser.add_argument("--run", type=Path, required=True, help="folder for checkpoints and the log")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--head-rate", type=float, default=3e-4)
    parser.add_argument("--warmup", type=int, default=100, help="steps of rising rate after each start")
    parser.add_argument("--smoothing", type=float, default=0.06)
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--tokens", type=int, default=1_400, help="word pieces in a batch")
    parser.add_argument("--longest", type=int, default=160, help="word pieces in a pair")
    parser.add_argument("--teacher", type=Path, help="train the teacher instead: the base's safetensors file")
    parser.add_argument("--guide", type=Path, nargs=2, help="learn from a teacher too: its base, and its weights")
    parser.add_argument("--guide-only", nargs="+", default=[], help="sources the teacher guides; all if none is named")
    parser.add_argument("--average", type=float, default=0.0, help="also keep a running mean of the weights: its decay")
    parser.add_argument("--bf16", action="store_true", help="multiply in bf16 where the processor can")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--save-every", type=float, default=600, help="seconds between checkpoints")
    parser.add_argument("--measure-every", type=int, default=8_000, help="pairs between measurements")
    parser.add_argument("--until", type=int, help="stop after this many pairs in all")
    parser.add_argument("--cool-from", help="time of day, HH:MM in UTC")
    parser.add_argument("--cool-to", help="time of day, HH:MM in UTC")
    return parser.parse_args(given)


def at_time(clock: str) -> float:
    """Today's HH:MM in UTC, in seconds since the epoch."""
    hour, minute = map(int, clock.split(":"))
    return datetime.now(UTC).replace(hour=hour, minute=minute, second=0, microsecond=0).timestamp()


def prepare(given: argparse.Namespace) -> Data:
    tokenizer = open_pair_tokenizer(given.tokenizer)
    pairs = read_all(given.data)
    learn = [pair for pair in pairs if not is_dev(pair)]
    learn += make_pairs(learn, given.seed)
    kept = [pair for pair in pairs if is_dev(pair)]
    kept += make_pairs(kept, given.seed + 100)
    examples = to_examples(tokenizer, learn, given.longest, given.smoothing)
    watched = {name: choose_dev(kept, name, count) for name, count in WATCHED.items()}
    dev = {name: to_examples(tokenizer, chosen, given.longest) for name, chosen in watched.items()}
    return Data(learn, examples, dev)


def choose_dev(kept: Sequence[Pair], name: str, count: int) -> list[Pair]:
    """Pairs of one source, or of all rules that change a training pair, spread evenly over the file."""
    wanted = ("rule_numbers", "rule_negation") if name == "rules" else (name,)
    found = [pair for pair in kept if pair.source in wanted]
    return found[:: max(1, len(found) // count)][:count]


def open_run(given: argparse.Namespace) -> Run:
    checkpoint = given.run / "checkpoint.pt"
    start = checkpoint if checkpoint.exists() else given.start
    model: Teacher | CrossEncoder
    if given.teacher is not None:
        model = read_teacher(given.teacher, start, given.dropout)
    else:
        model = from_state(read_state(start), given.dropout)
    head = list(model.head.parameters())
    rest = [w for name, w in model.named_parameters() if w.requires_grad and not name.startswith("head.")]
    groups = [{"params": rest, "peak": given.rate}, {"params": head, "peak": given.head_rate}]
    run = Run(model, torch.optim.AdamW(groups, lr=given.rate, betas=(0.9, 0.99), weight_decay=0.01, fused=True))
    if checkpoint.exists():
        run.load(checkpoint)
        for group, peak in zip(run.optimizer.param_groups, (given.rate, given.head_rate), strict=True):
            group["peak"] = peak
    return run


def measure(model: CrossEncoder | Teacher, dev: dict[str, list[Example]], bf16: bool = False) -> dict[str, float]:
    """Accuracy on pairs kept from training, per source."""
    model.eval()
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        found = {name: round(count_right(model, rows) / len(rows), 4) for name, rows in dev.items() if rows}
    model.train()
    return found


def count_right(model: CrossEncoder | Teacher, examples: Sequence[Example]) -> int:
    ordered = sorted(examples, key=len)
    right = 0
    for start in range(0, len(ordered), 16):
        batch = collate(ordered[start : start + 16])
        right += int((model(batch).argmax(dim=1) == batch.labels).sum())
    return right


def learn_batch(run: Run, rows: Sequence[Example], share: float, bf16: bool = False) -> None:
    for group in run.optimizer.param_groups:
        group["lr"] = group["peak"] * share
    batch = collate(rows)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        logits = run.model(batch)
    loss = functional.cross_entropy(logits.float(), batch.targets)
    run.optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([w for g in run.optimizer.param_groups for w in g["params"]], 1.0)
    run.optimizer.step()
    run.loss += 0.02 * (loss.item() - run.loss)
    run.step += 1
    run.batch += 1
    run.pairs += len(rows)


def record(run: Run, data: Data, bf16: bool = False) -> None:
    found = {"pairs": run.pairs, "step": run.step, "loss": round(run.loss, 4), **measure(run.model, data.dev, bf16)}
    run.log.append(found)
    print(json.dumps(found), flush=True)


class Trainer:
    """The loop around `learn_batch`: rounds, rates, checkpoints, and the end."""

    def __init__(self, run: Run, data: Data, given: argparse.Namespace, guide: Guide | None = None) -> None:
        self.run, self.data, self.given, self.guide = run, data, given, guide
        self.settings = {name: str(value) for name, value in vars(given).items()} | {"mix": MIX}
        self.cooling = Cooling(at_time(given.cool_from), at_time(given.cool_to)) if given.cool_to else None
        self.first_step, self.earlier, self.begun = run.step, run.seconds, time.monotonic()
        self.saved, self.first_step_time = self.begun, time.time()
        self.measured = run.pairs
        self.has_stable = False
        self.stopping = False

    def batches(self) -> list[list[int]]:
        drawn = draw_round(self.data.pairs, MIX, self.run.round, ROUND_PAIRS, self.given.seed)
        return make_batches(self.data.examples, drawn, self.given.tokens, f"{self.given.seed}:{self.run.round}")

    def share(self) -> float:
        """The share of the full rate that the next step takes."""
        warmup: int = self.given.warmup
        rising = min(1.0, (self.run.step - self.first_step + 1) / warmup)
        return rising * (self.cooling.share(time.time()) if self.cooling else 1.0)

    def is_over(self) -> bool:
        if self.given.until is not None and self.run.pairs >= self.given.until:
            return True
        return self.cooling is not None and time.time() >= self.cooling.end

    def save(self, name: str = "checkpoint.pt") -> None:
        self.run.seconds = self.earlier + time.monotonic() - self.begun
        self.run.save(self.given.run / name, self.settings)
        if self.guide is not None:
            self.guide.save()
        self.saved = time.monotonic()

    def tend(self) -> None:
        """After a step: print, measure, save, as far as each is due."""
        run = self.run
        if run.step % 25 == 0:
            spent = self.earlier + time.monotonic() - self.begun
            print(f"step {run.step} pairs {run.pairs} loss {run.loss:.4f} seconds {spent:.0f}", flush=True)
        if run.pairs - self.measured >= self.given.measure_every:
            record(run, self.data, self.given.bf16)
            self.measured = run.pairs
        if self.cooling and not self.has_stable and time.time() >= self.cooling.begin:
            if self.first_step_time < self.cooling.begin:
                self.save("stable.pt")
            self.has_stable = True
        if time.monotonic() - self.saved > self.given.save_every:
            self.save()

    def train(self) -> None:
        self.run.model.train()
        while not (self.stopping or self.is_over()):
            batches = self.batches()
            while self.run.batch < len(batches) and not (self.stopping or self.is_over()):
                chosen = batches[self.run.batch]
                rows = [self.data.examples[index] for index in chosen]
                rows = rows if self.guide is None else self.guide.guide(chosen, rows)
                learn_batch(self.run, rows, self.share(), self.given.bf16)
                if self.given.average:
                    self.run.follow(self.given.average)
                self.tend()
            if self.run.batch == len(batches):
                self.run.round, self.run.batch = self.run.round + 1, 0
        self.save()
        if self.is_over():
            record(self.run, self.data, self.given.bf16)
            self.save("cooled.pt" if self.cooling else "checkpoint.pt")

    def stop(self, *_: object) -> None:
        self.stopping = True


def main() -> None:
    given = read_arguments()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    given.run.mkdir(parents=True, exist_ok=True)
    data = prepare(given)
    run = open_run(given)
    print(f"{len(data.examples)} pairs to learn from, at step {run.step}", flush=True)
    print({name: len(rows) for name, rows in data.dev.items()}, flush=True)
    guide = None
    if given.guide:
        guided = [not given.guide_only or pair.source in given.guide_only for pair in data.pairs]
        guide = open_guide(*given.guide, given.run, guided, given.bf16)
    trainer = Trainer(run, data, given, guide)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, trainer.stop)
    trainer.train()


if __name__ == "__main__":
    main()
