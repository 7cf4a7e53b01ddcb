"""A journal computed again, against the time it took to live it: `python -m benchmarks.replay` runs it alone.

Seconds are those of the processor, so that a busy machine changes little.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.made_rounds import RandomSenses, make_asked
from benchmarks.measure import Line, show_lines, time_once
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.store.database import Store

ROUNDS, MINERS, DISTINCT = 24, 256, range(25, 61)
ROUND_SECONDS, DAY_ROUNDS = 300, 288
TIMES_WANTED = 1000
MOST_BYTES = 1.2e6
LAPS = 3


def measure_replay() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "journal.db"
        store = Store(f"sqlite:///{file}")
        commit = fill_journal(Journal(store)) / ROUNDS
        spent = min(time_once(lambda: _replay(store), time.process_time) for _ in range(LAPS)) / ROUNDS
        store.close()
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / ROUNDS
    what = f"{ROUNDS} rounds of {MINERS} answers, {DISTINCT[0]} to {DISTINCT[-1]} different"
    times = ROUND_SECONDS / spent
    shown = f"{times:,.0f}× ({spent * 1e3:.0f} ms a round, {spent * DAY_ROUNDS:.0f} s for a day of {DAY_ROUNDS})"
    yield Line(f"replay against real time, {what}", shown, f"≥ {TIMES_WANTED:,}×", times >= TIMES_WANTED)
    yield Line("record + commit of one such round", f"{commit * 1e3:.0f} ms", "reported", True)
    yield Line("journal on disk", f"{size / 1e6:.2f} MB a round", f"≤ {MOST_BYTES / 1e6} MB", size <= MOST_BYTES)


def fill_journal(journal: Journal) -> float:
    """Observe the rounds and write them; gives the seconds spent writing."""
    mechanism, params = Chunking(), ChunkingParams(group_size=MINERS)
    spent = 0.0
    for number in range(ROUNDS):
        asked = make_asked(number, MINERS, DISTINCT[number % len(DISTINCT)])
        observation = mechanism.observe(params, asked, RandomSenses())
        facts = RoundFacts(
            id=f"round-{number}",
            mechanism=mechanism.name,
            params=params.model_dump(mode="json"),
            params_hash=hash_params(mechanism, params, observation.facts["senses"]),
            seed=asked.seed,
            block=25 * number,
            at=float(ROUND_SECONDS * number),
        )
        start = time.process_time()
        journal.record(facts, asked, observation)
        journal.commit(facts.id, mechanism)
        spent += time.process_time() - start
    return spent


def _replay(store: Store) -> None:
    faults = [entry for entry in replay(store, load_mechanism) if entry.fault is not None]
    assert not faults, faults


if __name__ == "__main__":
    show_lines(measure_replay())
