"""Kinds of labelled rows for validity, and their formats.

A mechanism names its kinds in `Mechanism.row_kinds`; without any, labelled rounds are used. A kind says how a
row is parsed, how the mechanism judges it, and which figures result.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity.measures import Measured
from weighbeam.lab.validity.records import DataRecord
from weighbeam.senses.ports.protocols import Senses

MAX_SET = 100


class LabelledRow(BaseModel):
    """One labelled case. Fields that its kind does not name are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    set: str = Field(min_length=1, max_length=MAX_SET)
    _place: str = PrivateAttr("")

    @property
    def place(self) -> str:
        """The file and line it came from."""
        return self._place

    def put(self, place: str) -> None:
        self._place = place

    def refuse(self, message: str, remedy: str) -> WeighbeamError:
        return WeighbeamError("bad_rows", f"{self.place}: {message}", remedy)


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A way to write rows of a kind.

    `fits` tells by its fields whether a record is one. `convert` gets every such record of all files and gives records
    with the fields of the kind's row; None stands for one that is left out, such as a pair that nobody has labelled.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    convert: Callable[[Sequence[DataRecord]], Iterable[DataRecord | None]] = iter


@dataclass(frozen=True, slots=True)
class RowKind:
    """`judge` gives one outcome for each row of a set, in order; `measure` compares rows and outcomes, and draws from
    `chance` alone. `meanings` has a sentence for each figure. `sample` is a set that comes with the mechanism."""

    name: str
    row: type[LabelledRow]
    formats: Sequence[RowFormat]
    judge: Callable[[Any, Sequence[Any], Senses], Iterable[Any]]
    measure: Callable[[Sequence[Any], Sequence[Any], np.random.Generator], Measured]
    meanings: Mapping[str, str] = field(default_factory=dict)
    sample: Path | None = None


def has_fields(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a record has all of these."""
    return lambda fields: all(name in fields for name in names)


def convert_each(
    change: Callable[[Mapping[str, Any]], Mapping[str, Any] | None],
) -> Callable[[Sequence[DataRecord]], Iterable[DataRecord | None]]:
    """Records one by one; None leaves one out."""

    def convert(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
        for record in records:
            changed = change(record.fields)
            yield None if changed is None else record.change(changed)

    return convert
