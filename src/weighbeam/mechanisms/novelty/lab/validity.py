"""Labelled pairs: what a desk that knows the first text of every pair would pay for the second."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity.kinds import LabelledRow, RowFormat, RowKind, convert_each, has_fields
from weighbeam.lab.validity.labels import REPEAT_MEANINGS, measure_repeats
from weighbeam.lab.validity.measures import Findings, Measured
from weighbeam.mechanisms.novelty.desk.bulk_import import import_lines
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.opening import open_novelty
from weighbeam.mechanisms.novelty.observe import REFUSALS
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import reward_units
from weighbeam.senses.ports.protocols import Senses

SAMPLE = Path(__file__).parent / "samples" / "pairs.jsonl"
MAX_TEXT = 1_000_000
SAME_SCORE, OTHER_SCORE = 4.0, 1.0
"""Of a scale from 0 to 5: what lies between is neither a repetition nor new."""
LOWEST = -1_000_000
BITS = {"0": False, "1": True, "false": False, "true": True}


class PairRow(LabelledRow):
    """Two texts, and whether the second says the same as the first."""

    a: str = Field(min_length=1, max_length=MAX_TEXT)
    b: str = Field(min_length=1, max_length=MAX_TEXT)
    same: bool = Field(strict=True)

    @field_validator("same", mode="before")
    @classmethod
    def _parse(cls, same: object) -> object:
        """Also as the public sets write it."""
        return same if isinstance(same, bool) else BITS.get(str(same).casefold(), same)


@dataclass(frozen=True, slots=True)
class PaidText:
    """`share` is of the greatest pay; a text that is held is not paid until somebody releases it."""

    share: float
    refused: bool


def judge_pairs(params: NoveltyParams, rows: Sequence[PairRow], senses: Senses) -> Iterator[PaidText]:
    """One desk for the set, in a store that is gone afterwards: every `a` is known, no `b` ever is."""
    greatest = reward_units(LOWEST, params)
    with TemporaryDirectory() as folder:
        desk = open_novelty(Path(folder) / "novelty.db", params=params, senses=senses)
        try:
            known = "".join(json.dumps({"text": text}) + "\n" for text in dict.fromkeys(row.a for row in rows))
            import_lines(desk, BytesIO(known.encode()), "known", lambda _: None)
            for row in rows:
                yield _check(desk, row.b, greatest)
        finally:
            desk.store.close()


def _check(desk: NoveltyDesk, text: str, greatest: int) -> PaidText:
    try:
        found = desk.check(text)
    except WeighbeamError as fault:
        if fault.code not in REFUSALS:
            raise
        return PaidText(0.0, True)
    paid = found.units if found.status == "paid" else 0
    return PaidText(paid / greatest if greatest else 0.0, found.status in ("refused", "held"))


def measure_pairs(rows: Sequence[PairRow], outcomes: Sequence[PaidText], chance: np.random.Generator) -> Measured:
    same, pay = [row.same for row in rows], [one.share for one in outcomes]
    return measure_repeats(Findings(chance), same, pay, [one.refused for one in outcomes])


def _keep_labelled(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return None if fields["same"] in (None, "") else fields


def _rename(name: str, first: str, second: str, label: str) -> RowFormat:
    """A public set by its columns."""

    def change(fields: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"a": fields[first], "b": fields[second], "same": fields[label]}

    return RowFormat(name, has_fields(first, second, label), convert_each(change))


def _convert_scored(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    try:
        score = float(fields["score"])
    except (TypeError, ValueError):
        score = float("nan")
    if OTHER_SCORE < score < SAME_SCORE:
        return None
    same = score >= SAME_SCORE if 0 <= score <= 5 else fields["score"]
    return {"a": fields["sentence1"], "b": fields["sentence2"], "same": same}


ROW_KINDS = (
    RowKind(
        name="pair",
        row=PairRow,
        formats=(
            RowFormat("pair", has_fields("a", "b", "same"), convert_each(_keep_labelled)),
            _rename("qqp", "question1", "question2", "is_duplicate"),
            _rename("paws", "sentence1", "sentence2", "label"),
            _rename("mrpc", "#1 String", "#2 String", "Quality"),
            RowFormat("sts-b", has_fields("sentence1", "sentence2", "score"), convert_each(_convert_scored)),
        ),
        judge=judge_pairs,
        measure=measure_pairs,
        meanings=REPEAT_MEANINGS,
        sample=SAMPLE,
    ),
)
