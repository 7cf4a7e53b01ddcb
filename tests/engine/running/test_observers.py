"""Observers ask and observe, one validator scores: nothing is lost, nothing counts twice, whoever dies in between."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from engine import subnet as made
from engine.subnet import HONEST, open_subnet
from engine.wall_clock import WallClock
from weighbeam.chain.contract import Metagraph
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.alerts.notices import list_notices
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.projections import select_standings, update_standings
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.requests.organic import enqueue_request, select_request, take_next
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import CHALLENGE_INTERVAL_SECONDS
from weighbeam.engine.running import observer as keep_observing
from weighbeam.engine.running import scorer as keep_scoring
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.observer import ObserverRuntime, check_terms, note_terms
from weighbeam.engine.running.observer import keep_observing as run_observer
from weighbeam.engine.running.scorer import ObservedRoundScorer
from weighbeam.engine.support.lock import DEAD_SECONDS
from weighbeam.engine.support.observers import claim_turn, list_seats, open_seat, select_alive
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.records import Standing
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.ask import Asker, MinerQuestion, MinerReply, Target
from weighbeam.network.probe import LateWatch
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

CHUNKING, PARAMS = Chunking(), ChunkingParams()
BODY = {"document": generate_document("observed", 3000).text, "chunk_size": 1200}


@pytest.fixture(scope="module")
def subnet(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[made.TestSubnet]:
    with open_subnet(tmp_path_factory.mktemp("subnet"), senses) as running:
        yield running


@pytest.fixture
def runner(subnet: made.TestSubnet, store_url: str) -> MechanismRunner:
    return on_store(subnet.runner(only=HONEST), store_url)


def on_store(runner: MechanismRunner, url: str) -> MechanismRunner:
    """The same runner as another process would open it."""
    store = Store(url)
    journal = Journal(store)
    round_context = replace(runner.round_context, journal=journal, playing=set())
    weigh_in_context = replace(runner.weigh_in_context, journal=journal, ledger=Ledger(store, "chunking"))
    return replace(runner, round_context=round_context, weigh_in_context=weigh_in_context)


def put(runner: MechanismRunner) -> str:
    return enqueue_request(runner.round_context.journal.store, CHUNKING, PARAMS, BODY, time.time())


def state_of(runner: MechanismRunner, request: str) -> str:
    return select_request(runner.round_context.journal.store, request).state


class FreezingAsker:
    """Asks, and then stands still."""

    def __init__(self, asker: Asker) -> None:
        self._asker, self.frozen, self.thaw = asker, asyncio.Event(), asyncio.Event()

    async def ask_all(self, question: MinerQuestion, targets: list[Target], watch: LateWatch) -> list[MinerReply]:
        heard = await self._asker.ask_all(question, targets, watch)
        self.frozen.set()
        await self.thaw.wait()
        return heard


def make_scorer(
    runner: MechanismRunner, left: tuple[str, ...] = (), monotonic: Callable[[], float] = time.monotonic
) -> ObservedRoundScorer:
    store, health = runner.round_context.journal.store, Health(1800.0)
    health.add("chunking")
    return ObservedRoundScorer(store, Alerts(store, time.time), health, [runner], left, monotonic)


def make_lookout(runner: MechanismRunner, own: bool = False, **more: int) -> ObserverRuntime:
    store = runner.round_context.journal.store
    return ObserverRuntime(store, WallClock(), Alerts(store, time.time), Health(1800.0), open_seat(store), own, **more)


def test_an_observer_plays_what_is_asked_and_the_validator_scores_it(runner: MechanismRunner, store_url: str) -> None:
    request, observer = put(runner), on_store(runner, store_url)
    seat = open_seat(observer.round_context.journal.store)
    seat.take()
    played = asyncio.run(observer.observe_request(seat.name))
    assert (state_of(runner, request), observer.round_context.journal.standings("chunking")) == ("taken", ())
    assert make_scorer(runner).score() == [played, request]
    assert state_of(runner, request) == "done"
    assert {standing.hotkey for standing in runner.round_context.journal.standings("chunking")}
    assert make_scorer(runner).score() == []
    assert asyncio.run(observer.observe_request(seat.name)) is None
    assert [one for one in replay(runner.round_context.journal.store, load_mechanism) if one.fault] == []


def test_what_a_living_observer_took_is_its_own(runner: MechanismRunner) -> None:
    """The validator finishes what is open before each of its rounds: not this."""
    request, store = put(runner), runner.round_context.journal.store
    seat = open_seat(store)
    seat.take()
    take_next(store, "chunking", "underway", time.time(), seat.name)
    assert runner.recover() == []
    assert make_scorer(runner).score() == []
    assert state_of(runner, request) == "taken"
    seat.release()
    assert runner.recover() == [request]
    assert state_of(runner, request) == "waiting"


def test_one_given_up_for_dead_records_nothing_for_what_another_plays(runner: MechanismRunner, store_url: str) -> None:
    """It was only frozen: its round may not count besides the one that took its place."""
    observer, store = on_store(runner, store_url), runner.round_context.journal.store
    request = put(runner)
    seat = open_seat(observer.round_context.journal.store, lambda: time.time() - 2 * DEAD_SECONDS)
    seat.take()
    asker = FreezingAsker(observer.round_context.asker)
    observer = replace(observer, round_context=replace(observer.round_context, asker=asker))

    async def play() -> None:
        frozen = asyncio.ensure_future(observer.observe_request(seat.name))
        await asker.frozen.wait()
        assert await asyncio.to_thread(make_scorer(runner).score) == [request]
        assert list_seats(store, time.time()) == {}
        await runner.play_round("asked")
        asker.thaw.set()
        with pytest.raises(WeighbeamError, match="request_lost"):
            await frozen

    asyncio.run(play())
    assert state_of(runner, request) == "done"
    assert [row.state for row in list_rounds(store).items] == ["scored"]
    with pytest.raises(WeighbeamError, match="hotkey_locked"):
        seat.beat()


def test_two_observers_at_once_play_each_request_once(
    runner: MechanismRunner, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep_observing, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(keep_scoring, "POLL_SECONDS", 0.05)
    requests = [put(runner) for _ in range(9)]
    observers = [on_store(runner, store_url) for _ in range(2)]

    async def work() -> None:
        tasks = [asyncio.ensure_future(run_observer(make_lookout(one, rounds_at_once=2), [one])) for one in observers]
        tasks.append(asyncio.ensure_future(make_scorer(runner).keep_scoring()))
        async with asyncio.timeout(60):
            while not {await asyncio.to_thread(state_of, runner, one) for one in requests} <= {"done", "failed"}:
                await asyncio.sleep(0.1)
        assert len(select_alive(runner.round_context.journal.store)) == 2
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(work())
    store = runner.round_context.journal.store
    assert [row.state for row in list_rounds(store).items] == ["scored"] * 9
    results = [select_request(store, one).result or {} for one in requests]
    answered = [result["round"] for result in results if "round" in result]
    assert len(set(answered)) == len(answered) > 0
    assert {result.get("error") for result in results} <= {None, "no_valid_answer"}, "miners may be slow, nobody else"
    assert [one for one in replay(store, load_mechanism) if one.fault] == []
    assert list_seats(store, time.time()) == {}


def test_a_cancelled_observer_puts_back_what_it_plays(runner: MechanismRunner) -> None:
    request = put(runner)

    async def cancel() -> None:
        seat = open_seat(runner.round_context.journal.store)
        task = asyncio.ensure_future(runner.observe_request(seat.name))
        while await asyncio.to_thread(state_of, runner, request) == "waiting":
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancel())
    assert state_of(runner, request) == "waiting"


def test_what_is_taken_while_its_observer_is_cancelled_is_put_back(
    runner: MechanismRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, taken, take = put(runner), threading.Event(), type(runner)._take

    def take_slowly(*given: Any) -> Any:
        found = take(*given)
        taken.set()
        time.sleep(0.2)
        return found

    monkeypatch.setattr(type(runner), "_take", take_slowly)

    async def cancel() -> None:
        task = asyncio.ensure_future(runner.observe_request(open_seat(runner.round_context.journal.store).name))
        await asyncio.to_thread(taken.wait)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancel())
    assert state_of(runner, request) == "waiting"


def test_what_a_faulty_store_kept_from_being_recorded_is_played_again(
    runner: MechanismRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The observer lives on, so nobody else takes it up; a commit whose answer was lost is not played again."""
    monkeypatch.setattr(keep_observing, "FAULT_SECONDS", 0.0)
    store, record = runner.round_context.journal.store, Journal.record
    lookout = make_lookout(runner)
    lookout.seat.take()
    request = put(runner)

    def fail(journal: Journal, *given: Any) -> None:
        if recorded:
            record(journal, *given)
        raise WeighbeamError("store_fault", "the disk is full")

    for recorded in (False, True):
        monkeypatch.setattr(Journal, "record", fail)
        assert not asyncio.run(keep_observing.play_once(lookout, runner))
        assert lookout.health.add("chunking").last_fault == "store_fault"
        monkeypatch.setattr(Journal, "record", record)
        assert make_scorer(runner).score() == ([] if not recorded else [list_rounds(store).items[0].id, request])
    assert state_of(runner, request) == "done"
    assert not asyncio.run(keep_observing.play_once(lookout, runner))
    assert [row.state for row in list_rounds(store).items] == ["scored"]


