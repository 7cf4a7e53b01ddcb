"""Does a weigh-in cost more as the journal grows older? `python -m benchmarks.weigh_in` runs it alone."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from benchmarks.measure import Line, show_lines, time_once
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.mechanism.records import WeighRule, Weights
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.keys import Hotkey
from weighbeam.store import tables
from weighbeam.store.database import Store

MINERS, DAY_ROUNDS, ROUND_SECONDS = 256, 288, 300.0
WEIGH_IN_ROUNDS, LAPS = 14, 5
START, DAY = 1_800_000_000.0, 86_400.0
MOST_RATIO = 1.5
HOTKEYS = [f"miner-{number:03}" for number in range(MINERS)]


class Averaged(Chunking):
    """Chunking as if it were paid by averaged emissions: the standing that reads the most rows."""

    rule = WeighRule(standing="emissions", gate="always")

    def weigh(self, _: Any, standings: Any, eligible: Any) -> Weights:
        return Weights({s.hotkey: s.value or 0.0 for s in standings if s.hotkey in eligible})


def measure_weigh_in() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        young, old = (_build(Path(folder) / str(days), days) for days in (1, 30))
        for weigh_in_context, days in ((young, 1), (old, 30)):
            _weigh(weigh_in_context, START + days * DAY)
        spent = {1: [], 30: []}
        for lap in range(1, LAPS + 1):
            for weigh_in_context, days in ((young, 1), (old, 30)):
                now = START + days * DAY + lap * WEIGH_IN_ROUNDS * ROUND_SECONDS
                _play(weigh_in_context, now - WEIGH_IN_ROUNDS * ROUND_SECONDS, WEIGH_IN_ROUNDS, f"lap-{lap}")
                spent[days].append(
                    time_once(lambda weigh_in_context=weigh_in_context, now=now: _weigh(weigh_in_context, now))
                )
    first, last = (min(laps) for laps in spent.values())
    ratio = last / first
    shown = f"{ratio:.2f}× ({first * 1e3:.0f} ms and {last * 1e3:.0f} ms)"
    what = f"a weigh-in of {MINERS} miners, journal of 30 days against 1 day"
    yield Line(what, shown, f"≤ {MOST_RATIO}×", ratio <= MOST_RATIO)


def _build(folder: Path, days: int) -> WeighInContext:
    """A chain with everybody on it, and a journal with an evaluation of every miner every 300 s."""
    hotkey = Hotkey.from_uri("//Alice")
    parameters = SubnetParameters(rate_limit=5, max_validators=1, max_uids=MINERS + 1)
    file = ChainFile.create(folder / "chain.sqlite", parameters, manual=True)
    register(file, hotkey.address, stake=5000 * 10**9)
    for name in HOTKEYS:
        register(file, name)
        announce(file, name, "198.51.100.1:8091")
    advance(file, 400)
    store = Store(f"sqlite:///{folder / 'journal.db'}")
    chain, ledger = LocalChain(file, hotkey), Ledger(store, "chunking")
    averaging = Averaging(db_retention_hours=24.0 * 60)
    weigh_in_context = WeighInContext(
        Averaged(), ChunkingParams(), Journal(store), ledger, chain, hotkey.address, averaging=averaging
    )
    for day in range(days):
        _play(weigh_in_context, START + day * DAY, DAY_ROUNDS, f"day-{day:02}")
    with store.write() as connection:
        rows = [
            {"mechanism": "chunking", "hotkey": h, "asked_at": START + 60 * DAY, "success_at": START + 60 * DAY}
            for h in HOTKEYS
        ]
        connection.execute(insert(tables.miners), rows)
    return weigh_in_context


def _play(weigh_in_context: WeighInContext, start: float, rounds: int, name: str) -> None:
    rows = [
        {
            "mechanism": "chunking",
            "hotkey": hotkey,
            "round": f"{name}-{number:03}",
            "at": start + (number + 1) * ROUND_SECONDS,
            "emission": (number * 7 + len(hotkey)) % 11 / 11,
            "success": True,
        }
        for number in range(rounds)
        for hotkey in HOTKEYS
    ]
    with weigh_in_context.journal.store.write() as connection:
        connection.execute(insert(tables.evaluations), rows)


def _weigh(weigh_in_context: WeighInContext, now: float) -> None:
    done = asyncio.run(weigh_in(weigh_in_context, now))
    assert done.decision.reason in (None, "rate_limited"), done.decision.reason


if __name__ == "__main__":
    show_lines(measure_weigh_in())
