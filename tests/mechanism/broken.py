"""Mechanisms that break one promise of the contract each. A module of their own: a fresh process loads it at once."""

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from keyword_recall.mechanism import KeywordRecall

from weighbeam.mechanism.params import ReadBy
from weighbeam.mechanism.records import Group, Node, Observation, Score, Scored, Standing, Weights


class Changed(KeywordRecall):
    """Scores passed through `change` before they are returned."""

    def change(self, score: Score, position: int) -> Score:
        return score

    def score(self, params, observation: Observation) -> Scored:
        scored = super().score(params, observation)
        return replace(scored, scores=tuple(self.change(s, i) for i, s in enumerate(scored.scores)))


class Nan(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, value=float("nan")) if score.value else score


class Unbounded(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, value=7.0, parts={"recall": 7.0, "brevity": 1.0}) if score.parts else score


class Unexplained(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, value=score.value / 2) if score.value else score


class Partless(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, parts=None)


class Charging(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, status="failed", value=0.0) if score.value is None else score


class Forgetful(Changed):
    def score(self, params, observation: Observation) -> Scored:
        scored = super().score(params, observation)
        return replace(scored, scores=scored.scores[1:])


class Positional(Changed):
    def change(self, score: Score, position: int) -> Score:
        if not score.parts:
            return score
        parts = {**score.parts, "brevity": 1 / (position + 1)}
        return replace(score, value=self.recompute(parts), parts=parts)


class Hashing(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, reasons=tuple({f"reason-{i}" for i in range(9)}))


class Gambling(Changed):
    def change(self, score: Score, position: int) -> Score:
        return replace(score, reasons=(str(random.random()),))


class Clocked(Changed):
    def change(self, score: Score, position: int) -> Score:
        time.monotonic()
        return score


class Reading(Changed):
    def change(self, score: Score, position: int) -> Score:
        Path(__file__).read_text()
        return score


class Textual(KeywordRecall):
    def observe(self, params, asked, senses) -> Observation:
        return replace(super().observe(params, asked, senses), texts={"key": "text"})

    def score(self, params, observation: Observation) -> Scored:
        return replace(super().score(params, observation), summary={"texts": len(observation.texts)})


class Overwriting(Changed):
    def score(self, params, observation: Observation) -> Scored:
        observation.facts["rows"][0]["facts"]["words"] += 1
        return super().score(params, observation)


class Slow(Changed):
    def score(self, params, observation: Observation) -> Scored:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        return super().score(params, observation)


class Formatting(Changed):
    def change(self, score: Score, position: int) -> Score:
        time.strftime("%H")
        return score


class Rolling(Changed):
    def change(self, score: Score, position: int) -> Score:
        np.random.random()
        return score


class Peeking(Changed):
    def change(self, score: Score, position: int) -> Score:
        Path.cwd()
        return score


class Whimsical(KeywordRecall):
    def choose(self, params, standings, miners, seed, wanted=()) -> Group:
        time.time()
        return Group(tuple(miners))


class Listed(KeywordRecall):
    def choose(self, params, standings, miners, seed, wanted=()) -> Group:
        return Group(tuple(miners[:1]))


class Silent(KeywordRecall):
    def explain(self, params, observation, scored, hotkey) -> Node:
        return Node("")


class Generous(KeywordRecall):
    def weigh(self, params, standings, eligible) -> Weights:
        return Weights({s.hotkey: 1.0 for s in standings})


class Negative(KeywordRecall):
    def weigh(self, params, standings, eligible) -> Weights:
        return Weights(dict.fromkeys(eligible, -1.0))


class Punishing(KeywordRecall):
    def stand(self, params, standings, scored) -> tuple[Standing, ...]:
        return tuple(Standing(score.hotkey, score.value or 0.0) for score in scored.scores)


class Repeating(KeywordRecall):
    def generate_task(self, params, seed):
        return super().generate_task(params, "always")


class Drawing(KeywordRecall):
    """Its draw is seeded, so that whether it is caught is not left to chance."""

    chance = random.Random(7)

    def generate_task(self, params, seed):
        return super().generate_task(params, self.chance.random())


class Favouring(KeywordRecall):
    def best(self, params, observation, scored):
        return scored.scores[-1].hotkey


class Withholding(KeywordRecall):
    def best(self, params, observation, scored):
        return None


class Reticent(KeywordRecall):
    """Says of one parameter what reads it, and of the other nothing."""

    read_by: ClassVar = {"alpha": ReadBy(("stand",))}


class Empty(KeywordRecall):
    def examples(self) -> tuple[()]:
        return ()
