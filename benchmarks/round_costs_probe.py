"""What a round costs on a PostgreSQL server of its own: `MECHANISM`. Prints one JSON object."""

import json
import sys
import time
from dataclasses import replace
from statistics import median

from benchmarks.evidence import make_quoting_round, open_archive
from benchmarks.inference import make_long_round
from benchmarks.round import make_round
from postgres import open_server
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, hash_params, make_params
from weighbeam.mechanism.records import Asked, Observation
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

ROUNDS = 12
SIZE = "SELECT pg_database_size(current_database())"


def main(name: str) -> None:
    mechanism = load_mechanism(name)
    params = make_params(mechanism)
    senses = open_archive() if name == "evidence" else LocalSenses(remember=False, workers=1)
    senses.embedder.embed(["warm up"])
    makers = {"chunking": lambda: make_round(senses), "inference": make_long_round, "evidence": make_quoting_round}
    asked = makers[name]()
    start = time.process_time()
    mechanism.observe(params, asked, senses)
    observed = time.process_time() - start
    with open_server() as server:
        written = write_rounds(Store(server.make_database()), mechanism, params, asked, senses)
    print(json.dumps({"answers": len(asked.answers), "observe_seconds": observed, **written}))


def write_rounds(
    store: Store, mechanism: Mechanism, params: Params, asked: Asked, senses: LocalSenses
) -> dict[str, float]:
    """Rounds that differ in how long each answer took: content that is there already would cost nothing."""
    journal, recorded, committed = Journal(store), [], []
    with store.read() as connection:
        before = int(connection.exec_driver_sql(SIZE).scalar() or 0)
    for number in range(ROUNDS):
        later = replace(asked, answers=tuple(replace(a, seconds=a.seconds + number / 1e3) for a in asked.answers))
        observation = mechanism.observe(params, later, senses)
        facts = describe(mechanism, params, later, observation, number)
        start = time.perf_counter()
        journal.record(facts, later, observation)
        middle = time.perf_counter()
        journal.commit(facts.id, mechanism)
        recorded.append(middle - start)
        committed.append(time.perf_counter() - middle)
    with store.read() as connection:
        after = int(connection.exec_driver_sql(SIZE).scalar() or 0)
    store.close()
    return {
        "record_seconds": median(recorded),
        "commit_seconds": median(committed),
        "journal_bytes": (after - before) / ROUNDS,
    }


def describe(mechanism: Mechanism, params: Params, asked: Asked, observation: Observation, number: int) -> RoundFacts:
    return RoundFacts(
        id=f"{mechanism.name}-{number}",
        mechanism=mechanism.name,
        params=params.model_dump(mode="json"),
        params_hash=hash_params(mechanism, params, observation.facts["senses"]),
        seed=asked.seed,
        block=25 * number,
        at=300.0 * number,
    )


if __name__ == "__main__":
    main(sys.argv[1])
