"""Without a validator permit nobody is asked, nobody is charged, and the operator is told how to get one."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.small_subnet import (
    ALICE,
    CHUNKING,
    PARAMS,
    TAO,
    Turned,
    list_rounds,
    make_runner,
    make_runtime,
    make_task,
    open_store,
    serve_miners,
)
from weighbeam.chain.contract import Metagraph, Neuron
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.notices import list_notices
from weighbeam.engine.requests.organic import enqueue_request, select_request
from weighbeam.engine.rounds.permit import find_bar
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.observer import ObserverRuntime
from weighbeam.engine.running.observer import play_once as observe_once
from weighbeam.engine.running.runtime import play_once
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.senses.local import LocalSenses

RULES = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)


@pytest.fixture(scope="module")
def miners(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with serve_miners(tmp_path_factory.mktemp("miners"), senses) as endpoints:
        yield endpoints


def make_young_chain(folder: Path, endpoints: dict[str, str]) -> ChainFile:
    """Alice has the stake for a permit, and the first epoch has not granted it yet."""
    file = ChainFile.create(folder / "chain.sqlite", RULES, manual=True)
    register(file, ALICE.address, stake=5000 * TAO)
    for hotkey, endpoint in endpoints.items():
        register(file, hotkey)
        announce(file, hotkey, endpoint)
    return file


def test_nobody_is_asked_until_the_permit_is_there(tmp_path: Path, senses: LocalSenses, miners: dict[str, str]) -> None:
    store, file, clock = open_store(tmp_path), make_young_chain(tmp_path, miners), Turned()
    runtime, runner = make_runtime(store, clock), make_runner(store, file, senses, clock)
    for _ in range(2):
        asyncio.run(play_once(runtime, runner, own=True))
    assert list_rounds(store) == []
    assert runner.round_context.journal.standings("chunking") == ()
    (notice,) = [one for one in list_notices(store) if one.closed is None]
    assert (notice.code, notice.mechanism, notice.level) == ("no_permit", "chunking", "critical")
    assert "wait for the next epoch (block " in notice.text
    assert runtime.health.pulses["chunking"].last_fault == "no_permit"
    advance(file, 20)
    asyncio.run(play_once(runtime, runner, own=True))
    assert len(list_rounds(store)) == 1
    assert [one for one in list_notices(store) if one.closed is None] == []


def test_an_observer_asks_nobody_either(
    tmp_path: Path, senses: LocalSenses, miners: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weighbeam.engine.running.observer.FAULT_SECONDS", 0.0)
    store, file, clock = open_store(tmp_path), make_young_chain(tmp_path, miners), Turned()
    alerts = make_runtime(store, clock).alerts
    lookout = ObserverRuntime(store, clock, alerts, Health(1800.0), HotkeyLock(store, "observer"), own=True)
    runner = make_runner(store, file, senses, clock)
    assert not asyncio.run(observe_once(lookout, runner))
    assert [one.code for one in list_notices(store) if one.closed is None] == ["no_permit"]


def test_a_request_fails_with_the_reason(tmp_path: Path, senses: LocalSenses, miners: dict[str, str]) -> None:
    store, file = open_store(tmp_path), make_young_chain(tmp_path, miners)
    runner = make_runner(store, file, senses, Turned())
    request = enqueue_request(store, CHUNKING, PARAMS, make_task("seed").body, 1.0)
    with pytest.raises(WeighbeamError, match="no_permit"):
        asyncio.run(runner.play_round())
    assert select_request(store, request).result["error"] == "no_permit"


def test_where_miners_need_none_they_are_asked(tmp_path: Path, senses: LocalSenses, miners: dict[str, str]) -> None:
    store, file = open_store(tmp_path), make_young_chain(tmp_path, miners)
    runner = replace(make_runner(store, file, senses, Turned()), require_permit=False)
    done = asyncio.run(runner.play_round())
    assert [score.status for score in done.scored.scores] == ["valid"] * 2


def read_bar(file: ChainFile, *changed: tuple[str, int, bool]) -> WeighbeamError | None:
    """The bar of Alice among neurons with so much stake, with or without a permit."""

    async def read() -> WeighbeamError | None:
        chain = LocalChain(file, ALICE)
        graph, rules = await chain.metagraph(), await chain.rules()
        neurons = tuple(
            Neuron(uid, hotkey, hotkey, stake, permit, True, 0, 0, 0, 0, 0, 0, None)
            for uid, (hotkey, stake, permit) in enumerate(changed)
        )
        return find_bar(ALICE.address, Metagraph(graph.block, 7, None, None, neurons), rules)

    return asyncio.run(read())


def test_the_remedy_says_how_much_stake_earns_a_permit(tmp_path: Path) -> None:
    file, own = make_young_chain(tmp_path, {}), ALICE.address
    assert read_bar(file, (own, TAO, True)) is None
    assert "is not registered on subnet 7" in read_bar(file, ("5rich", 9 * TAO, True)).message
    poor = read_bar(file, (own, TAO, False), ("5rich", 9 * TAO, True))
    assert poor.remedy.startswith("stake 9.000000001 TAO or more (it has 1 TAO), then wait for the next epoch")
    rich = read_bar(file, (own, 10 * TAO, False), ("5rich", 9 * TAO, True))
    assert rich.remedy.endswith("its stake of 10 TAO is enough")
