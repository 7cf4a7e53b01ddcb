"""One side of a backtest: the state that its own scores and decisions lead to, entry by entry, and the age its weights
would have.

As long as both set weights at the same weigh-ins, the chain's own count holds. From the first one that only one of them
set, blocks are counted by the clock, until both set weights again.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from weighbeam.core.canonical import digest_json
from weighbeam.engine.journal.fold import Fold, FoldedRound, FoldedWeighIn, RecordedEntry
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.rules.mode import ModeName, choose_mode
from weighbeam.engine.rules.weighing import Weighing
from weighbeam.lab.backtest.outcome import AnswerOutcome, RoundOutcome, WeighInOutcome
from weighbeam.lab.backtest.overrides import BacktestOverrides
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params

RECORDED = BacktestOverrides()


@dataclass(slots=True)
class SimulatedWeightsAge:
    """Of one side and one mechanism; weights that are decided on are taken to arrive."""

    in_step: bool = True
    blocks: int = 0
    at: float = 0.0

    def count(self, weighing: Weighing) -> int:
        """
        >>> from weighbeam.engine.rules.constants import WeighInLimits
        >>> weighing = Weighing.plan({}, 1200.0, WeighInLimits(), Averaging())
        >>> SimulatedWeightsAge(in_step=False, blocks=300, at=0.0).count(weighing)
        400
        """
        if self.in_step:
            return weighing.blocks
        return self.blocks + max(0, math.floor((weighing.now - self.at) / weighing.limits.block_seconds))

    def note(self, now: float, blocks: int, action: str, recorded: str) -> None:
        """After a weigh-in: what was done, and what the journal did."""
        if action != recorded:
            self.in_step = False
        elif action == "submit":
            self.in_step = True
        self.blocks, self.at = (0 if action == "submit" else blocks), now


class BacktestSide(Fold):
    """The journal's rounds and weigh-ins on these terms; while it is not active, on the journal's own."""

    def __init__(self, terms: BacktestOverrides, start: Mapping[str, ReplayState]) -> None:
        super().__init__(start)
        self.terms = terms
        self.active = True
        self.averaging: dict[str, tuple[float, Averaging]] = {}
        self._ages: dict[str, SimulatedWeightsAge] = defaultdict(SimulatedWeightsAge)

    @property
    def _terms(self) -> BacktestOverrides:
        return self.terms if self.active else RECORDED

    def set_params(self, entry: RecordedEntry) -> Params:
        if not self._terms.params.get(entry.name):
            return entry.params
        return self._terms.set_params(entry.mechanism, entry.body["params"])

    def set_weighing(self, entry: RecordedEntry) -> tuple[Params, Weighing]:
        terms, params, weighing, age = self._terms, self.set_params(entry), entry.weighing, self._ages[entry.name]
        burn = weighing.burn
        if burn is not None:
            burn = replace(burn, share=entry.mechanism.burn_share(params))
        limits, averaging = terms.set_limits(weighing.limits), terms.set_averaging(weighing.averaging)
        weighing = replace(weighing, limits=limits, averaging=averaging, burn=burn)
        if age.in_step and not terms.limits:
            return params, weighing
        blocks = age.count(weighing)
        return params, replace(weighing, blocks=blocks, mode=_name_mode(weighing, blocks))

    def note_weigh_in(self, mechanism: str, folded: FoldedWeighIn, recorded: str) -> None:
        """`recorded` is what the journal did, or for a weigh-in it does not hold, the first side."""
        weighing = folded.weighing
        self._ages[mechanism].note(weighing.now, weighing.blocks, folded.decision.action, recorded)
        self.averaging[mechanism] = (weighing.now, weighing.averaging)

    def stand(self, mechanism: Mechanism, last: float) -> dict[str, float | None]:
        """Where everybody stands in the end; averages as of the last weigh-in, or of the last entry."""
        state = self.reached.get(mechanism.name, ReplayState())
        now, averaging = self.averaging.get(mechanism.name, (last, self.terms.set_averaging(Averaging())))
        standings = state.stand(mechanism, sorted(state.emissions), now, averaging, lookback=True)
        return {standing.hotkey: standing.value for standing in standings}


def _name_mode(weighing: Weighing, blocks: int) -> ModeName:
    """An emergency needs a confirmed reading, as it does live."""
    mode = choose_mode(blocks, None, weighing.limits).mode
    return "DEGRADED" if mode == "EMERGENCY" and not weighing.confirmed else mode


def make_round_outcome(entry: RecordedEntry, folded: FoldedRound) -> RoundOutcome:
    paid = folded.scored.summary.get("emissions", {})
    results = tuple(
        AnswerOutcome(one.hotkey, one.status, one.value, paid.get(one.hotkey), one.reasons)
        for one in folded.scored.scores
    )
    return RoundOutcome(entry.sequence, entry.ref, entry.name, entry.at, folded.digest, results)


def make_weigh_in_outcome(entry: RecordedEntry, folded: FoldedWeighIn) -> WeighInOutcome:
    weighing, decision = folded.weighing, folded.decision
    rows: list[Any] = [[one.hotkey, one.uid, one.raw, one.last_success_at] for one in weighing.payees]
    return WeighInOutcome(
        sequence=entry.sequence,
        ref=entry.ref,
        mechanism=entry.name,
        at=weighing.now,
        digest=digest_json([rows, asdict(decision)]),
        mode=weighing.mode,
        blocks=weighing.blocks,
        action=decision.action,
        reason=decision.reason,
        uniform=decision.uniform,
        shares={hotkey: share for hotkey, share in decision.weights.items() if share},
        uids={payee.hotkey: payee.uid for payee in weighing.payees},
        burn=weighing.burn.hotkey if weighing.burn else None,
        made=entry.decision is None,
        degraded=weighing.limits.degraded_blocks,
        emergency=weighing.limits.emergency_blocks,
        block_seconds=weighing.limits.block_seconds,
    )
