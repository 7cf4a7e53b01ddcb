"""One side of a backtest: the state that its own scores and decisions lead to, entry by entry."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from weighbeam.core.canonical import canonical_json, digest_json
from weighbeam.engine.journal import apply_body
from weighbeam.engine.reached import Reached
from weighbeam.engine.round_bytes import write_outcome
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.decide import Decision
from weighbeam.engine.weigh_in.mode import ModeName, choose_mode
from weighbeam.engine.weigh_in.weighing import Weighing, list_payees
from weighbeam.lab.backtest.age import Age
from weighbeam.lab.backtest.outcome import Result, RoundOutcome, WeighInOutcome
from weighbeam.lab.backtest.terms import Terms
from weighbeam.mechanisms.abilities import Reopens
from weighbeam.mechanisms.contract import Mechanism, Observation, Params, Scored, Standing
from weighbeam.store.blobs import digest_bytes


@dataclass(frozen=True, slots=True)
class KeptRound:
    """A round as the journal holds it: `recorded` is the digest of its body."""

    sequence: int
    ref: str
    mechanism: Mechanism
    recorded: str
    body: Mapping[str, Any]
    observation: Observation


@dataclass(frozen=True, slots=True)
class KeptWeighIn:
    """A weigh-in as the journal holds it, or one that was made up."""

    sequence: int
    ref: str
    mechanism: Mechanism
    params: Mapping[str, Any]
    weighing: Weighing
    decision: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What a round was scored with and led to, for the other side to use if it needs nothing else."""

    params: Params
    before: tuple[Standing, ...]
    scored: Scored
    after: tuple[Standing, ...]


class Side:
    """The journal's rounds and weigh-ins on these terms."""

    def __init__(self, terms: Terms, start: Mapping[str, Reached]) -> None:
        self.terms = terms
        self.active = True
        self.reached = {name: _copy(state) for name, state in start.items()}
        self.averaging: dict[str, tuple[float, Averaging]] = {}
        self._ages: dict[str, Age] = {}

    def take_round(self, kept: KeptRound, other: Applied | None = None) -> tuple[RoundOutcome, Applied]:
        mechanism, body = kept.mechanism, kept.body
        params = self._terms().set_params(mechanism, body["params"])
        state = self.reached.setdefault(mechanism.name, Reached())
        before = state.standings
        if other is not None and other.params == params and other.before == before:
            scored, after = other.scored, other.after
        else:
            scored, after = apply_body(mechanism, params, body, self._observe(kept, params), before)
        state.standings = after
        state.note(kept.ref, body["at"], body["departed"], scored)
        digest = digest_bytes(write_outcome(kept.recorded, scored, after))
        results = tuple(_list_results(scored))
        outcome = RoundOutcome(kept.sequence, kept.ref, mechanism.name, body["at"], digest, results)
        return outcome, Applied(params, before, scored, after)

    def take_weigh_in(self, kept: KeptWeighIn, recorded: str | None) -> tuple[WeighInOutcome, Weighing, Decision]:
        """`recorded` is what the journal did, or for a weigh-in it does not hold, the first side; None for that."""
        mechanism = kept.mechanism
        params = self._terms().set_params(mechanism, kept.params)
        weighing, age = self._set_weighing(kept.weighing, params, mechanism.name)
        state = self.reached.setdefault(mechanism.name, Reached())
        uids = _list_uids(weighing)
        emergency = weighing.mode == "EMERGENCY"
        standings = state.stand(mechanism, uids, weighing.now, weighing.averaging, lookback=not emergency)
        gate = None if emergency else _find_gate(weighing)
        payees = list_payees(mechanism, params, uids, standings, state.seen, weighing.now, gate, weighing.burn)
        weighing = replace(weighing, payees=payees)
        decision = weighing.decide()
        age.note(weighing.now, weighing.blocks, decision.action, recorded or decision.action)
        self.averaging[mechanism.name] = (weighing.now, weighing.averaging)
        return _tell(kept, weighing, decision), weighing, decision

    def forget_before(self, mechanism: str, at: float) -> None:
        """Emissions that no later weigh-in looks back to."""
        if mechanism in self.reached:
            self.reached[mechanism].forget_before(at)

    def stand(self, mechanism: Mechanism, last: float) -> dict[str, float | None]:
        """Where everybody stands in the end; averages as of the last weigh-in, or of the last entry."""
        state = self.reached.get(mechanism.name, Reached())
        now, averaging = self.averaging.get(mechanism.name, (last, self.terms.set_averaging(Averaging())))
        standings = state.stand(mechanism, sorted(state.emissions), now, averaging, lookback=True)
        return {standing.hotkey: standing.value for standing in standings}

    def _observe(self, kept: KeptRound, params: Params) -> Observation:
        """As recorded; what was decided before the round, under other parameters, is decided again."""
        mechanism, observation = kept.mechanism, kept.observation
        if not isinstance(mechanism, Reopens) or params == Terms().set_params(mechanism, kept.body["params"]):
            return observation
        return mechanism.reopen(params, observation)

    def _terms(self) -> Terms:
        return self.terms if self.active else Terms()

    def _set_weighing(self, weighing: Weighing, params: Params, mechanism: str) -> tuple[Weighing, Age]:
        terms, age = self._terms(), self._ages.setdefault(mechanism, Age())
        burn = weighing.burn
        if burn is not None and hasattr(params, "burn_share"):
            burn = replace(burn, share=float(params.burn_share))
        limits, averaging = terms.set_limits(weighing.limits), terms.set_averaging(weighing.averaging)
        weighing = replace(weighing, limits=limits, averaging=averaging, burn=burn)
        if age.in_step and not terms.limits:
            return weighing, age
        blocks = age.count(weighing)
        return replace(weighing, blocks=blocks, mode=_name_mode(weighing, blocks)), age


