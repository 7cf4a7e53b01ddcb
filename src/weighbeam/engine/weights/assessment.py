"""Assess what a weigh-in would do now: one snapshot of the chain, then filter, gate, average and decide from the
journal.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from weighbeam.chain.contract import Chain, ChainFault, ChainRules, Metagraph, Neuron
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.projections import select_last_seen, select_standings
from weighbeam.engine.rules.averages import Average, stand_by_averages
from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.decision import Decision, find_burn
from weighbeam.engine.rules.eligible import Eligible, Reason, ServingNode, ValidatorList, filter_serving
from weighbeam.engine.rules.mode import Estimate, Mode, choose_mode
from weighbeam.engine.rules.weighing import Weighing, list_payees
from weighbeam.engine.weights.discovery import Discovery
from weighbeam.engine.weights.emissions import count_later, select_averages
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.network.address import parse_endpoint
from weighbeam.network.endpoints import Endpoint
from weighbeam.store.database import Store
from weighbeam.store.memory import recall, remember


@dataclass(frozen=True, slots=True)
class WeighInContext:
    """Dependencies of one mechanism's weigh-in."""

    mechanism: Mechanism
    params: Params
    journal: Journal
    ledger: Ledger
    chain: Chain
    own_hotkey: str
    validators: Callable[[], ValidatorList] = ValidatorList
    averaging: Averaging = field(default_factory=Averaging)
    discovery: Discovery = field(default_factory=Discovery)
    burn_hotkey: str | None = None
    version_key: int = 0


@dataclass(frozen=True, slots=True)
class ChainSnapshot:
    """State of the chain at one moment; `fault` is set if it cannot be read."""

    graph: Metagraph | None
    rules: ChainRules | None
    blocks: int | None
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    validators: ValidatorList = field(default_factory=ValidatorList)
    first: bool = False
    fault: ChainFault | None = None


@dataclass(frozen=True, slots=True)
class WeighInAssessment:
    """A decision and everything it rests on."""

    weighing: Weighing
    decision: Decision
    mode: Mode
    eligible: Eligible
    averages: dict[str, Average]
    future: int = 0


async def fetch_snapshot(context: WeighInContext) -> ChainSnapshot:
    """Fetch one chain snapshot. `first`: the chain holds no weights of this validator yet, so no rate limit applies."""
    try:
        graph, rules = await context.chain.metagraph(), await context.chain.rules()
        blocks = await context.chain.blocks_since_update(context.own_hotkey)
    except ChainFault as fault:
        return ChainSnapshot(None, None, None, fault=fault)
    endpoints, known = await context.discovery.look(graph), await asyncio.to_thread(context.validators)
    own = graph.find(context.own_hotkey)
    if own is None:
        gone = ChainFault("not_registered", f"{context.own_hotkey} is not registered", "register the hotkey")
        return ChainSnapshot(graph, rules, None, endpoints, known, fault=gone)
    if own.last_update == 0:
        included = await asyncio.to_thread(context.ledger.last_included_block)
        ours = included if included is not None and included >= own.registered_at else graph.block
        return ChainSnapshot(graph, rules, graph.block - ours, endpoints, known, first=True)
    return ChainSnapshot(graph, rules, blocks, endpoints, known)


def assess(
    connection: Connection, context: WeighInContext, reading: ChainSnapshot, estimate: Estimate | None, now: float
) -> WeighInAssessment:
    """The decision that follows from the chain's reading and the journal as this transaction sees it."""
    limits = derive_limits(reading.rules) if reading.rules else WeighInLimits()
    mode = choose_mode(reading.blocks, estimate, limits)
    graph = reading.graph
    eligible = (
        find_eligible(context, graph, limits, reading.endpoints, reading.validators)
        if graph
        else Eligible((), {}, True)
    )
    uid_of = {neuron.hotkey: neuron.uid for neuron in graph.neurons} if graph else {}
    uids = {hotkey: uid_of[hotkey] for hotkey in eligible.hotkeys}
    name, averages = context.mechanism.name, dict[str, Average]()
    standings = select_standings(connection, name)
    if context.mechanism.rule.standing == "emissions":
        averages = select_averages(connection, name, uids, now, context.averaging, mode.lookback)
        standings = stand_by_averages(averages, standings)
    seen = select_last_seen(connection, name)
    burn = find_burn(context.mechanism, context.params, context.burn_hotkey, graph)
    payees = list_payees(context.mechanism, context.params, uids, standings, seen, now, mode.freshness_hours, burn)
    rate_limit = reading.rules.rate_limit if reading.rules else 0
    since = rate_limit if reading.first else mode.blocks or 0
    weighing = Weighing(
        payees, now, mode.mode, since, rate_limit, limits, eligible.list_ok, mode.confirmed, context.averaging, burn
    )
    return WeighInAssessment(weighing, weighing.decide(), mode, eligible, averages, count_later(connection, name, now))


