"""Metagraph snapshots kept in the store every few minutes, for processes that only read the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from weighbeam.chain.contract import ChainRules, Metagraph, Neuron
from weighbeam.core.names import clean_name
from weighbeam.core.stats import U16_MAX
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.engine.support.cache import StoreMemo
from weighbeam.store import tables
from weighbeam.store.database import Store

GRAPHS = tables.metagraphs.c
NOTE_SECONDS = 290.0
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class NeuronView:
    """One neuron: stake in rao, shares 0 to 1, `updated` the blocks since it last set weights.
    `name` is what the chain says it is called, cleaned."""

    uid: int
    hotkey: str
    stake: int
    permit: bool
    active: bool
    incentive: float
    dividends: float
    consensus: float
    vtrust: float
    updated: int
    registered_at: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class GraphView:
    """A subnet at one block; `own` is our uid."""

    mechanism: str
    block: int
    at: float
    netuid: int
    tempo: int
    next_epoch_block: int | None
    activity_cutoff: int
    own: int | None
    neurons: tuple[NeuronView, ...]


NEWEST: StoreMemo[GraphView] = StoreMemo()


def find_own(graph: GraphView | None) -> NeuronView | None:
    return None if graph is None else next((one for one in graph.neurons if one.uid == graph.own), None)


def note_metagraph(
    store: Store, mechanism: str, graph: Metagraph, rules: ChainRules, at: float, own: str | None = None
) -> None:
    """Keep what the chain said; what is older than a day is thinned out to one per epoch."""
    found = None if own is None else graph.find(own)
    body = {
        "netuid": graph.netuid,
        "tempo": rules.tempo,
        "next_epoch_block": rules.next_epoch_block,
        "activity_cutoff": rules.activity_cutoff,
        "own": None if found is None else found.uid,
        "neurons": [_format_neuron(neuron) for neuron in graph.neurons],
        "names": {neuron.hotkey: name for neuron in graph.neurons if (name := clean_name(neuron.name)) is not None},
    }
    with store.write() as connection:
        here = (GRAPHS.mechanism == mechanism) & (GRAPHS.block == graph.block)
        connection.execute(delete(tables.metagraphs).where(here))
        row = {"mechanism": mechanism, "block": graph.block, "at": at, "body": body}
        connection.execute(insert(tables.metagraphs).values(**row))
        _thin_out(connection, mechanism, rules.tempo, at)


def note_if_due(
    store: Store, mechanism: str, graph: Metagraph, rules: ChainRules, at: float, own: str, always: bool
) -> None:
    """Record the metagraph at most every five minutes unless `always`; faults are only reported."""
    try:
        if always or _is_due(store, mechanism, at):
            note_metagraph(store, mechanism, graph, rules, at, own)
    except Exception as fault:
        log_fault(fault, mechanism)


def select_metagraph(store: Store, mechanism: str) -> GraphView | None:
    """The newest, or None if none was ever noted."""
    with store.read() as connection:
        return select_newest_graph(connection, mechanism)


def select_newest_graph(connection: Connection, mechanism: str) -> GraphView | None:
    query = select(GRAPHS.block, GRAPHS.at).where(GRAPHS.mechanism == mechanism).order_by(GRAPHS.block.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return NEWEST.get(connection, mechanism, tuple(row), lambda: _select_graph(connection, mechanism, *row))


def _select_graph(connection: Connection, mechanism: str, block: int, at: float) -> GraphView:
    query = select(tables.metagraphs.c.body).where(GRAPHS.mechanism == mechanism, GRAPHS.block == block)
    body: Mapping[str, Any] = connection.execute(query).scalar_one()
    names = body.get("names", {})
    neurons = tuple(_parse_neuron(one, block, names) for one in body["neurons"])
    kept = {name: body[name] for name in ("netuid", "tempo", "next_epoch_block", "activity_cutoff", "own")}
    return GraphView(mechanism, block, at, neurons=neurons, **kept)


def _is_due(store: Store, mechanism: str, at: float) -> bool:
    query = select(GRAPHS.at).where(GRAPHS.mechanism == mechanism).order_by(GRAPHS.block.desc()).limit(1)
    with store.read() as connection:
        last = connection.scalar(query)
    return last is None or not 0 <= at - last < NOTE_SECONDS


def _thin_out(connection: Connection, mechanism: str, tempo: int, at: float) -> None:
    query = select(GRAPHS.block).where(GRAPHS.mechanism == mechanism, GRAPHS.at < at - DAY)
    blocks = list(connection.scalars(query.order_by(GRAPHS.block)))
    surplus = find_surplus(blocks, tempo)
    if surplus:
        connection.execute(delete(tables.metagraphs).where(GRAPHS.mechanism == mechanism, GRAPHS.block.in_(surplus)))


def find_surplus(blocks: Sequence[int], tempo: int) -> list[int]:
    """All but the last of each epoch's blocks, given in order.

    >>> find_surplus([0, 100, 359, 361, 700, 720], 360)
    [0, 100, 361]
    """
    length = max(1, tempo)
    return [block for block, later in pairwise(blocks) if block // length == later // length]


def _format_neuron(neuron: Neuron) -> list[Any]:
    shares = [neuron.incentive, neuron.dividends, neuron.consensus, neuron.validator_trust]
    known = [neuron.uid, neuron.hotkey, neuron.stake, neuron.permit, neuron.active]
    return [*known, *shares, neuron.last_update, neuron.registered_at]


def _parse_neuron(row: Sequence[Any], block: int, names: Mapping[str, Any]) -> NeuronView:
    uid, hotkey, stake, permit, active, incentive, dividends, consensus, trust, last_update, registered_at = row
    shares = (incentive / U16_MAX, dividends / U16_MAX, consensus / U16_MAX, trust / U16_MAX)
    updated, name = max(0, block - last_update), clean_name(names.get(hotkey))
    return NeuronView(uid, hotkey, stake, permit, active, *shares, updated, registered_at, name)
