"""What the chain said and what was set on it, as people see it from the store alone; and no weigh-in waits for it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from engine.small_subnet import (
    ALICE,
    CHUNKING,
    START,
    Turned,
    hear_log,
    make_chain,
    make_runner,
    open_store,
    serve_miners,
)
from weighbeam.chain.contract import Metagraph
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import WEIGHTS_INTERVAL_SECONDS, Averaging
from weighbeam.engine.views.leaderboard import select_leaderboard
from weighbeam.engine.views.overview import select_overview
from weighbeam.engine.views.weights import list_weigh_ins, list_weights
from weighbeam.engine.weights.metagraphs import note_if_due, note_metagraph, select_metagraph
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

DAY = 24 * 3600.0


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> Iterator[dict[str, str]]:
    with serve_miners(tmp_path_factory.mktemp("miners"), senses) as found:
        yield found


@pytest.fixture
def file(tmp_path: Path, endpoints: dict[str, str]) -> ChainFile:
    return make_chain(tmp_path, endpoints)


@pytest.fixture
def clock() -> Turned:
    return Turned()


@pytest.fixture
def runner(tmp_path: Path, file: ChainFile, senses: LocalSenses, clock: Turned) -> MechanismRunner:
    return make_runner(open_store(tmp_path), file, senses, clock)


def count_graphs(store: Store) -> int:
    with store.read() as connection:
        return int(connection.execute(text("SELECT COUNT(*) FROM metagraphs")).scalar_one())


async def play_and_weigh(runner: MechanismRunner, rounds: int = 4) -> None:
    for _ in range(rounds):
        await runner.play_round()
    await runner.weigh_in()


def test_a_round_and_a_weigh_in_leave_what_the_chain_said(
    runner: MechanismRunner, file: ChainFile, clock: Turned
) -> None:
    store = runner.round_context.journal.store
    assert select_metagraph(store, "chunking") is None
    asyncio.run(runner.play_round())
    advance(file, 1)
    clock.at += 60
    asyncio.run(runner.play_round())
    assert count_graphs(store) == 1
    advance(file, 1)
    clock.at += 240
    asyncio.run(runner.play_round())
    assert count_graphs(store) == 2
    advance(file, 1)
    asyncio.run(runner.weigh_in())
    assert count_graphs(store) == 3
    graph = select_metagraph(store, "chunking")
    assert graph is not None
    assert (graph.own, graph.tempo, graph.at, len(graph.neurons)) == (0, 20, clock.at, 3)
    own = graph.neurons[0]
    assert (own.hotkey, own.permit, own.stake) == (ALICE.address, True, 5000 * 10**9)
    assert all(0 <= share <= 1 for one in graph.neurons for share in (one.incentive, one.dividends, one.vtrust))


def test_weights_are_shown_share_by_share(runner: MechanismRunner, file: ChainFile, clock: Turned) -> None:
    store = runner.round_context.journal.store
    asyncio.run(play_and_weigh(runner))
    (line,) = list_weights(store, "chunking", 10)
    assert (line.state, line.reason, line.mode) == ("confirmed", None, "NORMAL")
    assert sum(one.share for one in line.shares) == pytest.approx(1)
    assert line.shares[0].value == 65535
    assert line.top1 == line.shares[0].share
    assert line.top3 == pytest.approx(1)
    assert 1 <= line.effective <= len(line.shares)
    assert 0 <= line.gini < 1
    assert list_weights(store, "chunking", 10, before=line.id) == ()
    ranked = select_leaderboard(store, CHUNKING, Averaging())
    assert {one.hotkey: (one.uid, one.share) for one in ranked} == {
        one.hotkey: (one.uid, one.share) for one in line.shares
    }
    assert all(one.incentive is not None for one in ranked)
    (view,) = select_overview(store, ["chunking"], clock.at + 120).mechanisms
    assert (view.mode, view.next_weigh_in) == ("NORMAL", START + WEIGHTS_INTERVAL_SECONDS)
    assert view.last_weigh_in is not None
    assert (view.last_weigh_in.kind, view.blocks_at) == ("submitted", START)
    assert view.blocks is not None
    assert view.blocks_now == view.blocks + 10


def test_a_weigh_in_that_sets_nothing_is_listed_with_its_reason(runner: MechanismRunner, clock: Turned) -> None:
    asyncio.run(runner.weigh_in())
    (tried,) = list_weigh_ins(runner.round_context.journal.store, "chunking", 10)
    assert (tried.kind, tried.reason) == ("skip", "all_zero")
    assert list_weigh_ins(runner.round_context.journal.store, "chunking", 10, before=tried.id) == ()
    (view,) = select_overview(runner.round_context.journal.store, ["chunking"], clock.at).mechanisms
    assert view.next_weigh_in == START + 300


def test_older_ones_are_thinned_out_to_one_per_epoch(runner: MechanismRunner) -> None:
    store, chain = runner.round_context.journal.store, runner.weigh_in_context.chain
    graph, rules = asyncio.run(chain.metagraph()), asyncio.run(chain.rules())
    for number in range(60):
        later = Metagraph(number, graph.netuid, None, None, graph.neurons)
        note_metagraph(store, "chunking", later, rules, START + number * 300)
    last = Metagraph(1000, graph.netuid, None, None, graph.neurons)
    note_metagraph(store, "chunking", last, rules, START + 60 * 300 + DAY)
    with store.read() as connection:
        blocks = list(connection.scalars(text("SELECT block FROM metagraphs ORDER BY block")))
    assert blocks == [19, 39, 59, 1000]


def test_a_store_that_cannot_be_written_holds_up_nobody(runner: MechanismRunner, tmp_path: Path, clock: Turned) -> None:
    """Another program holds the write lock: the note is given up, and told."""
    chain = runner.weigh_in_context.chain
    graph, rules = asyncio.run(chain.metagraph()), asyncio.run(chain.rules())
    busy = open_store(tmp_path, busy_seconds=0.1)
    with runner.round_context.journal.store.write() as connection, hear_log() as lines:
        connection.execute(text("DELETE FROM metagraphs"))
        note_if_due(busy, "chunking", graph, rules, clock.at, ALICE.address, True)
    assert any("store_fault" in line for line in lines)
    assert count_graphs(busy) == 0
