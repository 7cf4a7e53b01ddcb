"""What the rounds of a mechanism have led to: the state that a replay carries along and a checkpoint writes down."""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from weighbeam.core.canonical import Json
from weighbeam.engine.seen import Seen, note_round
from weighbeam.engine.weigh_in.assess import stand_by_averages
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.ema import Evaluation, fold_emissions
from weighbeam.mechanisms.contract import Mechanism, Scored, Standing

TIME = attrgetter("at")


@dataclass(slots=True)
class Reached:
    """Standings, last successes, and the emissions that averages may still need, oldest first."""

    standings: tuple[Standing, ...] = ()
    seen: dict[str, Seen] = field(default_factory=dict)
    emissions: dict[str, list[Evaluation]] = field(default_factory=dict)

    def note(self, round_id: str, at: float, departed: Collection[str], scored: Scored) -> None:
        """Take a round's scores in; `standings` is set by who computed them."""
        self.seen = note_round(self.seen, departed, at, scored)
        paid = scored.summary.get("emissions", {})
        for score in scored.scores:
            emission = paid.get(score.hotkey)
            if score.status != "unscored" and emission is not None:
                insort(self.emissions.setdefault(score.hotkey, []), Evaluation(at, round_id, emission), key=TIME)

    def stand(
        self, mechanism: Mechanism, hotkeys: Collection[str], now: float, averaging: Averaging, lookback: bool
    ) -> tuple[Standing, ...]:
        """The standings a weigh-in at `now` rests on."""
        if mechanism.rule.standing == "own":
            return self.standings
        hours = averaging.ema_lookback_hours if lookback else averaging.db_retention_hours
        averages = {
            hotkey: fold_emissions(self._since(hotkey, now - hours * 3600), now, averaging.ema_alpha, hours)
            for hotkey in hotkeys
        }
        return stand_by_averages(averages)

    def _since(self, hotkey: str, at: float) -> Sequence[Evaluation]:
        """Only these: a journal of months has many more than any window."""
        rows = self.emissions.get(hotkey, [])
        return rows[bisect_left(rows, at, key=TIME) :]

    def forget_before(self, at: float) -> None:
        kept = {hotkey: [row for row in rows if row.at >= at] for hotkey, rows in self.emissions.items()}
        self.emissions = {hotkey: rows for hotkey, rows in kept.items() if rows}

    def as_json(self) -> Json:
        return {
            "standings": [[s.hotkey, s.value, dict(s.detail)] for s in self.standings],
            "seen": [[hotkey, one.asked_at, one.success_at] for hotkey, one in sorted(self.seen.items())],
            "emissions": [
                [hotkey, row.at, row.round, row.emission]
                for hotkey, rows in sorted(self.emissions.items())
                for row in rows
            ],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Sequence[Any]]) -> "Reached":
        emissions: dict[str, list[Evaluation]] = {}
        for hotkey, at, round_id, emission in given["emissions"]:
            insort(emissions.setdefault(hotkey, []), Evaluation(at, round_id, emission), key=TIME)
        standings = tuple(Standing(hotkey, value, detail) for hotkey, value, detail in given["standings"])
        return cls(standings, {hotkey: Seen(asked, good) for hotkey, asked, good in given["seen"]}, emissions)
