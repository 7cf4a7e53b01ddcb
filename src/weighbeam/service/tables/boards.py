"""Tables of standings, and of what the chain says of validators and miners."""

from collections.abc import Mapping
from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.views.leaderboard import LeaderboardLine, select_leaderboard
from weighbeam.engine.views.weights import recall_last_set
from weighbeam.engine.weights.metagraphs import NeuronView, select_metagraph
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.service.tables.model import Column, FoundRows, Table, TableSource
from weighbeam.service.tables.shown import find_units, list_names

RAO = 1_000_000_000


def find_run(source: TableSource, name: str) -> tuple[Mechanism, Params]:
    """A mechanism run here, or `unknown_mechanism`."""
    if name not in source.mechanisms:
        told = f"{name[:100]!r} is not run here"
        raise WeighbeamError("unknown_mechanism", told, f"one of: {', '.join(source.mechanisms) or 'none'}")
    return source.mechanisms[name]


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A line of a leaderboard; standing and spread in tokens where they are paid so."""

    line: LeaderboardLine
    standing: float | None
    spread: float | None

    @property
    def place(self) -> int | None:
        return None if self.line.standing is None else self.line.place

    @property
    def valid_share(self) -> float | None:
        return self.line.valid / self.line.rounds if self.line.rounds else None

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(word for word in self.line.last_reason.split(", ") if word)


def list_standings(source: TableSource, name: str) -> list[StandingRow]:
    mechanism, params = find_run(source, name)
    units = find_units(name, params)
    lines = source.book.name_all(select_leaderboard(source.store, mechanism, source.averaging), name)
    return [StandingRow(line, _divide(line.standing, units), _divide(line.spread, units)) for line in lines]


def _divide(value: float | None, units: int) -> float | None:
    return None if value is None else value / units


def select_standings(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    rows = list_standings(source, filters["mechanism"])
    return FoundRows(rows[:limit], len(rows) > limit)


STANDINGS = Table(
    name="standings",
    about="The leaderboard of a mechanism, best first.",
    columns=(
        Column("place", "integer", lambda row: row.place, "counts from 1; none without a standing", rises=True),
        Column("hotkey", "text", lambda row: row.line.hotkey, "the miner", rises=True),
        Column("uid", "integer", lambda row: row.line.uid, "its uid now", rises=True),
        Column("name", "text", lambda row: row.line.name, "what it is called here", rises=True),
        Column("standing", "real", lambda row: row.standing, "in tokens where standings are tokens"),
        Column("spread", "real", lambda row: row.spread, "one standard error of it"),
        Column("share", "real", lambda row: row.line.share, "its part of the weights that were set last"),
        Column("incentive", "real", lambda row: row.line.incentive, "what the chain paid it, 0 to 1"),
        Column("rounds", "integer", lambda row: row.line.rounds, "of the last 24 hours, 500 at most"),
        Column("valid", "integer", lambda row: row.line.valid, "of them with a valid answer"),
        Column("valid_share", "real", lambda row: row.valid_share, "the valid part of its answers"),
        Column("reasons", "list", lambda row: row.reasons, "of its newest answer that had any", rises=True),
    ),
    select=select_standings,
    order="place",
    needs=("mechanism",),
    filters=("miner", "reason"),
    matches={
        "miner": lambda row: list_names(row.line.hotkey, row.line.uid, row.line.name),
        "reason": lambda row: row.reasons,
    },
)


@dataclass(frozen=True, slots=True)
class NeuronRow:
    """A neuron as the chain has it, and its part of the weights that we set last."""

    neuron: NeuronView
    ours: float | None
    own: bool

    @property
    def stake(self) -> float:
        """In TAO."""
        return self.neuron.stake / RAO


def is_weighing(neuron: NeuronView) -> bool:
    """A validator holds a permit or earns by weighing."""
    return neuron.dividends > 0 or neuron.vtrust > 0 or neuron.permit


def list_neurons(source: TableSource, name: str, weighing: bool) -> list[NeuronRow]:
    """Validators by stake, or miners by our weight."""
    find_run(source, name)
    graph = select_metagraph(source.store, name)
    if graph is None:
        return []
    last = recall_last_set(source.store, name)
    ours = {one.hotkey: one.share for one in last.shares} if last else {}
    rows = [
        NeuronRow(one, ours.get(one.hotkey), one.uid == graph.own) for one in source.book.name_all(graph.neurons, name)
    ]
    chosen = [row for row in rows if is_weighing(row.neuron) == weighing]
    if weighing:
        return sorted(chosen, key=lambda row: -row.neuron.stake)
    return sorted(chosen, key=lambda row: (-(row.ours or 0.0), -row.neuron.incentive, row.neuron.uid))


def select_validators(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    rows = list_neurons(source, filters["mechanism"], True)
    return FoundRows(rows[:limit], len(rows) > limit)


def select_miners(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    rows = list_neurons(source, filters["mechanism"], False)
    return FoundRows(rows[:limit], len(rows) > limit)


UID = Column("uid", "integer", lambda row: row.neuron.uid, "its uid", rises=True)
HOTKEY = Column("hotkey", "text", lambda row: row.neuron.hotkey, "its hotkey", rises=True)
CALLED = Column("name", "text", lambda row: row.neuron.name, "what it is called here", rises=True)
STAKE = Column("stake", "real", lambda row: row.stake, "in TAO")
VALIDATORS = Table(
    name="validators",
    about="Validators as the chain has them, by stake.",
    columns=(
        UID,
        HOTKEY,
        CALLED,
        STAKE,
        Column("vtrust", "real", lambda row: row.neuron.vtrust, "how far the others agree with it, 0 to 1"),
        Column("dividends", "real", lambda row: row.neuron.dividends, "what it earned, 0 to 1"),
        Column("updated", "integer", lambda row: row.neuron.updated, "blocks since it set weights", rises=True),
    ),
    select=select_validators,
    order="-stake",
    needs=("mechanism",),
    filters=("miner",),
    matches={"miner": lambda row: list_names(row.neuron.hotkey, row.neuron.uid, row.neuron.name)},
)
MINERS = Table(
    name="miners",
    about="Miners as the chain has them, by our weight.",
    columns=(
        UID,
        HOTKEY,
        CALLED,
        Column("weight", "real", lambda row: row.ours, "its part of the weights that we set last"),
        Column("consensus", "real", lambda row: row.neuron.consensus, "the weight that most stake agrees on"),
        Column("incentive", "real", lambda row: row.neuron.incentive, "what the chain paid it, 0 to 1"),
        STAKE,
    ),
    select=select_miners,
    order="-weight",
    needs=("mechanism",),
    filters=("miner",),
    matches={"miner": lambda row: list_names(row.neuron.hotkey, row.neuron.uid, row.neuron.name)},
)