def test_what_the_validator_cannot_score_is_asked_again_though_its_observer_lives(runner: MechanismRunner) -> None:
    store = runner.round_context.journal.store
    seat = open_seat(store)
    seat.take()
    request = put(runner)
    played = asyncio.run(runner.observe_request(seat.name))
    assert played is not None
    runner.round_context.journal.discard(played)
    assert make_scorer(runner).score() == [request]
    assert state_of(runner, request) == "waiting"


def test_an_observer_with_other_parameters_is_refused(
    subnet: made.TestSubnet, runner: MechanismRunner, store_url: str
) -> None:
    store = runner.round_context.journal.store
    check_terms(store, [runner])
    note_terms(store, [runner])
    check_terms(store, [on_store(runner, store_url)])
    with pytest.raises(WeighbeamError, match=r"observer_differs: chunking is run with another params"):
        check_terms(store, [on_store(subnet.runner(group_size=3), store_url)])


def test_observing_that_hangs_ends_the_observer(runner: MechanismRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take every request, and fail it."""
    monkeypatch.setattr(keep_observing, "FAULT_SECONDS", 0.0)
    slow = replace(runner, round_context=replace(runner.round_context, evaluation_seconds=0.0))
    lookout = make_lookout(runner, rounds_at_once=2)
    requests = [put(runner) for _ in range(3)]
    assert not asyncio.run(keep_observing.play_once(lookout, slow))
    with pytest.raises(WeighbeamError, match="watchdog"):
        asyncio.run(keep_observing.play_once(lookout, slow))
    assert [state_of(runner, one) for one in requests] == ["failed", "failed", "waiting"]


def test_rounds_of_our_own_are_played_once_in_each_interval_whoever_plays_them(runner: MechanismRunner) -> None:
    store, start = runner.round_context.journal.store, 1_800_000_000.0
    assert [claim_turn(store, "chunking", start + late) for late in (0.0, 1.0, CHALLENGE_INTERVAL_SECONDS)] == [
        True,
        False,
        True,
    ]
    assert claim_turn(store, "chunking", start), "a clock that was ahead holds nobody"
    assert claim_turn(store, "inference", start)
    assert not claim_turn(store, "inference", start - 2.0), "who is late by two seconds plays no second one"


def test_who_came_while_a_round_was_played_has_not_left(runner: MechanismRunner, store_url: str) -> None:
    """An observer's metagraph may be older than the standings it meets at the end."""
    observer = on_store(runner, store_url)
    stranger = "5Stranger"
    meeting = MeetingChain(observer.weigh_in_context.chain, lambda: stand(runner, stranger))
    observer = replace(observer, weigh_in_context=replace(observer.weigh_in_context, chain=meeting))
    asyncio.run(observer.observe_own())
    make_scorer(runner, left=("chunking",)).score()
    assert stranger in {standing.hotkey for standing in runner.round_context.journal.standings("chunking")}


class MeetingChain:
    """After it was looked at, something happens."""

    def __init__(self, chain: Any, meet: Callable[[], None]) -> None:
        self._chain, self._meet = chain, meet

    async def metagraph(self) -> Metagraph:
        graph = await self._chain.metagraph()
        await asyncio.to_thread(self._meet)
        return graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chain, name)


