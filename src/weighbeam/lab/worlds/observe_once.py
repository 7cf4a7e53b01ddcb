"""Observe each snippet once: what the evidence mechanism finds out about one depends on no other, and on no round.

A season asks about the same statements again and again. The mechanism observes whatever is new in a round, and its
facts are put together to what it would have observed; only how long things took is not told anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from weighbeam.mechanisms.contract import Answer, Asked, Group, Observation, Task
from weighbeam.mechanisms.evidence.entries import Given, read_payload
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.ports import Senses

SEED = "lab"
"""The one seed of all observing: texts that probe a model follow from it, and need not be embedded again."""
Key = tuple[str, str | None, str | None]


class SnippetMemory:
    """The facts of every snippet a world has seen, by statement, URL and excerpt."""

    def __init__(self, params: EvidenceParams, senses: Senses) -> None:
        self._mechanism, self._params, self._senses = Evidence(), params, senses
        self._seen: dict[Key, dict[str, Any]] = {}

    def observe(self, asked: Asked) -> Observation:
        """What the mechanism observes, without the texts of pages."""
        given = [read_payload(answer, self._params.max_snippets) for answer in asked.answers]
        self.learn(asked.task, asked.at, [entry for one in given for entry in one.entries])
        bare = tuple(_strip(answer, one) for answer, one in zip(asked.answers, given, strict=True))
        frame = self._mechanism.observe(self._params, replace(asked, answers=bare, seed=SEED), self._senses).facts
        statement = asked.task.body["statement"]
        miners = [
            {
                **row,
                "snippets": [self._seen[statement, entry["url"], entry["excerpt"]] for entry in one.entries],
                "extra": one.extra,
            }
            for row, one in zip(frame["miners"], given, strict=True)
        ]
        return Observation({**frame, "seed": asked.seed, "miners": miners})

    def learn(self, task: Task, at: float | None, entries: Iterable[dict[str, Any]]) -> None:
        """Observe what is new, all at once: each snippet as the answer of somebody."""
        statement = task.body["statement"]
        keys = {(statement, entry["url"], entry["excerpt"]): entry for entry in entries}
        new = [(key, entry) for key, entry in keys.items() if key not in self._seen]
        if new:
            answers = [Answer(str(place), {"snippets": [entry]}) for place, (_, entry) in enumerate(new)]
            rows = self._ask(task, at, answers)
            self._seen.update({key: row["snippets"][0] for (key, _), row in zip(new, rows, strict=True)})

    def _ask(self, task: Task, at: float | None, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        group = Group(tuple(answer.hotkey for answer in answers))
        asked = Asked(task, group, tuple(answers), SEED, at=at)
        rows: list[dict[str, Any]] = self._mechanism.observe(self._params, asked, self._senses).facts["miners"]
        return rows


def _strip(answer: Answer, given: Given) -> Answer:
    """The answer without its snippets; one that has none stays what it is."""
    return replace(answer, payload={"snippets": []}) if given.entries else answer
