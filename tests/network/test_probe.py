"""Our own network is blamed only if nobody answered and the probe failed too."""

import asyncio
import time

import pytest

from network.loopback import free_port, serve_raw
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.ask import MinerReply
from weighbeam.network.blame import blame_our_network
from weighbeam.network.probe import can_reach


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


def test_one_target_that_answers_is_enough() -> None:
    with serve_raw(silent) as endpoint:
        closed = f"127.0.0.1:{free_port()}"
        assert asyncio.run(can_reach([closed, "nowhere.invalid:80", endpoint]))
        assert not asyncio.run(can_reach([closed, "nowhere.invalid:80"]))
        assert not asyncio.run(can_reach([]))


def test_a_target_that_hangs_costs_no_more_than_the_limit() -> None:
    """A listener with a full backlog lets nobody in and turns nobody away."""
    import socket

    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(8)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        start = time.monotonic()
        assert not asyncio.run(can_reach([f"{address[0]}:{address[1]}"], seconds=0.4))
        assert 0.3 < time.monotonic() - start < 10
        with serve_raw(silent) as endpoint:
            start = time.monotonic()
            assert asyncio.run(can_reach([f"{address[0]}:{address[1]}", endpoint], seconds=20))
            assert time.monotonic() - start < 10
        for each in waiting:
            each.close()


def test_a_probe_that_cannot_be_one_is_told() -> None:
    with pytest.raises(WeighbeamError, match="bad_probe"):
        asyncio.run(can_reach(["1.1.1.1:99999"]))


def heard(*outcomes: tuple[str, str | None]) -> list[MinerReply]:
    return [MinerReply(f"miner {n}", status, reason, 0.0) for n, (status, reason) in enumerate(outcomes)]


LOST = [("unreachable", "connect"), ("unreachable", "resolve"), ("timeout", None)]
ASIDE = [("unreachable", "no_endpoint"), ("unreachable", "bad_address")]


def test_when_everybody_is_lost_and_the_probe_too_the_round_is_void() -> None:
    replies = blame_our_network(heard(*LOST, *ASIDE), reachable=False)
    assert {(reply.status, reply.reason) for reply in replies} == {("validator_error", "network")}
    assert [reply.hotkey for reply in replies] == [f"miner {n}" for n in range(5)]


def test_while_the_probe_succeeds_the_miners_answer_for_themselves() -> None:
    replies = heard(*LOST, *ASIDE)
    assert blame_our_network(replies, reachable=True) == replies


@pytest.mark.parametrize(
    "alive",
    [
        ("ok", None), ("error", "503"), ("error", "stale"), ("malformed", "cut"), ("malformed", "protocol"),
        ("too_large", None), ("unreachable", "wrong_receiver"),
    ],
)  # fmt: skip
def test_one_sign_of_life_clears_our_network(alive: tuple[str, str | None]) -> None:
    replies = heard(*LOST, alive, *LOST)
    assert blame_our_network(replies, reachable=False) == replies


def test_those_never_dialled_are_no_evidence() -> None:
    for outcomes in ([], ASIDE, [("validator_error", "memory")]):
        replies = heard(*outcomes)
        assert blame_our_network(replies, reachable=False) == replies


def test_a_fault_of_ours_keeps_its_name() -> None:
    replies = blame_our_network(heard(("validator_error", "memory"), ("timeout", None)), reachable=False)
    assert [reply.reason for reply in replies] == ["memory", "network"]
