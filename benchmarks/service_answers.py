"""What 256 miners answer in a made month: a few dozen texts to a few tasks, each miner with habits and bad days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weighbeam.mechanism.records import Answer, Reply, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.miners.packing import cut_at, sentence_starts
from weighbeam.mechanisms.inference.miners.prepared_answers import load_answers, load_prompts
from weighbeam.senses.ports.protocols import Senses

CUTS, SHORT, EACH = 24, 12, 3
STATUSES: tuple[tuple[float, Reply], ...] = ((0.02, "timeout"), (0.03, "unreachable"), (0.035, "malformed"))


@dataclass(frozen=True, slots=True)
class Choice:
    """One task and the payloads its answers are drawn from."""

    task: Task
    payloads: tuple[dict[str, Any], ...]


class Answers:
    """The miners by hotkey, each with a uid, a habit and a pace; `pools` says of what a mechanism's tasks are drawn."""

    def __init__(self, hotkeys: Sequence[str], pools: Mapping[str, Sequence[Choice]], seed: int) -> None:
        self.hotkeys, self.pools = tuple(hotkeys), dict(pools)
        rng = np.random.default_rng(seed)
        self._uids = {hotkey: uid for uid, hotkey in enumerate(hotkeys, 1)}
        self._habits = dict(zip(hotkeys, rng.integers(0, CUTS, len(hotkeys)).tolist(), strict=True))
        self._paces = dict(zip(hotkeys, rng.uniform(0.4, 6.0, len(hotkeys)).tolist(), strict=True))

    def give(self, mechanism: str, members: Sequence[str], seed: str) -> tuple[Task, tuple[Answer, ...]]:
        rng = np.random.default_rng(int(seed[:16], 16))
        pool = self.pools[mechanism]
        choice = pool[int(rng.integers(len(pool)))]
        return choice.task, tuple(self._answer(choice, hotkey, rng) for hotkey in members)

    def _answer(self, choice: Choice, hotkey: str, rng: np.random.Generator) -> Answer:
        drawn, habit = rng.random(), self._habits[hotkey] + int(rng.integers(0, 3))
        seconds = round(self._paces[hotkey] * float(rng.uniform(0.7, 1.4)), 6)
        status = next((status for below, status in STATUSES if drawn < below), "ok")
        payload = choice.payloads[habit % len(choice.payloads)] if status == "ok" else None
        return Answer(hotkey, payload, seconds, status, self._uids[hotkey])


def list_month(senses: Senses) -> dict[str, list[Choice]]:
    """Few tasks for a month, so that each text is embedded once; one document in twenty is of a validator's size."""
    short = [cut_document(f"short-{number}", 900, senses) for number in range(SHORT)]
    return {"chunking": [*short * EACH, *(cut_document(f"long-{n}", 9_000, senses) for n in range(2))], **_prepare()}


def list_new(name: str, senses: Senses) -> dict[str, list[Choice]]:
    """Tasks nobody saw before: everything about them is embedded anew."""
    prompt, *texts = [generate_document(f"{name}-{number}", 500).text for number in range(CUTS + 1)]
    said = tuple({"text": text, "confidence": 0.5} for text in texts)
    asked = Choice(Task(f"new-{name}", {"prompt": prompt}), said)
    return {"chunking": [cut_document(name, 2_500, senses)], "inference": [asked]}


def cut_document(name: str, size: int, senses: Senses) -> Choice:
    document = generate_document(name, size).text
    rng, starts = np.random.default_rng(len(document)), sentence_starts(document, senses)[1:]
    each = max(1, len(starts) // 4)
    cuts = [[0, *sorted(rng.choice(starts, each, replace=False).tolist())] for _ in range(CUTS)]
    chunked: tuple[dict[str, Any], ...] = tuple({"chunks": cut_at(document, one)} for one in cuts)
    return Choice(Task(f"document-{name}", {"document": document}), chunked)


def _prepare() -> dict[str, list[Choice]]:
    """Prepared answers to prompts of the bank: the beginning of one with the end of another, and one that is vague."""
    vague = {"text": "It depends on the situation, and different people find different ways.", "confidence": 0.9}
    found = []
    for prompt, name in sorted(load_prompts().items()):
        texts = [text.split(". ") for text in load_answers()[name]]
        joined = [[*a[: len(a) // 2], *b[len(b) // 2 :]] for a in texts for b in texts]
        said = [{"text": ". ".join(one), "confidence": 0.5 + 0.01 * number} for number, one in enumerate(joined)]
        found.append(Choice(Task(f"prompt-{name}", {"prompt": prompt}), (*said, vague)))
    return {"inference": found}