def derive_limits(rules: ChainRules) -> WeighInLimits:
    """The block thresholds of the chain's own limit: 80 and 90 per cent of it."""
    cutoff = rules.activity_cutoff
    return WeighInLimits(limit_blocks=cutoff, degraded_blocks=cutoff * 8 // 10, emergency_blocks=cutoff * 9 // 10)


def find_eligible(
    context: WeighInContext,
    graph: Metagraph,
    limits: WeighInLimits,
    endpoints: Mapping[str, Endpoint],
    validators: ValidatorList,
) -> Eligible:
    """The serving filter; where the mechanism says so, a validator permit excludes too."""
    nodes = [_node(neuron, endpoints.get(neuron.hotkey)) for neuron in graph.neurons]
    found = filter_serving(context.own_hotkey, nodes, validators, limits)
    if not context.mechanism.rule.exclude_permits:
        return found
    permitted = {neuron.hotkey for neuron in graph.neurons if neuron.permit}
    kept = tuple(hotkey for hotkey in found.hotkeys if hotkey not in permitted)
    dropped: dict[str, Reason] = {hotkey: "permit" for hotkey in found.hotkeys if hotkey in permitted}
    return Eligible(kept, {**found.excluded, **dropped}, found.list_ok)


def _node(neuron: Neuron, endpoint: Endpoint | None) -> ServingNode:
    try:
        place = None if endpoint is None or not _names_port(endpoint.url) else parse_endpoint(endpoint.url)
    except WeighbeamError:
        place = None
    return ServingNode(
        neuron.hotkey, neuron.uid, neuron.stake, place.host if place else None, place.port if place else None
    )


def _names_port(url: str) -> bool:
    """A scheme implies a port; a bare host does not."""
    return "://" in url or url.rpartition(":")[2].isdecimal()


INTERVAL_BLOCKS = 360
"""A weigh-in's interval of 72 minutes in blocks of 12 seconds."""


def is_late(reading: ChainSnapshot) -> bool:
    """More than one and a half tempos since our weights, or weigh-ins where a tempo is shorter than their interval."""
    if reading.rules is None or reading.blocks is None or reading.first:
        return False
    return 2 * reading.blocks > 3 * max(reading.rules.tempo, INTERVAL_BLOCKS)


def estimate_age(context: WeighInContext, reading: ChainSnapshot, now: float) -> Estimate | None:
    """The last confirmed reading, for a chain that cannot be read; a reading that can be is kept for later."""
    if reading.blocks is not None:
        remember(context.journal.store, name_blocks(context.mechanism.name), {"blocks": reading.blocks, "at": now})
        return None
    return recall_age(context, now)


def recall_age(context: WeighInContext, now: float) -> Estimate | None:
    kept = recall(context.journal.store, name_blocks(context.mechanism.name))
    return None if kept is None else Estimate(kept["blocks"], now - kept["at"])


def recall_blocks(store: Store, mechanism: str) -> tuple[int, float] | None:
    """How many blocks old our weights were when that was known last, and when that was."""
    kept = recall(store, name_blocks(mechanism))
    return None if kept is None else (int(kept["blocks"]), float(kept["at"]))


def name_blocks(mechanism: str) -> str:
    """Under which name it is remembered."""
    return f"blocks:{mechanism}"
