"""Pays for answers that name every keyword of the task in few words.

score = recall · brevity      recall = share of keywords named      brevity = min(1, allowance / words)
standing = moving average     weight ∝ standing
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import Field

from weighbeam.core.averaging import move_average
from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import require
from weighbeam.mechanisms.contract import (
    Answer,
    Asked,
    Group,
    Node,
    Observation,
    Params,
    Score,
    Scored,
    Standing,
    Task,
    WeighRule,
    Weights,
)

WORDS = ("tide", "moon", "beam", "scale", "chalk", "harbour", "kiln", "meadow")


class RecallParams(Params):
    words_per_keyword: int = Field(8, ge=1)
    alpha: float = Field(0.2, gt=0, le=1)


class KeywordRecall:
    name = "keyword-recall"
    kind = "asked"
    better = "higher"
    params_type = RecallParams
    rule = WeighRule(gate="always", exclude_permits=False)

    def choose(self, params, standings, miners: Sequence[str], seed, wanted=()) -> Group:
        return Group(tuple(sorted(miners)))

    def generate_task(self, params: RecallParams, seed) -> Task:
        first = int(digest_text(str(seed))[:8], 16) % len(WORDS)
        return Task(f"recall-{first}", {"keywords": [WORDS[first], WORDS[(first + 3) % len(WORDS)]]})

    def read_task(self, params: RecallParams, name: str, text: str) -> Task:
        require(bool(text.split()), "bad_task", f"{name} names no keyword", "write words into it")
        return Task(name, {"keywords": text.split()})

    def pose(self, params: RecallParams, task: Task) -> Mapping[str, Any]:
        require(bool(task.body.get("keywords")), "bad_task", "no keywords", "give a list")
        return {"keywords": task.body["keywords"]}

    def ask_seconds(self, params: RecallParams) -> float:
        return 10.0

    def name_senses(self, params: RecallParams, senses) -> Mapping[str, Any]:
        return {}

    def observe(self, params: RecallParams, asked: Asked, senses) -> Observation:
        keywords = [word.lower() for word in asked.task.body["keywords"]]
        rows = []
        for answer in asked.answers:
            text = answer.payload.get("text") if isinstance(answer.payload, dict) else None
            words = text.lower().split() if isinstance(text, str) else None
            rows.append(
                {
                    "hotkey": answer.hotkey,
                    "status": answer.status,
                    "digest": None if words is None else digest_text(text),
                    "words": None if words is None else len(words),
                    "named": None if words is None else sum(word in words for word in keywords),
                }
            )
        return Observation({"keywords": len(keywords), "rows": rows})

    def score(self, params: RecallParams, observation: Observation) -> Scored:
        scores = tuple(self._score(row, observation.facts["keywords"], params) for row in observation.facts["rows"])
        return Scored(scores, {"answered": sum(score.status == "valid" for score in scores)})

    def _score(self, row: Mapping[str, Any], keywords: int, params: RecallParams) -> Score:
        if row["status"] == "validator_error":
            return Score(row["hotkey"], "unscored", None, None, ("validator_fault",))
        if row["status"] != "ok" or not row["words"]:
            return Score(row["hotkey"], "failed", 0.0, None, ("no_text",))
        allowance = params.words_per_keyword * keywords
        parts = {"recall": row["named"] / keywords, "brevity": min(1.0, allowance / row["words"])}
        return Score(row["hotkey"], "valid", self.recompute(parts), parts)

    def recompute(self, parts: Mapping[str, Any]) -> float:
        return parts["recall"] * parts["brevity"]

    def bounds(self, params: RecallParams) -> tuple[float, float]:
        return 0.0, 1.0

    def stand(self, params: RecallParams, standings: Sequence[Standing], scored: Scored) -> tuple[Standing, ...]:
        after = {standing.hotkey: standing for standing in standings}
        for score in scored.scores:
            if score.value is not None:
                old = after.get(score.hotkey, Standing(score.hotkey, None)).value or 0.0
                after[score.hotkey] = Standing(score.hotkey, move_average(old, score.value, params.alpha))
        return tuple(after[hotkey] for hotkey in sorted(after))

    def weigh(self, params: RecallParams, standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
        return Weights({s.hotkey: (s.value or 0.0) if s.hotkey in eligible else 0.0 for s in standings})

    def explain(self, params: RecallParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
        score = next(score for score in scored.scores if score.hotkey == hotkey)
        if score.parts is None:
            return Node(f"{hotkey}: {score.status} ({', '.join(score.reasons)})")
        sums = f"{score.parts['recall']:.6g} × {score.parts['brevity']:.6g}"
        return Node(f"{hotkey}: {score.value:.6g}", (Node(f"recall × brevity = {sums}"),))

    def examples(self) -> Sequence[Asked]:
        given = [
            Answer("full", {"text": "The tide turns when the moon pulls"}),
            Answer("half", {"text": "The tide turns"}),
            Answer("wordy", {"text": "tide moon " + "and so on " * 30}),
            Answer("copy", {"text": "The tide turns when the moon pulls"}),
            Answer("empty", {"text": ""}),
            Answer("silent", None, status="timeout"),
            Answer("our-fault", None, status="validator_error"),
        ]
        names = tuple(answer.hotkey for answer in given)
        return (Asked(Task("tides", {"keywords": ["tide", "moon"]}), Group(names), tuple(given), "seed"),)

    def read_question(self, data: Mapping[str, Any]) -> Asked:
        require(isinstance(data, dict) and bool(data.get("keywords")), "bad_question", "no keywords", "give a list")
        answers = tuple(Answer(row["hotkey"], {"text": row.get("text")}) for row in data.get("answers", []))
        task = Task("what-if", {"keywords": data["keywords"]})
        return Asked(task, Group(tuple(a.hotkey for a in answers)), answers, "what-if")

    def report(self, params: RecallParams, observation: Observation, scored: Scored) -> dict[str, Any]:
        return {"answers": [{"hotkey": s.hotkey, "value": s.value, "parts": s.parts} for s in scored.scores]}

    def best(self, params: RecallParams, observation: Observation, scored: Scored) -> str | None:
        valid = [score for score in scored.scores if score.status == "valid"]
        return max(valid, key=lambda score: (score.value, score.hotkey)).hotkey if valid else None

    def stages(self) -> Mapping[str, Any]:
        return {"keyword-recall.recompute": lambda given: {"value": self.recompute(given["parts"])}}
