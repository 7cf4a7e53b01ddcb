"""Labelled rounds that come with the mechanism."""

from pathlib import Path

from weighbeam.lab.validity.kinds import RowKind
from weighbeam.lab.validity.rounds import make_round_kind
from weighbeam.mechanism.base import Mechanism

SAMPLE = Path(__file__).parent / "samples" / "rounds.jsonl"


def list_row_kinds(mechanism: Mechanism) -> tuple[RowKind, ...]:
    return (make_round_kind(mechanism, SAMPLE),)
