"""The world of a season: participants, a miner's knowledge when it answers, seeded chance, and the source of tasks and
observations.

So a miner more, or a round less, leaves all other draws as they were, and two seasons of one seed can be compared.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Asked, Group, Observation, Reply, Scored, Standing, Task


def draw_chance(seed: int, *what: str | int) -> np.random.Generator:
    """A generator of its own for one purpose.

    >>> first, again, other = (draw_chance(1, "task", number).random() for number in (3, 3, 4))
    >>> bool(first == again != other)
    True
    """
    return np.random.Generator(np.random.PCG64(int(seeded_digest(seed, *what)[:32], 16)))


@dataclass(frozen=True, slots=True)
class SimulatedMiner:
    """One registered miner. `skill`, from 0 to 1, is what ranks should find out; an attacker has the skill it would
    have if it worked."""

    name: str
    role: Literal["honest", "attacker"]
    skill: float


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """An answer, and how long it took."""

    payload: Any
    seconds: float
    status: Reply = "ok"


@dataclass(frozen=True, slots=True)
class MinerTurn:
    """Knowledge of a miner when it answers: the question, which round it is and how often it was asked before, under
    which hotkey it is known, the standings, which are public, and what chance it may use.

    `heard` holds the answers of the round's honest miners, for strategies that eavesdrop.
    """

    me: SimulatedMiner
    hotkey: str
    task: Task
    round: int
    turn: int
    standings: Sequence[Standing]
    heard: Mapping[str, SimulatedAnswer]
    chance: np.random.Generator


class World(Protocol):
    """A mechanism with its tasks, its honest miners and its senses. One world may be played many times: what a season
    changes (a corpus, say) is made by `begin`."""

    mechanism: Mechanism
    params: Params
    honest: int
    """How many honest miners a season has."""

    def begin(self, seed: int) -> None:
        """Forget the season before."""
        ...

    def make_task(self, number: int, chance: np.random.Generator) -> Task:
        """The question of a round."""
        ...

    def choose(self, standings: Sequence[Standing], hotkeys: Sequence[str], seed: str) -> Group:
        """Choose the miners to ask; by default the mechanism's choice."""
        ...

    def answer(self, turn: MinerTurn) -> SimulatedAnswer:
        """Answer of an honest miner of skill `turn.me.skill`."""
        ...

    def observe(self, asked: Asked) -> Observation:
        """As a rule what the mechanism observes with the world's senses."""
        ...

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """The hotkeys against whom this round speaks: what a mechanism's own reasons, flags and copies say."""
        ...


class MinerStrategy(Protocol):
    """How the attackers of a season play: one instance for all of them, made for each season."""

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer: ...


@runtime_checkable
class RecyclesHotkeys(Protocol):
    """Further methods of a strategy whose miners change their hotkeys."""

    def leaves(self, turns: int) -> bool:
        """Whether a hotkey that was asked so often is given up for a new one."""
        ...


@dataclass(frozen=True, slots=True)
class FixedStrategy:
    """The strategy that says the same kind of thing at every turn."""

    say: Callable[[World, MinerTurn], SimulatedAnswer]

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        return self.say(world, turn)
