"""Each fault of the chain specification's list, through the adapter and the unmodified SDK: it ends in progress or a
loud fault, the ledger tells the truth, and nothing is submitted twice."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chain.administration import set_parameters
from chain.stand import Stand, make_adapter, open_stand, tell
from engine.small_subnet import ALICE, START, Observed, list_faults
from loopnode.faults import CUSTOM_6, PRIORITY, TRAFFIC, Faults
from loopnode.need import need_sdk
from weighbeam.chain.contract import ChainFault
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.weight_row import CODES

need_sdk()

WATCH = "author_submitAndWatchExtrinsic"


@pytest.fixture(params=["bittensor", pytest.param("proxy", marks=pytest.mark.slow)])
def stand(request: pytest.FixtureRequest, tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    with open_stand(request.param, tmp_path, observed_addresses) as made:
        from loopnode.notes import note_commits

        note_commits(made.node)
        yield made


def catch(stand: Stand, work: Any) -> ChainFault:
    with pytest.raises(ChainFault) as caught:
        stand.run(work)
    assert caught.value.remedy
    return caught.value


def states(stand: Stand) -> list[tuple[str, str | None]]:
    return [(row.state, row.reason) for row in stand.weigh_in_context.ledger.rows()]


def hurry(stand: Stand, **seconds: float) -> None:
    """Scale limits down, now that the connection stands."""
    for name, value in seconds.items():
        setattr(stand.limits, name, value)


def goes_on(stand: Stand, taken: int, now: float = START + 300) -> None:
    """The fault is over: the next weigh-in lands, and the chain holds the ledger's row to the unit."""
    stand.node.faults = Faults()
    hurry(stand, connect=20, read=20, submit=20, stall=60)
    stand.node.step(5)
    done = stand.weigh(now)
    assert done.submission.state == "confirmed", done
    assert stand.stored() == done.submission.weights
    assert stand.count_taken() == taken
    assert list_faults(stand.weigh_in_context.journal.store) == []


async def count_sessions(at_most: int, seconds: float = 10.0) -> int:
    """How many connections of the SDK there are, once they are as few as they should be."""
    for _ in range(int(seconds / 0.05)):
        found = sum(task.get_name() == "rpc-session" for task in asyncio.all_tasks())
        if found <= at_most:
            break
        await asyncio.sleep(0.05)
    return found


def test_a_socket_that_accepts_and_never_answers(stand: Stand) -> None:
    stand.node.faults.silent = True
    hurry(stand, connect=0.3, read=0.3)
    done = stand.weigh()
    assert (done.decision.reason, done.fault.code) == ("chain_unreadable", "timeout")
    assert catch(stand, stand.chain.head()).code == "timeout"
    goes_on(stand, 1)
    stand.server.drop_all()
    assert stand.run(count_sessions(1)) <= 1


