"""The chain as a population of validators meets it: rows come into force, epochs pay, miners are replaced.

Validators are the uids before all miners. Each epoch is the exact one; bonds stay arrays between them.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.yuma.arrays import DenseEpoch, DenseSubnet
from weighbeam.core.yuma.dense import run_dense
from weighbeam.lab.validators.strategies import Units


class LabChain:
    """Weight rows and bonds of `stake` validators over `miners`."""

    def __init__(self, stake: Sequence[int], miners: int, rules: SubnetParameters) -> None:
        self.stake = [*stake, *([0] * miners)]
        self.validators, self.rules = len(stake), rules
        self.params = rules.yuma(owner_uid=None)
        count = len(self.stake)
        shape = (self.validators, count)
        self.block = rules.tempo
        self.rows = np.arange(self.validators)
        self.permits = np.arange(count) < self.validators
        self.last_update = np.zeros(count, dtype=np.int64)
        self.registered_at = np.zeros(count, dtype=np.int64)
        self.weights = np.zeros(shape, dtype=np.uint16)
        self.made_at = np.zeros(count, dtype=np.int64)
        self.bonds, self.bonded = np.zeros(shape, dtype=np.uint16), np.zeros(shape, dtype=np.bool_)
        self.pending: deque[tuple[int, Units]] = deque()

    def submit(self, units: Units) -> None:
        """Every validator's row [validators, miners], just before the next epoch; a row of zeros sets nothing.

        With commit-reveal a row comes into force `reveal_period` epochs after it was made.
        """
        at = self.block - 1
        sets = units.any(axis=1)
        self.last_update[: self.validators][sets] = at
        self.pending.append((at, units))
        if len(self.pending) > (self.rules.reveal_period if self.rules.commit_reveal else 0):
            made_at, revealed = self.pending.popleft()
            sets = revealed.any(axis=1)
            self.weights[sets, self.validators :] = revealed[sets]
            self.made_at[: self.validators][sets] = made_at

    def replace(self, miners: NDArray[np.intp]) -> None:
        """New neurons under these columns, registered in the middle of the tempo that begins."""
        self.registered_at[self.validators + miners] = self.block - self.rules.tempo // 2

    def find_mortal(self) -> NDArray[np.bool_]:
        """Which miners are past their immunity."""
        mortal: NDArray[np.bool_] = self.block - self.registered_at[self.validators :] >= self.rules.immunity_period
        return mortal

    def step(self) -> DenseEpoch:
        """The epoch that is due."""
        epoch = run_dense(self.read(), self.params)
        self.bonds, self.bonded, self.permits = epoch.bonds, epoch.bonded, epoch.permits
        self.block += self.rules.tempo
        return epoch

    def read(self) -> DenseSubnet:
        """Read the inputs of the epoch."""
        return DenseSubnet(
            block=self.block,
            stake=self.stake,
            permits=self.permits,
            last_update=self.last_update,
            registered_at=self.registered_at,
            rows=self.rows,
            weights=self.weights,
            weighed=self.weights > 0,
            bonds=self.bonds,
            bonded=self.bonded,
            last_step_block=self.block - self.rules.tempo,
            commit_blocks=self.made_at if self.rules.commit_reveal else None,
        )