def stand(runner: MechanismRunner, hotkey: str) -> None:
    with runner.round_context.journal.store.write() as connection:
        before = select_standings(connection, "chunking")
        update_standings(connection, "chunking", (*before, Standing(hotkey, 1.0, {})), before)


def test_an_observer_waits_while_the_validator_is_behind(
    runner: MechanismRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep_observing, "MAX_UNSCORED", 1)
    monkeypatch.setattr(keep_observing, "FAULT_SECONDS", 0.0)
    lookout = make_lookout(runner)
    first, second = put(runner), put(runner)
    assert asyncio.run(keep_observing.play_once(lookout, runner))
    assert not asyncio.run(keep_observing.play_once(lookout, runner))
    assert lookout.health.add("chunking").last_fault == "scorer_behind"
    make_scorer(runner, left=("chunking",)).score()
    assert asyncio.run(keep_observing.play_once(lookout, runner))
    assert (state_of(runner, first), state_of(runner, second)) == ("done", "taken")


def test_that_nobody_plays_is_told_and_that_somebody_does_again(runner: MechanismRunner) -> None:
    now, store = [0.0], runner.round_context.journal.store
    health = Health(1800.0, lambda: now[0])
    health.add("chunking")
    scorer = ObservedRoundScorer(store, Alerts(store, time.time), health, [runner], ("chunking",), lambda: now[0])
    scorer.score()
    now[0] = 2000.0
    health.weigh("chunking")
    scorer.score()
    assert health.report()["status"] == "stalled"
    assert health.hung() == [], "to end would bring no observer back"
    assert [notice.code for notice in list_notices(store)] == ["no_observers"]
    seat = open_seat(store)
    seat.take()
    scorer.score()
    assert health.report()["status"] == "ok"
    assert list_notices(store) == ()
