"""How much of everything a load needs: arithmetic over measured units, each step shown. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from weighbeam.lab.capacity.units import CapacityUnits, RoundCost
from weighbeam.mechanism.defaults import DEFAULT_MECHANISM

HOUR = 3600.0
BUSY = 0.7
"""How much of its time anything may be busy before others wait for it."""
ASK_SECONDS = 10.0
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class CapacityLoad:
    """Load to plan for: rounds per hour of one mechanism and their retention; a corpus and its submissions; a subnet.
    `scan_cores` compare vectors, `ask_seconds` is how long miners take."""

    mechanism: str = DEFAULT_MECHANISM
    rounds_per_hour: float = 10_000.0
    retention_hours: float = 48.0
    ask_seconds: float = ASK_SECONDS
    observer_rounds: int = 4
    vectors: int = 100_000_000
    submissions_per_hour: float = 10_000.0
    scan_cores: int = 32
    validators: int = 256
    miners: int = 256


@dataclass(frozen=True, slots=True)
class CapacityNeed:
    """One line: what is needed, how much, by which arithmetic, and whether one of it bears the load."""

    what: str
    amount: str
    because: str
    borne: bool = True


def plan(load: CapacityLoad, units: CapacityUnits) -> list[CapacityNeed]:
    """Everything the load needs, in the order in which it is run into."""
    cost = units.rounds[load.mechanism]
    return [*_plan_rounds(load, cost, units), *_plan_corpus(load, units), *_plan_subnet(load, cost, units)]


def _plan_rounds(load: CapacityLoad, cost: RoundCost, units: CapacityUnits) -> Iterator[CapacityNeed]:
    a_second = load.rounds_per_hour / HOUR
    share = units.worker_share
    cores = ceil(a_second * cost.observe_seconds / share / BUSY)
    shown = f"{load.rounds_per_hour:,.0f} rounds/h × {cost.observe_seconds:.2f} CPU s ÷ 3,600 s"
    yield CapacityNeed(
        f"workers that observe {load.mechanism}, {cost.answers} answers a round",
        f"{cores:,} cores",
        f"{shown} ÷ {share:.2f} (two workers against twice one) ÷ {BUSY} busy",
    )
    flight = a_second * (load.ask_seconds + cost.observe_seconds)
    observers = ceil(flight / load.observer_rounds)
    yield CapacityNeed(
        "observers",
        f"{observers:,} processes",
        f"{a_second:.2f} rounds/s × ({load.ask_seconds:g} s asking + {cost.observe_seconds:.1f} s observing) = "
        f"{flight:.0f} in flight ÷ {load.observer_rounds} each",
    )
    busy = a_second * (cost.record_seconds + cost.commit_seconds)
    limit = BUSY / busy * load.rounds_per_hour
    yield CapacityNeed(
        "the store's one writer",
        f"{busy:.0%} busy",
        f"{a_second:.2f} rounds/s × ({cost.record_seconds * 1e3:.1f} ms to record + "
        f"{cost.commit_seconds * 1e3:.1f} ms to score and commit); one bears {limit:,.0f}/h",
        busy <= BUSY,
    )
    kept = load.rounds_per_hour * load.retention_hours * cost.journal_bytes
    yield CapacityNeed(
        "the journal on the server",
        f"{kept / GIB:,.0f} GiB",
        f"{load.rounds_per_hour:,.0f} rounds/h × {load.retention_hours:g} h kept × {cost.journal_bytes / 1e6:.2f} MB",
    )


def _plan_corpus(load: CapacityLoad, units: CapacityUnits) -> Iterator[CapacityNeed]:
    disk = load.vectors * units.server_row_bytes
    yield CapacityNeed(
        f"a corpus of {load.vectors:,} vectors on the server",
        f"{disk / GIB:,.0f} GiB",
        f"{load.vectors:,} rows × {units.server_row_bytes:,.0f} bytes (pieces and vectors)",
    )
    scan = load.vectors / units.server_rows_per_second / load.scan_cores
    yield CapacityNeed(
        "one search of it",
        f"{scan:.1f} s",
        f"{load.vectors:,} rows ÷ {units.server_rows_per_second:,.0f} rows/s of a core ÷ {load.scan_cores} cores, "
        "if the rows are in memory",
    )
    alone, together = units.server_rows_per_second, units.server_rows_together_per_second
    for how, rate in (("one by one", alone), ("many to a scan", together)):
        each = load.vectors / rate
        yield CapacityNeed(
            f"searching for {load.submissions_per_hour:,.0f} submissions an hour, {how}",
            f"{ceil(load.submissions_per_hour / HOUR * each / BUSY):,} cores",
            f"{load.submissions_per_hour / HOUR:.2f}/s × {each:.1f} core-seconds ÷ {BUSY} busy",
        )
    memory = load.vectors * units.memory_row_bytes
    alone = load.vectors / units.memory_rows_per_second
    yield CapacityNeed(
        "the same corpus in one process instead (int8-bound)",
        f"{memory / GIB:,.0f} GiB of memory",
        f"{units.memory_row_bytes:,.0f} bytes a row; {alone:.1f} s a search on one core",
    )
    locked = load.submissions_per_hour / HOUR * units.insert_seconds
    yield CapacityNeed(
        "their share of the store's one writer",
        f"{locked:.1%} busy",
        f"{load.submissions_per_hour / HOUR:.2f}/s × {units.insert_seconds * 1e3:.1f} ms under the lock",
        locked <= BUSY,
    )


def _plan_subnet(load: CapacityLoad, cost: RoundCost, units: CapacityUnits) -> Iterator[CapacityNeed]:
    epoch = load.validators * load.miners * units.epoch_seconds_per_pair
    yield CapacityNeed(
        f"an exact epoch of {load.validators} validators × {load.miners} miners",
        f"{epoch * 1e3:.0f} ms",
        f"{load.validators * load.miners:,} pairs × {units.epoch_seconds_per_pair * 1e9:.0f} ns",
    )
    asked = load.rounds_per_hour * min(cost.answers, load.miners) / load.miners
    yield CapacityNeed(
        "questions to each miner by one such validator",
        f"{asked:,.0f} an hour",
        f"{load.rounds_per_hour:,.0f} rounds/h × {min(cost.answers, load.miners)} asked ÷ {load.miners} miners",
    )
    every = asked * load.validators
    yield CapacityNeed(
        f"questions to each miner if all {load.validators} validators did the same",
        f"{every / HOUR:,.1f} a second",
        f"{asked:,.0f}/h × {load.validators} ÷ 3,600 s",
    )
