"""The connection to a node mends itself and says what an operator must know once."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chain.stand import Stand, make_adapter, open_stand
from engine.small_subnet import Observed
from loopnode.need import need_sdk
from weighbeam.chain.contract import ChainFault
from weighbeam.chain.local.file import ChainFile

need_sdk()


@pytest.fixture
def stand(tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    with open_stand("bittensor", tmp_path, observed_addresses) as made:
        yield made


def catch(stand: Stand, work: Any) -> ChainFault:
    with pytest.raises(ChainFault) as caught:
        stand.run(work)
    return caught.value


def test_a_primary_that_stands_still_is_left_for_the_next_endpoint(stand: Stand, tmp_path: Path) -> None:
    from loopnode.node import LoopNode
    from loopnode.server import serve_node

    stand.file.db.execute("VACUUM INTO ?", (str(tmp_path / "alive.sqlite"),))
    alive = LoopNode(ChainFile(tmp_path / "alive.sqlite"))
    with serve_node(alive) as server:
        chain = make_adapter(stand, tmp_path, fallbacks=(server.url,))
        frozen = stand.run(chain.head()).block
        alive.step(3)
        stand.limits.stall = 0.05
        time.sleep(0.1)
        assert catch(stand, chain.head()).code == "stalled"
        assert stand.run(chain.head()).block == frozen + 3
        assert [code for code, _, _ in stand.told] == ["stalled"]
        stand.run(chain.close())


def test_a_runtime_that_does_not_fit_is_told_once_for_each_runtime(stand: Stand) -> None:
    stand.node.faults.without_consensus = True
    for _ in range(3):
        assert catch(stand, stand.chain.rules()).code == "runtime_mismatch"
    assert [code for code, _, _ in stand.told] == ["runtime_mismatch"]
    stand.node.faults.spec_version = stand.node.spec_version + 1
    for _ in range(2):
        assert catch(stand, stand.chain.rules()).code == "runtime_mismatch"
    assert [code for code, _, _ in stand.told] == ["runtime_mismatch", "runtime_changed", "runtime_mismatch"]


def test_a_client_whose_first_read_fails_is_closed(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = stand.chain._connection
    make, made = connection._make_client, []

    async def fail() -> int:
        raise RuntimeError("odd")

    def make_odd() -> Any:
        made.append(make())
        monkeypatch.setattr(made[-1], "spec_version", fail)
        return made[-1]

    async def look() -> int:
        with pytest.raises(ChainFault) as caught:
            await stand.chain.head()
        assert caught.value.code == "unknown_chain_error"
        await asyncio.sleep(0.2)
        return sum(task.get_name() == "rpc-session" for task in asyncio.all_tasks())

    monkeypatch.setattr(connection, "_make_client", make_odd)
    assert stand.run(look()) == 0
    assert len(made) == 1


@pytest.mark.parametrize(("sent", "code"), [(False, "timeout"), (True, "outcome_unknown")])
def test_a_call_that_the_sdk_gives_up_itself_is_a_fault_and_ends_no_loop(stand: Stand, sent: bool, code: str) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    async def call() -> None:
        client = await stand.chain._connection.open()
        await stand.chain._connection.hold(client, give_up(), 5, lambda: sent)

    fault = catch(stand, call())
    assert (fault.code, fault.outcome) == (code, "unknown" if sent else "not_sent")
    assert stand.run(stand.chain.head()).block == stand.node.head
