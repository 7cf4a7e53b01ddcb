"""What a weigh-in would do now: read the chain once, then filter, gate, average and decide from the journal."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from weighbeam.chain.contract import Chain, ChainFault, Metagraph, Neuron, Rules
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.discovery import Discovery
from weighbeam.engine.journal import Journal
from weighbeam.engine.lay_out import read_seen, read_standings
from weighbeam.engine.ledger import Ledger
from weighbeam.engine.weigh_in.burn import find_burn
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.weigh_in.decide import Decision
from weighbeam.engine.weigh_in.eligible import Eligible, Node, Reason, ValidatorList, filter_serving
from weighbeam.engine.weigh_in.ema import Average
from weighbeam.engine.weigh_in.emissions import count_later, read_averages
from weighbeam.engine.weigh_in.limits import WeighInLimits
from weighbeam.engine.weigh_in.mode import Estimate, Mode, choose_mode
from weighbeam.engine.weigh_in.weighing import Weighing, list_payees
from weighbeam.mechanisms.contract import Mechanism, Params, Standing
from weighbeam.network.address import read_endpoint
from weighbeam.network.endpoints import Endpoint


@dataclass(frozen=True, slots=True)
class Scale:
    """What one mechanism is weighed with."""

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
class Reading:
    """What the chain says at one moment; `fault` when it says nothing."""

    graph: Metagraph | None
    rules: Rules | None
    blocks: int | None
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    validators: ValidatorList = field(default_factory=ValidatorList)
    first: bool = False
    fault: ChainFault | None = None


@dataclass(frozen=True, slots=True)
class Assessed:
    """A decision and everything it rests on."""

    weighing: Weighing
    decision: Decision
    mode: Mode
    eligible: Eligible
    averages: dict[str, Average]
    future: int = 0


async def read_chain(scale: Scale) -> Reading:
    """One look at the chain. `first` says that it knows no weights of ours: then no rate limit holds us back, and time
    counts from what the ledger knows to have arrived. A registration is no update: it makes no emergency."""
    try:
        graph, rules = await scale.chain.metagraph(), await scale.chain.rules()
        blocks = await scale.chain.blocks_since_update(scale.own_hotkey)
    except ChainFault as fault:
        return Reading(None, None, None, fault=fault)
    endpoints, known = await scale.discovery.look(graph), await asyncio.to_thread(scale.validators)
    own = graph.find(scale.own_hotkey)
    if own is None:
        gone = ChainFault("not_registered", f"{scale.own_hotkey} is not registered", "register the hotkey")
        return Reading(graph, rules, None, endpoints, known, fault=gone)
    if own.last_update == 0:
        included = await asyncio.to_thread(scale.ledger.last_included_block)
        ours = included if included is not None and included >= own.registered_at else graph.block
        return Reading(graph, rules, graph.block - ours, endpoints, known, first=True)
    return Reading(graph, rules, blocks, endpoints, known)


def assess(connection: Connection, scale: Scale, reading: Reading, estimate: Estimate | None, now: float) -> Assessed:
    """The decision that follows from the chain's reading and the journal as this transaction sees it."""
    limits = scale_limits(reading.rules) if reading.rules else WeighInLimits()
    mode = choose_mode(reading.blocks, estimate, limits)
    graph = reading.graph
    eligible = (
        find_eligible(scale, graph, limits, reading.endpoints, reading.validators) if graph else Eligible((), {}, True)
    )
    uid_of = {neuron.hotkey: neuron.uid for neuron in graph.neurons} if graph else {}
    uids = {hotkey: uid_of[hotkey] for hotkey in eligible.hotkeys}
    name, averages = scale.mechanism.name, dict[str, Average]()
    standings = read_standings(connection, name)
    if scale.mechanism.rule.standing == "emissions":
        averages = read_averages(connection, name, uids, now, scale.averaging, mode.lookback)
        standings = stand_by_averages(averages)
    seen = read_seen(connection, name)
    burn = find_burn(scale.mechanism, scale.params, scale.burn_hotkey, graph)
    payees = list_payees(scale.mechanism, scale.params, uids, standings, seen, now, mode.freshness_hours, burn)
    rate_limit = reading.rules.rate_limit if reading.rules else 0
    since = rate_limit if reading.first else mode.blocks or 0
    weighing = Weighing(
        payees, now, mode.mode, since, rate_limit, limits, eligible.list_ok, mode.confirmed, scale.averaging, burn
    )
    return Assessed(weighing, weighing.decide(), mode, eligible, averages, count_later(connection, name, now))


def stand_by_averages(averages: dict[str, Average]) -> tuple[Standing, ...]:
    """Averages as standings; `count` says over how many evaluations."""
    return tuple(Standing(hotkey, one.ema, {"count": one.count}) for hotkey, one in sorted(averages.items()))


def scale_limits(rules: Rules) -> WeighInLimits:
    """The block thresholds of the chain's own limit: 80 and 90 per cent of it."""
    cutoff = rules.activity_cutoff
    return WeighInLimits(limit_blocks=cutoff, degraded_blocks=cutoff * 8 // 10, emergency_blocks=cutoff * 9 // 10)


def find_eligible(
    scale: Scale,
    graph: Metagraph,
    limits: WeighInLimits,
    endpoints: Mapping[str, Endpoint],
    validators: ValidatorList,
) -> Eligible:
    """The serving filter; where the mechanism says so, a validator permit excludes too."""
    nodes = [_node(neuron, endpoints.get(neuron.hotkey)) for neuron in graph.neurons]
    found = filter_serving(scale.own_hotkey, nodes, validators, limits)
    if not scale.mechanism.rule.exclude_permits:
        return found
    permitted = {neuron.hotkey for neuron in graph.neurons if neuron.permit}
    kept = tuple(hotkey for hotkey in found.hotkeys if hotkey not in permitted)
    dropped: dict[str, Reason] = {hotkey: "permit" for hotkey in found.hotkeys if hotkey in permitted}
    return Eligible(kept, {**found.excluded, **dropped}, found.list_ok)


def _node(neuron: Neuron, endpoint: Endpoint | None) -> Node:
    try:
        place = None if endpoint is None or not _names_port(endpoint.url) else read_endpoint(endpoint.url)
    except WeighbeamError:
        place = None
    return Node(neuron.hotkey, neuron.uid, neuron.stake, place.host if place else None, place.port if place else None)


def _names_port(url: str) -> bool:
    """A scheme implies a port; a bare host does not."""
    return "://" in url or url.rpartition(":")[2].isdecimal()
