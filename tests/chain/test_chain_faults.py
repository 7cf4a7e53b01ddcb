"""A chain at fault, through weigh-in and ledger: what the row ends as, what is told, and what the chain has seen."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from chain.administration import set_parameters
from engine.small_subnet import (
    ALICE,
    START,
    Observed,
    count_taken,
    list_faults,
    make_chain,
    make_weigh_in_context,
    observe_example,
    open_store,
    play,
)
from weighbeam.chain.contract import ChainFault
from weighbeam.chain.local import port
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import FaultSwitches, LocalChain
from weighbeam.chain.weight_row import CODES
from weighbeam.engine.alerts.alerts import REMEDIES
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.weigh_in import WeighInResult, weigh_in
from weighbeam.engine.weights.weigh_in_alerts import list_raised
from weighbeam.senses.local import LocalSenses


@pytest.fixture(scope="module")
def observed(senses: LocalSenses) -> Observed:
    return observe_example(senses)


@pytest.fixture
def file(tmp_path: Path, observed: Observed) -> ChainFile:
    return make_chain(tmp_path, serve_nowhere(observed))


@pytest.fixture
def weigh_in_context(tmp_path: Path, file: ChainFile, observed: Observed) -> WeighInContext:
    made = make_weigh_in_context(open_store(tmp_path), file)
    play(made.journal, observed, "r0")
    return made


def serve_nowhere(observed: Observed) -> dict[str, str]:
    return {answer.hotkey: "127.0.0.1:8000" for answer in observed[0].answers}


def weigh(weigh_in_context: WeighInContext, now: float = START + 60) -> WeighInResult:
    return asyncio.run(weigh_in(weigh_in_context, now))


def tell(done: WeighInResult, before: str | None = None) -> list[tuple[str, str]]:
    """Code and level of what a weigh-in raises; each has a remedy."""
    told = list_raised(done, before, stalled=False)
    assert all(REMEDIES[one.code] for one in told)
    return [(one.code, one.level) for one in told]


def test_an_undisturbed_weigh_in_tells_nothing(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    done = weigh(weigh_in_context)
    assert done.submission.state == "confirmed"
    assert tell(done) == []
    assert count_taken(file) == 1


@pytest.mark.parametrize("faults", [FaultSwitches(unreachable=True), FaultSwitches(delay_seconds=99)])
def test_a_chain_that_does_not_answer_is_told_and_left_alone(
    weigh_in_context: WeighInContext, file: ChainFile, faults: FaultSwitches
) -> None:
    weigh_in_context.chain.faults = faults
    done = weigh(weigh_in_context)
    assert (done.decision.reason, done.submission) == ("chain_unreadable", None)
    assert tell(done) == [("chain_unreadable", "warning")]
    weigh_in_context.chain.faults = FaultSwitches()
    again = weigh(weigh_in_context, START + 120)
    assert again.submission.state == "confirmed"
    assert tell(again, "UNREADABLE") == [("chain_unreadable", "info")]
    assert count_taken(file) == 1
    assert list_faults(weigh_in_context.journal.store) == []


def test_a_chain_silent_for_days_is_acted_on_as_degraded_and_never_as_emergency(
    weigh_in_context: WeighInContext,
) -> None:
    weigh(weigh_in_context)
    weigh_in_context.chain.faults = FaultSwitches(unreachable=True)
    done = weigh(weigh_in_context, START + 30 * 24 * 3600)
    assert (done.mode.mode, done.decision.reason) == ("DEGRADED", "chain_unreadable")
    assert tell(done) == [("chain_unreadable", "critical")]


@pytest.mark.parametrize(("call", "turn"), [("metagraph", 2), ("submit", 1)])
def test_a_chain_that_goes_down_between_plan_and_send_fails_the_row(
    weigh_in_context: WeighInContext, file: ChainFile, monkeypatch: pytest.MonkeyPatch, call: str, turn: int
) -> None:
    """Down at the second look at the metagraph, or at the call itself: nothing was sent either way."""
    chain, seen = weigh_in_context.chain, []
    real = getattr(chain, call)

    async def go_down(*given: object) -> object:
        seen.append(given)
        if len(seen) == turn:
            chain.faults = FaultSwitches(unreachable=True)
        return await real(*given)

    monkeypatch.setattr(chain, call, go_down)
    done = weigh(weigh_in_context)
    assert (done.submission.state, done.submission.reason) == ("failed", "unreachable")
    assert tell(done) == [("submission_failed", "warning")]
    assert count_taken(file) == 0
    monkeypatch.undo()
    chain.faults = FaultSwitches()
    assert weigh(weigh_in_context, START + 120).submission.state == "confirmed"
    assert count_taken(file) == 1


def test_a_slow_chain_is_only_slow(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    weigh_in_context.chain.faults = FaultSwitches(delay_seconds=0.05)
    assert weigh(weigh_in_context).submission.state == "confirmed"
    assert count_taken(file) == 1


def test_a_submission_that_outlives_its_limit_is_found_and_not_sent_again(
    weigh_in_context: WeighInContext, file: ChainFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = port.submit_weights

    def submit_late(*given: object) -> object:
        time.sleep(0.8)
        return real(*given)

    monkeypatch.setattr(port, "submit_weights", submit_late)
    done = weigh(replace(weigh_in_context, chain=LocalChain(file, ALICE, seconds=0.5)))
    assert done.submission.state in ("confirmed", "unknown")
    settled = asyncio.run(weigh_in_context.ledger.settle(weigh_in_context.chain, ALICE.address)) or done.submission
    assert settled.state == "confirmed"
    assert count_taken(file) == 1


def test_a_lost_reply_is_read_back_and_tells_nothing(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    weigh_in_context.chain.faults = FaultSwitches(lose_reply=True)
    done = weigh(weigh_in_context)
    assert done.submission.state == "confirmed"
    assert tell(done) == []
    assert count_taken(file) == 1


def test_a_lost_reply_to_a_commit_is_read_back_too(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    set_parameters(file, commit_reveal=True)
    weigh_in_context.chain.faults = FaultSwitches(lose_reply=True)
    assert weigh(weigh_in_context).submission.state == "included"
    weigh_in_context.chain.faults = FaultSwitches()
    advance(file, 20)
    done = weigh(weigh_in_context, START + 120)
    assert done.settled.state == "confirmed"
    assert tell(done) == []
    assert [row.state for row in weigh_in_context.ledger.rows()] == ["confirmed", "included"]
    assert count_taken(file) == 2


def test_while_an_outcome_is_unknown_nothing_is_sent(
    weigh_in_context: WeighInContext, file: ChainFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(*_: object) -> None:
        raise ChainFault("unreachable", "no answer", "wait")

    weigh_in_context.chain.faults = FaultSwitches(lose_reply=True)
    monkeypatch.setattr(weigh_in_context.chain, "stored", unreadable)
    assert weigh(weigh_in_context).submission.state == "unknown"
    advance(file, 5)
    again = weigh(weigh_in_context, START + 120)
    assert (again.decision.action, again.submission) == ("submit", None)
    assert count_taken(file) == 1
    monkeypatch.undo()
    assert weigh(weigh_in_context, START + 180).settled.state == "confirmed"


@pytest.mark.parametrize("name", [*CODES, "SomethingNobodyKnows"])
def test_a_refusal_fails_the_row_by_our_code_and_waiting_is_no_alert(
    weigh_in_context: WeighInContext, file: ChainFile, name: str
) -> None:
    code = CODES.get(name, "unknown_chain_error")
    weigh_in_context.chain.faults = FaultSwitches(refuse_with=name)
    done = weigh(weigh_in_context)
    assert (done.submission.state, done.submission.reason) == ("failed", code)
    assert tell(done) == ([] if code == "rate_limited" else [("submission_failed", "warning")])
    assert count_taken(file) == 0
    weigh_in_context.chain.faults = FaultSwitches()
    assert weigh(weigh_in_context, START + 120).submission.state == "confirmed"
    assert count_taken(file) == 1


def test_a_chain_that_stands_still_holds_us_to_its_rate_limit(
    tmp_path: Path, weigh_in_context: WeighInContext, observed: Observed
) -> None:
    """Blocks stop coming: the second weigh-in waits, and goes out once they come again."""
    now = [START]
    make_chain(tmp_path / "clocked", serve_nowhere(observed)).close()
    file = ChainFile(tmp_path / "clocked" / "chain.sqlite", clock=lambda: now[0])
    with file.locked():
        file.write("manual", False)
        file.write("genesis_time", START - 12.0 * file.read("head"))
    frozen = replace(weigh_in_context, chain=LocalChain(file, ALICE, faults=FaultSwitches(freeze_clock=True)))
    assert weigh(frozen).submission.state == "confirmed"
    now[0] += 600
    assert weigh(frozen, START + 600).decision.reason == "rate_limited"
    frozen.chain.faults = FaultSwitches()
    assert weigh(frozen, START + 601).submission.state == "confirmed"
    assert count_taken(file) == 2


def test_a_reveal_that_is_dropped_fails_the_row_and_is_told(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    set_parameters(file, commit_reveal=True)
    weigh_in_context.chain.faults = FaultSwitches(drop_reveals=True)
    assert weigh(weigh_in_context).submission.state == "included"
    advance(file, 40)
    done = weigh(weigh_in_context, START + 120)
    assert (done.settled.state, done.settled.reason) == ("failed", "reveal_missing")
    assert tell(done) == [("reveal_missing", "warning")]
    assert done.submission.state == "included"
    assert count_taken(file) == 2


def test_a_uid_pruned_between_plan_and_send_is_dropped_and_the_stranger_is_not_paid(
    weigh_in_context: WeighInContext, file: ChainFile
) -> None:
    old = asyncio.run(weigh_in_context.chain.metagraph()).find("paragraphs")
    weigh_in_context.chain.faults = FaultSwitches(prune_uid=old.uid)
    done = weigh(weigh_in_context)
    assert done.submission.state == "confirmed"
    assert done.submission.plan["dropped_uids"] == [old.uid]
    row = dict(asyncio.run(weigh_in_context.chain.stored(ALICE.address)).row)
    assert set(row) == set(done.decision.uids) - {old.uid}
    assert max(row.values()) == 65535
    assert tell(done) == []
    advance(file, 20)
    paid = {neuron.uid: neuron.incentive for neuron in asyncio.run(weigh_in_context.chain.metagraph()).neurons}
    assert paid[old.uid] == 0
    assert sum(paid.values()) > 0


def test_when_pruning_leaves_too_few_nothing_is_sent(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    first = weigh(weigh_in_context)
    advance(file, 20)
    set_parameters(file, min_allowed_weights=len(first.decision.uids))
    weigh_in_context.chain.faults = FaultSwitches(prune_uid=first.decision.uids[0])
    done = weigh(weigh_in_context, START + 120)
    assert (done.submission.state, done.submission.reason) == ("failed", "too_few_weights")
    assert tell(done) == [("submission_failed", "warning")]
    assert count_taken(file) == 1


def test_a_chain_file_locked_by_others_or_damaged_is_a_chain_that_cannot_be_read(
    tmp_path: Path, weigh_in_context: WeighInContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weighbeam.chain.local.file.BUSY_SECONDS", 0.1)
    path = tmp_path / "chain.sqlite"
    impatient = replace(weigh_in_context, chain=LocalChain(ChainFile(path), ALICE))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert tell(weigh(impatient)) == [("chain_unreadable", "warning")]
    other.execute("ROLLBACK")
    assert weigh(impatient, START + 61).submission.state == "confirmed"
    other.execute("PRAGMA writable_schema = ON")
    other.execute("UPDATE sqlite_master SET rootpage = 9999 WHERE name = 'neurons'")
    other.execute("PRAGMA schema_version = 9999")
    assert tell(weigh(impatient, START + 120)) == [("chain_unreadable", "warning")]


def test_a_stop_that_comes_just_as_a_call_ends_is_heeded(
    weigh_in_context: WeighInContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stop_while_ending(action: Callable[[], object]) -> object:
        asyncio.get_running_loop().call_soon(tasks[0].cancel)
        return action()

    async def work() -> None:
        await weigh_in_context.chain.head()
        await asyncio.sleep(30)

    async def stop() -> None:
        tasks.append(asyncio.create_task(work()))
        async with asyncio.timeout(5):
            await asyncio.gather(*tasks, return_exceptions=True)

    tasks: list[asyncio.Task[None]] = []
    monkeypatch.setattr(asyncio, "to_thread", stop_while_ending)
    asyncio.run(stop())
    assert tasks[0].cancelled()


def test_many_threads_may_read_the_chain_s_clock(file: ChainFile) -> None:
    clock = ChainClock(file)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: clock.now(), range(200)))) == 1


def test_the_chain_s_clock_goes_on_while_its_file_is_locked(file: ChainFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.chain.local.file.BUSY_SECONDS", 0.05)
    clock, fresh = ChainClock(ChainFile(file.path)), ChainClock(ChainFile(file.path))
    before = clock.now()
    other = sqlite3.connect(file.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert before < clock.now() < before + 60
    with pytest.raises(ChainFault, match="unreachable"):
        fresh.now()
    other.execute("ROLLBACK")
    assert clock.now() == before
