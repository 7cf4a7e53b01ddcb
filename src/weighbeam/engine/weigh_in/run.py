"""One weigh-in: read the chain, filter, gate, weigh, decide, write it down, and submit it through the ledger."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import func, select

from weighbeam.chain.contract import Chain, ChainFault, Metagraph, Neuron, Rules
from weighbeam.core.canonical import canonical_json
from weighbeam.engine.journal import Journal, append_entry
from weighbeam.engine.ledger import Ledger, Plan, Row
from weighbeam.engine.weigh_in.decide import Decision, Payee, decide_weights
from weighbeam.engine.weigh_in.eligible import Eligible, Node, Reason, ValidatorList, filter_serving
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.engine.weigh_in.mode import Mode, ModeName, choose_mode
from weighbeam.mechanisms.contract import Mechanism, Params, Standing, hash_params
from weighbeam.store import tables
from weighbeam.store.blobs import keep_blobs


@dataclass(frozen=True, slots=True)
class Scale:
    """What one mechanism is weighed with."""

    mechanism: Mechanism
    params: Params
    journal: Journal
    ledger: Ledger
    chain: Chain
    own_hotkey: str
    validators: ValidatorList = field(default_factory=ValidatorList)


@dataclass(frozen=True, slots=True)
class Weighing:
    """All that a decision rests on, so that it can be made again."""

    payees: tuple[Payee, ...]
    now: float
    mode: ModeName
    blocks: int
    rate_limit: int
    limits: WeighInLimits
    list_ok: bool
    confirmed: bool

    def decide(self) -> Decision:
        return decide_weights(
            self.payees, self.now, self.mode, self.blocks, self.rate_limit, self.limits, self.confirmed, self.list_ok
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "payees": [[payee.hotkey, payee.uid, payee.raw, payee.last_success_at] for payee in self.payees],
            "now": self.now,
            "mode": self.mode,
            "blocks": self.blocks,
            "rate_limit": self.rate_limit,
            "limits": self.limits.model_dump(),
            "list_ok": self.list_ok,
            "confirmed": self.confirmed,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Weighing":
        payees = tuple(Payee(*row) for row in given["payees"])
        limits = WeighInLimits(**given["limits"])
        rest = (given["mode"], given["blocks"], given["rate_limit"], limits, given["list_ok"], given["confirmed"])
        return cls(payees, given["now"], *rest)


@dataclass(frozen=True, slots=True)
class WeighedIn:
    """What a weigh-in came to."""

    decision: Decision
    mode: Mode
    excluded: Mapping[str, str]
    submission: Row | None


async def weigh_in(scale: Scale, now: float) -> WeighedIn:
    """Settle what is open, then decide and submit. A decision is in the journal before anything is sent."""
    try:
        await scale.ledger.settle(scale.chain, scale.own_hotkey)
        graph, rules = await scale.chain.metagraph(), await scale.chain.rules()
        blocks = await scale.chain.blocks_since_update(scale.own_hotkey)
    except ChainFault:
        limits = WeighInLimits()
        mode = choose_mode(None, None, limits)
        decision = decide_weights([], now, mode.mode, 0, 0, limits, confirmed=False)
        return WeighedIn(decision, mode, {}, None)
    own = graph.find(scale.own_hotkey)
    if own is None:
        blocks = None
    elif own.last_update == 0:
        blocks = graph.block - own.registered_at
    limits = scale_limits(rules.activity_cutoff)
    mode = choose_mode(blocks, None, limits)
    eligible = find_eligible(scale, graph, limits)
    payees = gather_payees(scale, graph, eligible.hotkeys, mode, now)
    since = rules.rate_limit if own is not None and own.last_update == 0 else mode.blocks or 0
    weighing = Weighing(
        tuple(payees), now, mode.mode, since, rules.rate_limit, limits, eligible.list_ok, mode.confirmed
    )
    decision = weighing.decide()
    entry = write_entry(scale, weighing, decision)
    submission = None
    if decision.action == "submit" and scale.ledger.unsettled() is None:
        plan = _plan(scale, decision, mode, graph, rules, entry)
        submission = await scale.ledger.send(scale.ledger.plan(plan, now), scale.chain)
        with suppress(ChainFault):
            submission = await scale.ledger.settle(scale.chain, scale.own_hotkey) or submission
    return WeighedIn(decision, mode, eligible.excluded, submission)


def scale_limits(cutoff: int) -> WeighInLimits:
    """The block thresholds of the chain's own limit: 80 and 90 per cent of it."""
    return WeighInLimits(limit_blocks=cutoff, degraded_blocks=cutoff * 8 // 10, emergency_blocks=cutoff * 9 // 10)


def find_eligible(scale: Scale, graph: Metagraph, limits: WeighInLimits) -> Eligible:
    """The serving filter; a validator permit excludes too."""
    found = filter_serving(scale.own_hotkey, [_node(neuron) for neuron in graph.neurons], scale.validators, limits)
    permitted = {neuron.hotkey for neuron in graph.neurons if neuron.permit}
    kept = tuple(hotkey for hotkey in found.hotkeys if hotkey not in permitted)
    dropped: dict[str, Reason] = {hotkey: "known_validator" for hotkey in found.hotkeys if hotkey in permitted}
    return Eligible(kept, {**found.excluded, **dropped}, found.list_ok)


def gather_payees(scale: Scale, graph: Metagraph, eligible: Sequence[str], mode: Mode, now: float) -> list[Payee]:
    """The eligible with their raw weights and last successes."""
    successes = read_successes(scale, eligible, mode, now)
    standings = scale.journal.standings(scale.mechanism.name)
    raw = weigh_fresh(scale.mechanism, scale.params, standings, successes, mode.mode)
    uid_of = {neuron.hotkey: neuron.uid for neuron in graph.neurons}
    return [Payee(hotkey, uid_of[hotkey], float(raw.get(hotkey, 0.0)), successes[hotkey]) for hotkey in eligible]


def read_successes(scale: Scale, hotkeys: Collection[str], mode: Mode, now: float) -> dict[str, float | None]:
    """When each miner last succeeded, as the gate counts it: not being asked inside the window makes nobody stale."""
    table = tables.evaluations
    window = now - (mode.freshness_hours or 0) * 3600
    query = (
        select(
            table.c.hotkey,
            func.max(table.c.at).filter(table.c.success).label("success"),
            func.max(table.c.at).label("asked"),
        )
        .where(table.c.mechanism == scale.mechanism.name)
        .group_by(table.c.hotkey)
    )
    with scale.journal.store.read() as connection:
        rows = {row.hotkey: (row.success, row.asked) for row in connection.execute(query)}
    found: dict[str, float | None] = {}
    for hotkey in hotkeys:
        success, asked = rows.get(hotkey, (None, None))
        unasked = asked is not None and asked < window
        found[hotkey] = now if success is not None and unasked else success
        if mode.freshness_hours is not None and found[hotkey] is not None and (found[hotkey] or 0) < window:
            found[hotkey] = None
    return found


def weigh_fresh(
    mechanism: Mechanism, params: Params, standings: Sequence[Standing], weighed: Mapping[str, float | None], mode: str
) -> Mapping[str, float]:
    """Raw weights of the fresh; a stale miner is not weighed at all, so it uses up no place. Pure."""
    fresh = {hotkey for hotkey, success in weighed.items() if mode == "EMERGENCY" or success is not None}
    return mechanism.weigh(params, standings, fresh).raw


def write_entry(scale: Scale, weighing: Weighing, decision: Decision) -> str:
    """The decision and all it rests on, as a link of the journal."""
    body: dict[str, Any] = {
        "mechanism": scale.mechanism.name,
        "params": scale.params.model_dump(mode="json"),
        "weighing": weighing.as_json(),
        "decision": asdict(decision),
    }
    ref = secrets.token_hex(16)
    with scale.journal.store.write() as connection:
        (digest,) = keep_blobs(connection, [canonical_json(body)])
        return append_entry(connection, "weigh_in", ref, digest)[1]


def _plan(scale: Scale, decision: Decision, mode: Mode, graph: Metagraph, rules: Rules, entry: str) -> Plan:
    own = graph.find(scale.own_hotkey)
    holder = {neuron.uid: neuron for neuron in graph.neurons}
    return Plan(
        uids=decision.uids,
        values=decision.values,
        holders=tuple((holder[uid].hotkey, holder[uid].registered_at) for uid in decision.uids),
        version_key=rules.version_key,
        reveal_period=rules.reveal_period,
        block=graph.block,
        epoch=rules.epoch_index,
        last_update_before=own.last_update if own else 0,
        commit_reveal=rules.commit_reveal,
        mode=mode.mode,
        params_hash=hash_params(scale.mechanism, scale.params, {}),
        entry=entry,
    )


def _node(neuron: Neuron) -> Node:
    host, _, port = (neuron.endpoint or "").rpartition(":")
    numeric = port.isascii() and port.isdecimal() and len(port) <= 5
    return Node(neuron.hotkey, neuron.uid, neuron.stake, host.strip("[]") or None, int(port) if numeric else None)
