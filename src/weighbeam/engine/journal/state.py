"""State that the rounds of a mechanism lead to: carried along by the fold, written down by a checkpoint."""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from weighbeam.core.canonical import Json
from weighbeam.engine.rules.averages import Evaluation, fold_emissions, stand_by_averages
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.rules.last_seen import LastSeen, note_round
from weighbeam.engine.rules.weighing import Weighing, list_payees
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Observation, Scored, Standing

TIME = attrgetter("at")


def apply_round(
    mechanism: Mechanism,
    params: Params,
    departed: Collection[str],
    observation: Observation,
    before: Sequence[Standing],
) -> tuple[Scored, tuple[Standing, ...]]:
    """Scores and standings that follow from an observed round: pure, the same live, in replay and in the lab."""
    gone = set(departed)
    staying = tuple(standing for standing in before if standing.hotkey not in gone)
    scored = mechanism.score(params, observation)
    return scored, mechanism.stand(params, staying, scored)


@dataclass(slots=True)
class ReplayState:
    """Standings, last successes, and the emissions that averages may still need, oldest first."""

    standings: tuple[Standing, ...] = ()
    seen: dict[str, LastSeen] = field(default_factory=dict)
    emissions: dict[str, list[Evaluation]] = field(default_factory=dict)

    def take(
        self, round_id: str, at: float, departed: Collection[str], scored: Scored, standings: tuple[Standing, ...]
    ) -> None:
        """Take in a round's scores and the standings they led to."""
        self.standings = standings
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
        return stand_by_averages(averages, self.standings)

    def weigh(self, mechanism: Mechanism, params: Params, weighing: Weighing) -> Weighing:
        """`weighing` with the raw weights and last successes that this state leads to; its payees say who is eligible.

        Who takes a burnt share is not a miner. An emergency looks back as far as it can and has no gate.
        """
        burn, limits = weighing.burn, weighing.limits
        uids = {payee.hotkey: payee.uid for payee in weighing.payees if burn is None or payee.hotkey != burn.hotkey}
        emergency = weighing.mode == "EMERGENCY"
        gate = limits.freshness_hours if weighing.mode == "NORMAL" else limits.freshness_hours_degraded
        standings = self.stand(mechanism, uids, weighing.now, weighing.averaging, lookback=not emergency)
        fresh = None if emergency else gate
        payees = list_payees(mechanism, params, uids, standings, self.seen, weighing.now, fresh, burn)
        return replace(weighing, payees=payees)

    def _since(self, hotkey: str, at: float) -> Sequence[Evaluation]:
        """Only these: a journal of months has many more than any window."""
        rows = self.emissions.get(hotkey, [])
        return rows[bisect_left(rows, at, key=TIME) :]

    def forget_before(self, at: float) -> None:
        kept = {hotkey: [row for row in rows if row.at >= at] for hotkey, rows in self.emissions.items()}
        self.emissions = {hotkey: rows for hotkey, rows in kept.items() if rows}

    def copy(self) -> "ReplayState":
        emissions = {hotkey: list(rows) for hotkey, rows in self.emissions.items()}
        return ReplayState(self.standings, dict(self.seen), emissions)

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
    def from_json(cls, given: Mapping[str, Sequence[Any]]) -> "ReplayState":
        emissions: dict[str, list[Evaluation]] = {}
        for hotkey, at, round_id, emission in given["emissions"]:
            insort(emissions.setdefault(hotkey, []), Evaluation(at, round_id, emission), key=TIME)
        standings = tuple(Standing(hotkey, value, detail) for hotkey, value, detail in given["standings"])
        return cls(standings, {hotkey: LastSeen(asked, good) for hotkey, asked, good in given["seen"]}, emissions)
