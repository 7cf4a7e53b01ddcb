"""What 256 miners answer in a made month: a few dozen texts to a few tasks, each miner with habits and bad days."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weighbeam.mechanisms.chunking.generate import generate_document
from weighbeam.mechanisms.contract import Answer, Reply, Task
from weighbeam.miners.chunkers.packing import cut_at, sentence_starts
from weighbeam.miners.prepared_answers import read_answers, read_prompts
from weighbeam.senses.ports import Senses

SHORT, LONG = [900] * 12, [9_000] * 2
CUTS, ONE_IN = 24, 20
"""One round of chunking in twenty has a document of the size that a validator makes."""
STATUSES: tuple[tuple[float, Reply], ...] = ((0.02, "timeout"), (0.03, "unreachable"), (0.035, "malformed"))


@dataclass(frozen=True, slots=True)
class Choice:
    """One task and the payloads its answers are drawn from."""

    task: Task
    payloads: tuple[dict[str, Any], ...]


class Answers:
    """The miners by hotkey, each with a uid, a habit and a pace."""

    def __init__(self, hotkeys: Sequence[str], senses: Senses, seed: int) -> None:
        self.hotkeys = tuple(hotkeys)
        rng = np.random.default_rng(seed)
        self._uids = {hotkey: uid for uid, hotkey in enumerate(hotkeys, 1)}
        self._habits = dict(zip(hotkeys, rng.integers(0, CUTS, len(hotkeys)).tolist(), strict=True))
        self._paces = dict(zip(hotkeys, rng.uniform(0.4, 6.0, len(hotkeys)).tolist(), strict=True))
        self._short = [_cut(number, size, senses, rng) for number, size in enumerate(SHORT)]
        self._long = [_cut(1000 + number, size, senses, rng) for number, size in enumerate(LONG)]
        self._prompts = _prepare()

    def give(self, mechanism: str, members: Sequence[str], seed: str) -> tuple[Task, tuple[Answer, ...]]:
        rng = np.random.default_rng(int(seed[:16], 16))
        choice = self._choose(mechanism, rng)
        return choice.task, tuple(self._answer(choice, hotkey, rng) for hotkey in members)

    def _choose(self, mechanism: str, rng: np.random.Generator) -> Choice:
        documents = self._short if rng.integers(ONE_IN) else self._long
        pool = self._prompts if mechanism == "inference" else documents
        return pool[int(rng.integers(len(pool)))]

    def _answer(self, choice: Choice, hotkey: str, rng: np.random.Generator) -> Answer:
        drawn, habit = rng.random(), self._habits[hotkey] + int(rng.integers(0, 3))
        seconds = round(self._paces[hotkey] * float(rng.uniform(0.7, 1.4)), 6)
        status = next((status for below, status in STATUSES if drawn < below), "ok")
        payload = choice.payloads[habit % len(choice.payloads)] if status == "ok" else None
        return Answer(hotkey, payload, seconds, status, self._uids[hotkey])


def _cut(number: int, size: int, senses: Senses, rng: np.random.Generator) -> Choice:
    document = generate_document(f"month-{number}", size).text
    starts = sentence_starts(document, senses)[1:]
    each = max(1, len(starts) // 4)
    cuts = [[0, *sorted(rng.choice(starts, each, replace=False).tolist())] for _ in range(CUTS)]
    return Choice(Task(f"month-{number}", {"document": document}), tuple({"chunks": cut_at(document, c)} for c in cuts))


def _prepare() -> list[Choice]:
    """Prepared answers to prompts of the bank: the beginning of one with the end of another, and one that is vague."""
    vague = {"text": "It depends on the situation, and different people find different ways.", "confidence": 0.9}
    found = []
    for prompt, name in sorted(read_prompts().items()):
        texts = [text.split(". ") for text in read_answers()[name]]
        joined = [[*a[: len(a) // 2], *b[len(b) // 2 :]] for a in texts for b in texts]
        said = [{"text": ". ".join(one), "confidence": 0.5 + 0.01 * number} for number, one in enumerate(joined)]
        found.append(Choice(Task(f"prompt-{name}", {"prompt": prompt}), (*said, vague)))
    return found
