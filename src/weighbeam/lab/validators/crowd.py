"""Miners as generative models of their answers: how good, how steady, how fast, how reliable, and whose they are."""

from dataclasses import dataclass, replace

import numpy as np

from weighbeam.lab.validators.weight_rows import FAILED, VALID, Floats, Places, Statuses

PENALTY_BASE, SOFT_SECONDS = 2 / 3, 3.75
"""Share of the quality left per second over the limit, as chunking charges for time."""
SWAY = 0.3
SECONDS = (0.5, 3.0)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Each field is an array over miners.

    An answer's quality is `skill` and normal `noise`; skill wanders about its mean with a spread of `drift` in the long
    run. `seconds` is the median time, `failure` how often no answer counts. `source` says whose answer a miner gives:
    its own column for its own work, another's if it copies; a ring that hands one answer around has one source.
    """

    skill: Floats
    noise: Floats
    drift: Floats
    seconds: Floats
    failure: Floats
    source: Places

    def __len__(self) -> int:
        return len(self.skill)

    def move(self, now: Floats, chance: np.random.Generator, pull: float) -> Floats:
        """The skills one step later: drawn back to their means by `pull`, with as much new wandering as that costs."""
        step = np.sqrt(1 - (1 - pull) ** 2) * self.drift
        moved: Floats = self.skill + (1 - pull) * (now - self.skill) + step * chance.standard_normal(len(self))
        return moved

    def renew(self, columns: Places, chance: np.random.Generator) -> "Crowd":
        """Newcomers under these columns: other skills and times, their own work, and nobody copies them yet."""
        skill, seconds, source = self.skill.copy(), self.seconds.copy(), self.source.copy()
        skill[columns] = chance.random(len(columns))
        seconds[columns] = chance.uniform(*SECONDS, len(columns))
        alone = np.isin(source, columns)
        source[alone] = np.flatnonzero(alone)
        source[columns] = columns
        return replace(self, skill=skill, seconds=seconds, source=source)


@dataclass(frozen=True, slots=True)
class CrowdAnswers:
    """Answers of one round of each validator [validators, size]."""

    rewards: Floats
    statuses: Statuses


def draw_crowd(miners: int, chance: np.random.Generator, drift: float = 0.1, noise: float = 0.15) -> Crowd:
    """Honest miners of many skills, about one of a hundred answers failing; all answer within the limit, most times."""
    return Crowd(
        skill=chance.random(miners),
        noise=np.full(miners, noise),
        drift=np.full(miners, drift),
        seconds=chance.uniform(*SECONDS, miners),
        failure=np.full(miners, 0.01),
        source=np.arange(miners),
    )


def answer(
    crowd: Crowd, skill: Floats, members: Places, chance: np.random.Generator, spread: Floats | None = None
) -> CrowdAnswers:
    """A round of each validator: `members` [validators, size] at their present `skill`.

    `spread` [validators] is what a validator's own tasks and senses add to the noise. Copies in one round are equal to
    the bit, so that they share a place.
    """
    source = crowd.source[members]
    noise = crowd.noise[source]
    if spread is not None:
        noise = np.hypot(noise, spread[:, None])
    luck = chance.standard_normal(members.shape)
    if (source != members).any():
        luck = np.take_along_axis(luck, np.argmax(source[:, :, None] == source[:, None, :], axis=2), axis=1)
    return time_answers(crowd, members, skill[source] + noise * luck, chance)


def time_answers(crowd: Crowd, members: Places, quality: Floats, chance: np.random.Generator) -> CrowdAnswers:
    """Quality after the charge for time, and whether the answer arrived."""
    taken = crowd.seconds[members] * np.exp(SWAY * chance.standard_normal(members.shape))
    late = taken > SOFT_SECONDS
    left, over = PENALTY_BASE ** (taken[late] - SOFT_SECONDS), quality[late]
    rewards = quality.copy()
    rewards[late] = np.where(over >= 0, over * left, over / left)
    failed = chance.random(members.shape) < crowd.failure[members]
    return CrowdAnswers(rewards, np.where(failed, FAILED, VALID).astype(np.int8))
