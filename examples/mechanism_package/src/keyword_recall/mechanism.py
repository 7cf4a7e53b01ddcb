from collections.abc import Mapping
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, Field

from weighbeam import Mechanism, Params, Senses


class RecallParams(Params):
    words_per_keyword: int = Field(8, ge=1, description="words an answer may have per keyword before length costs")
    alpha: float = Field(0.2, gt=0, le=1, description="weight of the newest score in a standing")


class Question(BaseModel):
    keywords: list[Annotated[str, Field(pattern=r"\S")]] = Field(min_length=1, max_length=100)


class Reply(BaseModel):
    text: str


class KeywordRecall(Mechanism):
    """Pays for short answers that name every keyword: score = recall × brevity."""

    name, params_type, question_model, reply_type = "keyword-recall", RecallParams, Question, Reply
    meanings = {**Mechanism.meanings, "no_text": "The answer had no words."}
    example = {"task": {"keywords": ["tide", "moon"]}, "answers": [{"text": "Tide, moon."}, {"text": "Tide."}]}

    def task(self, params: RecallParams, seed: str | int) -> dict[str, Any]:
        return {"keywords": Random(seed).sample(["tide", "moon", "beam", "scale", "chalk", "kiln", "meadow"], 2)}

    def measure(self, task: Mapping[str, Any], reply: Reply, senses: Senses) -> dict[str, int]:
        words = [word.strip(".,;:!?\"'()[]").lower() for word in reply.text.split()] or self.refuse("no_text")
        named = [f" {' '.join(keyword.lower().split())} " in f" {' '.join(words)} " for keyword in task["keywords"]]
        return {"words": len(words), "keywords": len(named), "named": sum(named)}

    def grade(self, params: RecallParams, facts: Mapping[str, Any]) -> dict[str, float]:
        allowance = params.words_per_keyword * facts["keywords"]
        return {"recall": facts["named"] / facts["keywords"], "brevity": min(1.0, allowance / facts["words"])}
