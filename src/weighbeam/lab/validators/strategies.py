"""How a validator comes by its weight row: from its own rounds, from what others agreed on, or from what it wants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.stats import U16_MAX

Units = NDArray[np.int64]


class ValidatorStrategy(Protocol):
    """`works` says whether its validators run rounds of their own."""

    @property
    def works(self) -> bool: ...

    def write(self, own: Units, past: Sequence[Units]) -> Units:
        """The rows to set [validators, miners], u16. `own` is what the validators' own rounds say, zeros without any;
        `past` the consensus of all epochs so far, the newest last. A row of zeros sets nothing."""
        ...


@dataclass(frozen=True, slots=True)
class HonestValidator:
    """Sets what its own rounds say."""

    works: bool = True

    def write(self, own: Units, _: Sequence[Units]) -> Units:
        return own


@dataclass(frozen=True, slots=True)
class CopyingValidator:
    """Runs no round: sets the consensus of so many epochs ago, 1 being the newest that anyone can read."""

    lag: int = 1
    works: bool = False

    def write(self, own: Units, past: Sequence[Units]) -> Units:
        if len(past) < self.lag:
            return np.zeros_like(own)
        return np.broadcast_to(scale_units(past[-self.lag]), own.shape)


@dataclass(frozen=True, slots=True)
class ColludingValidator:
    """Gives `share` of its row to the favoured, in equal parts, and the rest as its rounds say.

    One who does not work takes the rest from the newest consensus.
    """

    favoured: tuple[int, ...]
    share: float = 0.5
    works: bool = True

    def write(self, own: Units, past: Sequence[Units]) -> Units:
        rest = own if self.works or not past else np.broadcast_to(past[-1], own.shape)
        totals = rest.sum(axis=1, keepdims=True)
        wanted = rest / np.where(totals == 0, 1, totals) * (1 - self.share)
        wanted[:, list(self.favoured)] += self.share / len(self.favoured)
        return scale_units(wanted)


@dataclass(frozen=True, slots=True)
class ValidatorSeat:
    """A validator of the population. `spread` is the noise of its own tasks and senses; more is worse work."""

    stake: int
    strategy: ValidatorStrategy
    spread: float = 0.05


def scale_units(values: NDArray[np.int64] | NDArray[np.float64]) -> Units:
    """Values as u16, the largest of each row 65535; a row of zeros stays one.

    >>> scale_units(np.array([[1.0, 0.5], [0.0, 0.0]])).tolist()
    [[65535, 32768], [0, 0]]
    """
    largest = values.max(axis=-1, keepdims=True)
    return np.floor(values / np.where(largest == 0, 1, largest) * U16_MAX + 0.5).astype(np.int64)
