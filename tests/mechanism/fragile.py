"""Mechanisms whose methods raise. A module of their own: a fresh process loads it at once."""

from pydantic import BaseModel

from weighbeam.mechanism.base import Mechanism


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
