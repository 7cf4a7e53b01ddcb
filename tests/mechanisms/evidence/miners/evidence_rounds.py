"""Rounds of every evidence miner at once, over statements of the bank and the archive that comes with them."""

import asyncio
from dataclasses import dataclass
from typing import Any

from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.miners.handlers import quote_archive
from weighbeam.mechanisms.evidence.miners.library import VARIANTS
from weighbeam.mechanisms.evidence.miners.tricks import TRICKS
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.task import find_archive
from weighbeam.senses.local import LocalSenses

PARAMS = EvidenceParams()
HONEST = tuple(f"honest-{variant}" for variant in range(VARIANTS))
HONEST_SECONDS = 2.0
HOSTILE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Played:
    """One statement: values and codes by miner, and what became of the statement."""

    row: dict[str, Any]
    values: dict[str, float]
    reasons: dict[str, list[str | None]]
    codes: dict[str, tuple[str, ...]]
    verdict: str


def play(row: dict[str, Any], senses: LocalSenses) -> Played:
    """All honest variants, and all tricks a second later."""
    task = {"statement": row["statement"], "max_snippets": PARAMS.max_snippets}
    honest = [
        Answer(name, quote_archive(find_archive(), task, variant), HONEST_SECONDS)
        for variant, name in enumerate(HONEST)
    ]
    hostile = [Answer(trick, spoil(row["statement"]), HOSTILE_SECONDS) for trick, spoil in TRICKS.items()]
    answers = (*honest, *hostile)
    group = Group(tuple(answer.hotkey for answer in answers))
    mechanism = Evidence()
    asked = Asked(Task(row["id"], {"statement": row["statement"]}), group, answers, f"seed-{row['id']}")
    observation = mechanism.observe(PARAMS, asked, senses)
    scored = mechanism.score(PARAMS, observation)
    report = mechanism.report(PARAMS, observation, scored)
    return Played(
        row,
        {score.hotkey: float("nan") if score.value is None else score.value for score in scored.scores},
        {one["hotkey"]: [snippet["reason"] for snippet in one["snippets"]] for one in report["answers"]},
        {score.hotkey: score.reasons for score in scored.scores},
        scored.summary["verdict"]["verdict"],
    )


def ask(handler: Any, task: dict[str, Any]) -> Any:
    return asyncio.run(handler(task, 10.0))