def _name_mode(weighing: Weighing, blocks: int) -> ModeName:
    """An emergency needs a confirmed reading, as it does live."""
    mode = choose_mode(blocks, None, weighing.limits).mode
    return "DEGRADED" if mode == "EMERGENCY" and not weighing.confirmed else mode


def _find_gate(weighing: Weighing) -> float:
    limits = weighing.limits
    return limits.freshness_hours if weighing.mode == "NORMAL" else limits.freshness_hours_degraded


def _list_uids(weighing: Weighing) -> dict[str, int]:
    """Who is eligible; who takes a burnt share is no miner."""
    target = weighing.burn.hotkey if weighing.burn else None
    return {payee.hotkey: payee.uid for payee in weighing.payees if target is None or payee.hotkey != target}


def _list_results(scored: Scored) -> list[Result]:
    paid = scored.summary.get("emissions", {})
    return [Result(one.hotkey, one.status, one.value, paid.get(one.hotkey), one.reasons) for one in scored.scores]


def _tell(kept: KeptWeighIn, weighing: Weighing, decision: Decision) -> WeighInOutcome:
    rows: list[Any] = [[one.hotkey, one.uid, one.raw, one.last_success_at] for one in weighing.payees]
    return WeighInOutcome(
        sequence=kept.sequence,
        ref=kept.ref,
        mechanism=kept.mechanism.name,
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
        made=kept.decision is None,
        degraded=weighing.limits.degraded_blocks,
        emergency=weighing.limits.emergency_blocks,
        block_seconds=weighing.limits.block_seconds,
    )


def find_fault(kept: KeptWeighIn, weighing: Weighing, decision: Decision) -> str | None:
    """Whether the recorded side reached something else than the journal holds."""
    if kept.decision is None:
        return None
    if weighing.payees != kept.weighing.payees:
        return "raw weights or last successes are not what the rounds lead to"
    return None if canonical_json(asdict(decision)) == canonical_json(dict(kept.decision)) else "the decision differs"


def _copy(state: Reached) -> Reached:
    emissions = {hotkey: list(rows) for hotkey, rows in state.emissions.items()}
    return Reached(state.standings, dict(state.seen), emissions)
