"""Seasons of made-up numbers, played by functions that another process finds by name. Only tests use them."""

from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.world import draw_chance
from weighbeam.lab.trials.jobs import Job


def make_attack(family: str, mechanism: str = "inference") -> Attack:
    return Attack(family, mechanism, f"{family} is played.", "Nothing.", "Everything.", lambda seed, setting: None)


ATTACKS = tuple(make_attack(family) for family in ("copycat", "padding", "sybil"))


def play_fake(job: Job) -> Trial:
    """Attackers earn what `cap` lets them; ranks follow skill the more, the higher `care` is."""
    chance = draw_chance(job.seed, job.attack or "honest", job.season.rounds)
    cap, care = float(job.params.get("cap", 0.2)), float(job.params.get("care", 5.0))
    honest, attackers = [f"honest-{n}" for n in range(8)], [f"attacker-{n}" for n in range(4 if job.attack else 0)]
    skill = {name: n / 7 for n, name in enumerate(honest)}
    earned = {name: 1.0 + chance.random() for name in honest} | {name: cap * chance.random() for name in attackers}
    return Trial(
        seed=job.seed,
        earned=earned,
        attackers=frozenset(attackers),
        honest=frozenset(honest),
        fair=sum(earned.values()) / len(earned),
        signs=dict.fromkeys(attackers, (0, 1, 2)),
        turns=dict.fromkeys(earned, job.season.rounds),
        skill=skill,
        standing={name: skill[name] * care + chance.random() for name in honest},
    )


def play_badly(job: Job) -> Trial:
    if job.attack == "inference/padding" and job.seed == 1:
        raise ValueError("the scale broke")
    return play_fake(job)


def die(job: Job) -> Trial:
    import os

    os._exit(9)


def play_slowly(job: Job) -> Trial:
    """A second each; the very first breaks at once."""
    import time

    if job.attack == "inference/copycat" and job.seed == 0:
        raise ValueError("the first one")
    time.sleep(1.0)
    return play_fake(job)
