"""What a season is played in: who takes part, what a miner knows when it answers, and where tasks and observations come
from."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from weighbeam.mechanisms.contract import Asked, Group, Mechanism, Observation, Params, Reply, Scored, Standing, Task


@dataclass(frozen=True, slots=True)
class Identity:
    """One registered miner. `skill`, from 0 to 1, is what ranks should find out; an attacker has the skill it would
    have if it worked."""

    name: str
    role: Literal["honest", "attacker"]
    skill: float


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, and how long it took."""

    payload: Any
    seconds: float
    status: Reply = "ok"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a miner knows when it answers: the question, which round it is and how often it was asked before, under
    which hotkey it is known, the standings, which are public, and what chance it may use.

    `heard` holds what the honest miners of the same round said: for those who listen at other doors.
    """

    me: Identity
    hotkey: str
    task: Task
    round: int
    turn: int
    standings: Sequence[Standing]
    heard: Mapping[str, Said]
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
        """Whom the round asks; as a rule what the mechanism says."""
        ...

    def answer(self, turn: Turn) -> Said:
        """What an honest miner of `turn.me.skill` says."""
        ...

    def observe(self, asked: Asked) -> Observation:
        """As a rule what the mechanism observes with the world's senses."""
        ...

    def find_signs(self, observation: Observation, scored: Scored) -> Collection[str]:
        """The hotkeys against whom this round speaks: what a mechanism's own reasons, flags and copies say."""
        ...


class Strategy(Protocol):
    """How the attackers of a season play: one mind for all of them, made anew for each season."""

    def answer(self, world: World, turn: Turn) -> Said: ...


@runtime_checkable
class Recycles(Protocol):
    """What a strategy has besides if its miners change their hotkeys."""

    def leaves(self, turns: int) -> bool:
        """Whether a hotkey that was asked so often is given up for a new one."""
        ...


@dataclass(frozen=True, slots=True)
class Always:
    """The strategy that says the same kind of thing at every turn."""

    say: Callable[[World, Turn], Said]

    def answer(self, world: World, turn: Turn) -> Said:
        return self.say(world, turn)