def test_a_node_that_falls_silent_with_our_submission_in_its_pool(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the end of the watch is answered: the limit holds nevertheless."""
    real = stand.chain._send

    async def send(*given: Any) -> Any:
        try:
            return await real(*given)
        finally:
            hurry(stand, read=0.5, connect=0.5)

    monkeypatch.setattr(stand.chain, "_send", send)
    stand.node.instant, stand.node.faults.silent_after_watch = False, True
    hurry(stand, submit=2.5, close=0.2)
    began = time.monotonic()
    done = stand.weigh()
    assert time.monotonic() - began < 15
    assert (done.submission.state, done.submission.reason) == ("unknown", "outcome_unknown")
    stand.node.instant, stand.node.faults = True, Faults()
    monkeypatch.undo()
    hurry(stand, submit=20, read=20, connect=20)
    stand.server.drop_all()
    stand.node.step()
    assert stand.weigh(START + 120).settled.state == "confirmed"
    assert stand.count_taken() == 1
    assert stand.run(count_sessions(1)) <= 1


def test_a_node_that_is_not_there(stand: Stand) -> None:
    stand.run(stand.chain.head())
    gone = make_adapter(stand, stand.file.path.parent, "ws://127.0.0.1:9")
    assert catch(stand, gone.head()).code == "unreachable"


def test_a_fallback_is_used_only_where_one_is_named(stand: Stand) -> None:
    other = make_adapter(stand, stand.file.path.parent, "ws://127.0.0.1:9", fallbacks=(stand.server.url,))
    assert stand.run(other.head()).block == stand.node.head
    stand.run(other.close())


def test_one_adapter_may_be_used_from_one_event_loop_after_another(stand: Stand) -> None:
    async def look() -> int:
        block = (await stand.chain.head()).block
        await stand.chain.close()
        return block

    assert [asyncio.run(look()) for _ in range(2)] == [stand.node.head] * 2
    assert stand.weigh().submission.state == "confirmed"


def test_an_answer_slower_than_the_limit(stand: Stand) -> None:
    stand.run(stand.chain.head())
    stand.node.faults.slow_calls = {"state_call": 2.0}
    hurry(stand, read=0.5)
    fault = catch(stand, stand.chain.metagraph())
    assert (fault.code, fault.outcome) == ("timeout", "not_sent")
    goes_on(stand, 1)
    assert stand.server.connections >= 2


def test_a_connection_that_drops_during_a_read(stand: Stand) -> None:
    stand.run(stand.chain.head())
    stand.node.faults.drop_calls = {"state_call": 1}
    assert stand.weigh().submission.state == "confirmed"
    assert stand.count_taken() == 1
    assert stand.server.connections == 2


def test_a_drop_after_a_submission_that_was_included(stand: Stand) -> None:
    stand.node.faults.drop_submission = "included"
    done = stand.weigh()
    assert done.submission.state == "confirmed"
    assert tell(done) == []
    assert stand.server.calls.count(WATCH) == 1
    goes_on(stand, 2)


def test_a_drop_after_a_submission_that_was_lost(stand: Stand) -> None:
    stand.node.faults.drop_submission = "lost"
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == ("unknown", "outcome_unknown")
    stand.node.faults = Faults()
    stand.node.step(10)
    waiting = stand.weigh(START + 120)
    assert (waiting.decision.action, waiting.submission) == ("submit", None)
    assert stand.server.calls.count(WATCH) == 1
    stand.node.step(stand.chain.period)
    goes_on(stand, 1)
    assert states(stand) == [("failed", "not_included"), ("confirmed", None)]


def test_a_submission_that_never_gets_into_a_block_in_time_is_found_later(stand: Stand) -> None:
    stand.node.instant = False
    hurry(stand, submit=2.5)
    done = stand.weigh()
    hurry(stand, submit=20)
    assert (done.submission.state, done.submission.reason) == ("unknown", "outcome_unknown")
    stand.node.step()
    assert stand.weigh(START + 120).settled.state == "confirmed"
    assert stand.count_taken() == 1


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (CUSTOM_6, "rate_limited", []),
        (PRIORITY, "priority_too_low", [("submission_failed", "warning")]),
        ({"code": 1010, "message": "Invalid Transaction", "data": "Custom error: 1"}, "low_stake", None),
        ({"code": 1010, "message": "Invalid Transaction", "data": "Custom error: 99"}, "pool_rejected", None),
    ],
)
def test_a_pool_that_refuses(stand: Stand, error: dict, code: str, told: list | None) -> None:
    stand.node.faults.pool_error = error
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == ("failed", code)
    assert told is None or tell(done) == told
    goes_on(stand, 1)


def test_a_node_s_own_words_are_kept_short_and_harmless(stand: Stand) -> None:
    words = "Invalid Transaction \x1b[2J\r\nweights confirmed " + "x" * 5000
    stand.node.faults.pool_error = {"code": 1010, "message": words}
    fault = catch(stand, stand.chain.submit([1], [65535], 0))
    assert (fault.code, fault.outcome) == ("pool_rejected", "rejected")
    assert fault.message.isprintable()
    assert len(fault.message) < 700


def test_a_watched_submission_that_turns_invalid(stand: Stand) -> None:
    stand.node.faults.watch_status = "invalid"
    assert stand.weigh().submission.reason == "pool_rejected"
    goes_on(stand, 1)


@pytest.mark.parametrize("status", ["usurped", "dropped", "retracted", "finalityTimeout"])
def test_a_watched_submission_whose_end_says_nothing_is_left_open(stand: Stand, status: str) -> None:
    stand.node.faults.watch_status = status
    assert stand.weigh().submission.state == "unknown"
    stand.node.step(stand.chain.period + 1)
    goes_on(stand, 1)


def test_every_refusal_of_the_chain_s_own_comes_back_by_our_code(stand: Stand) -> None:
    """Included, but failed: each name of the checks, decoded by the SDK from the runtime's metadata."""

    async def submit_each() -> dict[str, tuple[str, str]]:
        found = {}
        for name in CODES:
            if name == "RateLimitExceeded":
                continue
            stand.node.faults.dispatch_error = name
            with pytest.raises(ChainFault) as caught:
                await stand.chain.submit([1], [65535], 0)
            assert name in caught.value.message
            assert (caught.value.retry_block is not None) == (caught.value.code == "rate_limited")
            found[name] = caught.value.code, caught.value.outcome
        return found

    found = stand.run(submit_each())
    assert found == {name: (code, "rejected") for name, code in CODES.items() if name != "RateLimitExceeded"}
    stand.node.faults.dispatch_error = "SubtokenDisabled"
    fault = catch(stand, stand.chain.submit([1], [65535], 0))
    assert fault.code == "unknown_chain_error"
    assert "SubtokenDisabled" in fault.message
    goes_on(stand, 1)


@pytest.mark.parametrize(
    "fault", [{"call_errors": {"state_call": TRAFFIC}}, {"handshake_status": 429}, {"close_code": 1008}]
)
def test_an_endpoint_that_refuses_our_traffic_is_not_pressed(stand: Stand, fault: dict) -> None:
    stand.node.faults = Faults(**fault)
    done = stand.weigh()
    assert (done.decision.reason, done.fault.code) == ("chain_unreadable", "endpoint_refused")
    assert "close_code" in fault or "30" in done.fault.message
    goes_on(stand, 1)


def test_a_head_that_stands_still_is_a_stalled_chain(stand: Stand) -> None:
    stand.run(stand.chain.head())
    hurry(stand, stall=0.05)
    time.sleep(0.1)
    assert catch(stand, stand.chain.head()).code == "stalled"
    assert catch(stand, stand.chain.metagraph()).code == "stalled"
    assert [(code, level) for code, level, _ in stand.told] == [("stalled", "warning")]
    assert stand.weigh().decision.reason == "chain_unreadable"
    goes_on(stand, 1)


def test_a_head_that_goes_back_before_finality(stand: Stand) -> None:
    stand.node.lag = 2
    stand.node.step(3)
    before = stand.run(stand.chain.head())
    stand.node.faults.head_back = 1
    after = stand.run(stand.chain.head())
    assert after.block == before.block
    assert after.finalized <= before.finalized
    assert stand.run(stand.chain.metagraph()).block == before.block - 1
    stand.node.lag = 0
    goes_on(stand, 1)


def test_a_runtime_that_is_upgraded_while_we_are_connected(stand: Stand) -> None:
    before = stand.run(stand.chain.head())
    stand.node.faults.spec_version = before.spec_version + 1
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == ("failed", "pool_rejected")
    again = stand.weigh(START + 120)
    assert again.submission.state == "confirmed"
    assert stand.run(stand.chain.head()).spec_version == before.spec_version + 1
    assert [(code, level) for code, level, _ in stand.told] == [("runtime_changed", "warning")]
    assert stand.count_taken() == 1


def test_a_runtime_that_lacks_what_the_sdk_reads(stand: Stand) -> None:
    stand.node.faults.without_consensus = True
    fault = catch(stand, stand.chain.rules())
    assert fault.code == "runtime_mismatch"
    assert "SubnetEpochConsensus" in fault.message
    assert "461" in fault.message
    assert [(code, level) for code, level, _ in stand.told] == [("runtime_mismatch", "critical")]
    assert stand.weigh().decision.reason == "chain_unreadable"
    assert stand.count_taken() == 0


def test_a_consensus_we_do_not_know_is_refused(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    codec = stand.node.codec
    key = codec.storage_key(codec.storage_entry("SubtensorModule", "SubnetEpochConsensus"), [1])
    stand.node.find_block(stand.node.head).state[key] = b"\x01"
    assert catch(stand, stand.chain.rules()).code == "unsupported_consensus"


def test_commit_reveal_turned_on_between_plan_and_send(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    real = stand.chain._send

    async def turn_on(*given: Any) -> Any:
        set_parameters(stand.file, commit_reveal=True)
        return await real(*given)

    monkeypatch.setattr(stand.chain, "_send", turn_on)
    done = stand.weigh()
    assert done.submission.state == "included"
    assert tell(done) == []
    assert stand.weigh(START + 90).decision.reason == "rate_limited"
    stand.node.step(20)
    assert stand.weigh(START + 120).settled.state == "confirmed"
    assert stand.count_taken() == 2


def test_a_lost_answer_to_a_commit_is_read_back(stand: Stand) -> None:
    set_parameters(stand.file, commit_reveal=True)
    stand.node.faults.drop_submission = "included"
    assert stand.weigh().submission.state == "included"
    stand.node.faults = Faults()
    advance(stand.file, 20)
    assert stand.weigh(START + 120).settled.state == "confirmed"
    assert stand.server.calls.count(WATCH) == 2


def test_a_reveal_of_another_row_than_ours_is_told(stand: Stand) -> None:
    set_parameters(stand.file, commit_reveal=True)
    stand.node.opener = lambda *_: ((1,), (65535,), 0)
    done = stand.weigh()
    assert done.submission.state == "included"
    advance(stand.file, 40)
    again = stand.weigh(START + 120)
    assert (again.settled.state, again.settled.reason) == ("failed", "weights_differ")
    assert tell(again)[0] == ("weights_differ", "critical")
    assert again.settled.found == [[1, 65535]]


def test_a_version_key_raised_after_the_rules_were_read(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    real = stand.chain._send

    async def raise_key(*given: Any) -> Any:
        set_parameters(stand.file, version_key=5)
        return await real(*given)

    monkeypatch.setattr(stand.chain, "_send", raise_key)
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == ("failed", "version_key")
    assert stand.count_taken() == 0


def test_two_adapters_with_one_hotkey_and_the_ledger_knows_whose_row_it_is(stand: Stand) -> None:
    other = make_adapter(stand, stand.file.path.parent)
    stand.node.faults.drop_submission = "lost"
    assert stand.weigh().submission.state == "unknown"
    stand.node.faults = Faults()
    sent = stand.run(other.submit([1], [65535], 0))
    assert sent.path == "plain"
    again = stand.weigh(START + 120)
    assert (again.settled.state, again.settled.reason) == ("failed", "overwritten")
    assert ("weights_differ", "critical") in tell(again)
    stand.run(other.close())


@pytest.mark.parametrize("lost", [False, True])
def test_the_commits_of_another_program_hold_no_row_of_ours_open(stand: Stand, lost: bool) -> None:
    """It seals a row in every epoch, so that one of this hotkey always waits for its reveal."""
    set_parameters(stand.file, commit_reveal=True)
    other = make_adapter(stand, stand.file.path.parent)
    stand.node.faults.drop_submission = "included" if lost else None
    ours = stand.weigh().submission
    stand.node.faults = Faults()
    assert (ours.state, ours.included_block) == ("included", stand.node.head)
    stand.node.step(20)
    assert stand.run(other.submit([1], [65535], 0)).reveal_round
    assert ours.plan["reveal_round"]
    settled = stand.run(stand.weigh_in_context.ledger.settle(stand.chain, ALICE.address))
    assert (settled.state, settled.reason) == ("confirmed", None)
    stand.run(other.close())


def test_two_submissions_at_once_of_one_hotkey_go_one_after_the_other(stand: Stand) -> None:
    other = make_adapter(stand, stand.file.path.parent)

    async def both() -> list[Any]:
        work = (stand.chain.submit([1], [65535], 0), other.submit([2], [65535], 0))
        found = await asyncio.gather(*work, return_exceptions=True)
        await other.close()
        return found

    first, second = stand.run(both())
    assert first.path == "plain"
    assert second.code == "rate_limited"
    assert second.retry_block == first.block + 5
    assert stand.count_taken() == 1


def test_what_could_be_included_too_late_for_its_plan_is_not_even_signed(stand: Stand) -> None:
    head = stand.run(stand.chain.head()).block
    fault = catch(stand, stand.chain.submit([1], [65535], 0, before=head + 5))
    assert (fault.code, fault.outcome) == ("timeout", "not_sent")
    assert stand.server.calls.count(WATCH) == 0
    assert stand.run(stand.chain.submit([1], [65535], 0, before=head + 33)).path == "plain"


def test_a_spy_cannot_replay_or_change_what_we_signed(stand: Stand) -> None:
    """The node verifies as the chain does: the same bytes again, or other bytes, are refused."""
    from loopnode.extrinsic import PoolRefusal

    stand.weigh()
    (ours,) = stand.node.included
    with pytest.raises(PoolRefusal, match="outdated"):
        stand.node.submit(ours.data)
    changed = bytearray(ours.data)
    changed[-20] ^= 1
    with pytest.raises(PoolRefusal, match="bad signature"):
        stand.node.submit(bytes(changed))
    assert stand.run(stand.chain.stored(ALICE.address)).row == stand.weigh_in_context.ledger.rows()[0].weights
