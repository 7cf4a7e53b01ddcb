"""A teacher beside the training of the student: its probabilities become part of what the student learns.

What the teacher says of a pair is computed once, when the pair is first drawn, and kept in the run's folder.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from model import collate
from pairs import Example
from teacher import Teacher, read_teacher

SHARE = 0.7
"""The weight of the teacher's probabilities beside the label's."""


class Guide:
    """The teacher, and what it has said of the pairs by their number."""

    def __init__(self, teacher: Teacher, kept: Path, guided: Sequence[bool], bf16: bool) -> None:
        self.teacher, self.kept, self.guided, self.bf16 = teacher.eval(), kept, guided, bf16
        self.said = np.full((len(guided), 3), np.nan, dtype=np.float16)
        if kept.exists():
            before = np.load(kept)
            if before.shape != self.said.shape:
                raise SystemExit(f"{kept} is of other pairs: remove it, or name another run")
            self.said = before

    def save(self) -> None:
        """Write beside the file first, so that a kill leaves the last one whole."""
        fresh = self.kept.with_suffix(".new.npy")
        np.save(fresh, self.said)
        fresh.replace(self.kept)

    def guide(self, indices: Sequence[int], rows: Sequence[Example]) -> list[Example]:
        """The rows with what the teacher says of them mixed into their targets."""
        new = [place for place, index in enumerate(indices) if self.guided[index] and np.isnan(self.said[index, 0])]
        if new:
            with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
                logits = self.teacher(collate([rows[place] for place in new])).float()
            self.said[[indices[place] for place in new]] = logits.softmax(dim=1).numpy()
        return [
            _mix(row, self.said[index]) if self.guided[index] else row for index, row in zip(indices, rows, strict=True)
        ]


def _mix(row: Example, said: np.ndarray) -> Example:
    against, open_, for_ = (
        (1 - SHARE) * own + SHARE * float(other) for own, other in zip(row.target, said, strict=True)
    )
    return replace(row, target=(against, open_, for_))


def open_guide(base: Path, trained: Path, run: Path, guided: Sequence[bool], bf16: bool) -> Guide:
    """`guided` says of each pair whether the teacher has a say in it."""
    return Guide(read_teacher(base, trained), run / "said.npy", guided, bf16)
