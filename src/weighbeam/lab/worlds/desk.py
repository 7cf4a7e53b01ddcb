"""A desk of a season: each contribution is measured, judged and paid when it comes in, in the order of coming."""

from collections import Counter
from dataclasses import replace
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.measure import Measured, measure_text
from weighbeam.mechanisms.novelty.observe import REFUSALS, make_event
from weighbeam.mechanisms.novelty.order import Contribution, Line
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.ports import Senses


class Desk:
    """`paid` is what each hotkey got, in units. `known` are texts measured before, in whichever season: the same text
    is measured the same."""

    def __init__(self, params: NoveltyParams, senses: Senses, known: dict[str, Measured | None]) -> None:
        self.paid: Counter[str] = Counter()
        self._params, self._senses, self._known = params, senses, known
        self._line = Line(params)

    def take(self, id: str, hotkey: str, text: str, at: float | None) -> dict[str, Any] | None:
        """What a collector finds of it later; None if it is refused."""
        measured = self._measure(text)
        if measured is None:
            return None
        found = self._line.take(Contribution(id, hotkey, measured.text, measured.vectors, not measured.doubts))
        near, judged = found.neighbour, found.judgement
        if judged.status == "paid":
            self.paid[hotkey] += judged.units
        duplicate = judged.status == "duplicate"
        event = make_event(id, measured, near.id if near else None, near.micro if near else None, duplicate)
        return replace(event, status=judged.status, units=judged.units, at=at).as_json()

    def _measure(self, text: str) -> Measured | None:
        if text not in self._known:
            try:
                self._known[text] = measure_text(text, self._params, self._senses)
            except WeighbeamError as refusal:
                if refusal.code not in REFUSALS:
                    raise
                self._known[text] = None
        return self._known[text]
