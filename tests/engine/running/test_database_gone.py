"""A database server that crashes, cuts connections or loses the answer to a COMMIT while a validator runs on it."""

import asyncio
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.engine import make_url

from engine.journal.test_same_on_both import HOTKEYS, HOUR, START, make_weigh_in_context, read_rows
from engine.recall import PaidRecall, find, play
from engine.running.test_runtime import World, has_weighed, sound
from engine.running.test_runtime import world as world
from engine.small_subnet import ALICE, count_taken, hear_log, list_rounds
from postgres import Server, on_postgres
from store.cut_commits import CutCommits, Fate
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.recovery import finish_rounds
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.store import tables
from weighbeam.store.database import Store

ROUNDS, TRIES = 16, 60


def disturb(server: Server, seed: int, times: int) -> None:
    """At moments of chance the server crashes and starts again, or cuts every connection."""
    chance = random.Random(seed)
    for number in range(times):
        time.sleep(chance.uniform(0.2, 0.9))
        if number % 2:
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            server.run(f"{cut} AND backend_type = 'client backend'")
        else:
            server.stop(signal.SIGQUIT)
            time.sleep(chance.uniform(0.0, 0.3))
            server.start()


@on_postgres
@pytest.mark.parametrize("seed", [1, 2])
def test_a_validator_outlives_crashes_of_its_server(
    world: World, postgres: Server, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The server is started from this thread, and ends with it."""
    monkeypatch.setattr("weighbeam.engine.outbox.deliver.FAULT_SECONDS", 0.2)
    monkeypatch.setattr("weighbeam.engine.running.runtime.BEAT_SECONDS", 0.3)
    wanted: dict[str, int] = {}

    def is_over() -> bool:
        played = {name: pulse.rounds for name, pulse in world.pulses.items()}
        return bool(wanted) and all(played[name] >= least for name, least in wanted.items()) and has_weighed(world)

    with hear_log() as lines, ThreadPoolExecutor(1) as pool:
        running = pool.submit(world.run, is_over)
        disturb(postgres, seed, 5)
        wanted |= {name: pulse.rounds + 2 for name, pulse in world.pulses.items()}
        running.result(120)
    store = world.runtime.store
    for runner in world.runners:
        runner.recover()
    told = [line.split()[2].rstrip(",") for line in lines if ": round " in line and "answers valid" in line]
    kept = list_rounds(store)
    assert set(told) <= set(kept), "what was told as done is there"
    assert max(Counter(kept).values()) == 1
    with store.read() as connection:
        states = Counter(connection.scalars(select(tables.rounds.c.state)))
        reached = Counter(connection.scalars(select(tables.submissions.c.state)))
    assert states == {"scored": len(kept)}
    assert count_taken(world.file) == reached["included"] + reached["confirmed"]
    assert any("store_fault" in line for line in lines)
    assert sound(world)


class Fates:
    """What becomes of each COMMIT, by a seed; heard, until it begins."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.begun = False
        self.count: Counter[Fate] = Counter()

    def __call__(self) -> Fate:
        drawn = self._chance.random() if self.begun else 1.0
        fate: Fate = "lost" if drawn < 0.03 else "unheard" if drawn < 0.1 else "heard"
        self.count[fate] += 1
        return fate


@pytest.mark.parametrize("seed", [1, 2])
def test_a_commit_whose_answer_is_lost_counts_nothing_twice_and_sends_nothing_twice(
    postgres: Server, tmp_path: Path, seed: int
) -> None:
    fates = Fates(seed)
    way = CutCommits(postgres.port, fates)
    database = make_url(postgres.make_database()).database
    place = f"postgresql://weighbeam:{postgres.password}@127.0.0.1:{way.port}/{database}"
    found = {}
    for kind, url in (("calm", f"sqlite:///{tmp_path / 'calm.db'}"), ("cut", place)):
        (tmp_path / kind).mkdir()
        store = Store(url)
        weigh_in_context, file = make_weigh_in_context(store, tmp_path / kind)
        fates.begun = kind == "cut"
        found[kind] = work(weigh_in_context, file)
        fates.begun = False
        assert [one for one in replay(store, find) if one.fault] == []
        with store.read() as connection:
            shown = (tables.scores, tables.evaluations, tables.standing_history, tables.miners)
            found[kind] |= {table.name: read_rows(connection, table) for table in shown}
        found[kind]["rounds"] = list_rounds(store)
        store.close()
    way.close()
    assert found["cut"] == found["calm"]
    assert min(fates.count["lost"], fates.count["unheard"]) >= 1


def work(weigh_in_context: WeighInContext, file: ChainFile) -> dict[str, Any]:
    """Rounds with a weigh-in now and then; gives what the chain held after each, and how often it took anything."""
    rows = []
    for hour in range(ROUNDS):
        texts = {name: ("tide moon", "tide", None)[(place + hour) % 3] for place, name in enumerate(HOTKEYS)}
        play_through(weigh_in_context.journal, hour, texts)
        if hour % 8 == 7:
            advance(file, 6)
            weigh_through(weigh_in_context, file, START + hour * HOUR + 1, len(rows) + 1)
            rows.append(asyncio.run(weigh_in_context.chain.stored(ALICE.address)).row)
    return {"on chain": rows, "taken": count_taken(file)}


def play_through(journal: Journal, hour: int, texts: dict[str, str | None]) -> None:
    """As a validator does it: what is recorded is finished before anything else; what was lost is played again."""
    for _ in range(TRIES):
        try:
            finish_rounds(journal, {"paid-recall": PaidRecall()})
            if f"paid-recall-{hour}" in list_rounds(journal.store):
                return
            if not journal.unfinished():
                play(journal, PaidRecall(), hour, START + hour * HOUR, texts)
        except WeighbeamError as fault:
            if fault.code != "store_fault":
                raise
    raise AssertionError(f"round {hour} was never played")


def weigh_through(weigh_in_context: WeighInContext, file: ChainFile, now: float, wanted: int) -> None:
    """Until the chain has taken it; in between blocks go by."""
    for _ in range(TRIES):
        try:
            asyncio.run(weigh_in(weigh_in_context, now))
        except WeighbeamError as fault:
            if fault.code != "store_fault":
                raise
        if count_taken(file) >= wanted:
            return
        advance(file, 3)
    raise AssertionError(f"weigh-in {wanted} never reached the chain")
