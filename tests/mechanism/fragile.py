"""Mechanisms whose methods raise. A module of their own: a fresh process loads it at once."""

from dataclasses import replace

from pydantic import BaseModel

from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Node


class Count(BaseModel):
    n: int


class Fragile(Mechanism):
    """Counts, and cannot count everything."""

    name = "fragile"
    reply_type = Count
    example = {"task": {}, "answers": [{"n": 2}, {"n": 4}]}  # noqa: RUF012

    def task(self, params, seed):
        return {"seed": str(seed)}

    def measure(self, task, reply, senses):
        if reply.n == 13:
            raise RuntimeError("thirteen")
        return {"n": float("nan") if reply.n == 14 else reply.n, "more": [1 / 3, {"x": 2 / 3}]}

    def grade(self, params, facts):
        return {"part": 1 / facts["n"]}


class Trusting(Fragile):
    """Expects an object, and any JSON may come."""

    reply_type = None

    def measure(self, task, reply, senses):
        return {"n": reply["n"]}


class Raising(Fragile):
    example = {"task": {}, "answers": [{"n": 2}, {"n": 13}]}  # noqa: RUF012


class Dividing(Fragile):
    example = {"task": {}, "answers": [{"n": 2}, {"n": 0}]}  # noqa: RUF012


class Unobservant(Fragile):
    def observe(self, params, asked, senses):
        raise RuntimeError("blind")


class Shapeless(Fragile):
    better = "sideways"


class Backwards(Fragile):
    better = "lower"


class Wordy(Fragile):
    """Its part is a word."""

    def grade(self, params, facts):
        return {"topic": "x"}


class Counting(Fragile):
    """Its part is a text that happens to multiply."""

    def grade(self, params, facts):
        return {"topic": "1", "twice": 2}


class Partless(Fragile):
    def grade(self, params, facts):
        return {}


class Valueless(Fragile):
    def recompute(self, parts):
        return None


class Leaving(Fragile):
    """Ends the process, or would."""

    example = {"task": {}, "answers": [{"n": 2}, {"n": 13}, {"n": 0}]}  # noqa: RUF012

    def measure(self, task, reply, senses):
        if reply.n == 13:
            raise SystemExit(3)
        return {"n": reply.n}

    def grade(self, params, facts):
        if not facts["n"]:
            raise SystemExit("zero")
        return super().grade(params, facts)


class Withdrawing(Fragile):
    """Leaves an answer unscored that it has measured."""

    def score(self, params, observation):
        scored = super().score(params, observation)
        return replace(scored, scores=tuple(replace(s, status="unscored", value=None) for s in scored.scores))


class Averaging(Fragile):
    """Its value is the mean of its parts."""

    def grade(self, params, facts):
        return {"a": 1 / facts["n"], "b": 1.0}

    def recompute(self, parts):
        return sum(parts.values()) / len(parts)


class Miscalculating(Averaging):
    """Explains a mean as a product."""

    def explain(self, params, observation, scored, hotkey):
        score = next(score for score in scored.scores if score.hotkey == hotkey)
        product = " × ".join(f"{value:.6g}" for value in (score.parts or {}).values())
        return Node(hotkey, (Node(f"a × b = {product} = {score.value:.6g}"),) if product else ())
