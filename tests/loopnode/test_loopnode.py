"""The node keeps to the wire: methods, batches, subscriptions, and what it does with what it does not know."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chain.stand import address, make_file
from loopnode.need import need_sdk

need_sdk()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Any]:
    from loopnode.node import LoopNode
    from loopnode.server import serve_node

    with serve_node(LoopNode(make_file(tmp_path, [address("one")]))) as server:
        yield server


def talk(url: str, *frames: Any, replies: int | None = None) -> list[Any]:
    from websockets.asyncio.client import connect

    async def exchange() -> list[Any]:
        async with connect(url) as socket:
            for frame in frames:
                await socket.send(json.dumps(frame))
            return [json.loads(await socket.recv()) for _ in range(replies or len(frames))]

    return asyncio.run(exchange())


def ask(method: str, *params: Any, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


def test_a_batch_is_answered_as_a_list_and_unknown_things_are_said_to_be(served: Any) -> None:
    batch = [ask("chain_getHeader", "0x" + "11" * 32), ask("chain_getBlockHash", 10**6, number=2)]
    (replies,) = talk(served.url, batch)
    assert [reply["result"] for reply in replies] == [None, None]
    (reply,) = talk(served.url, ask("system_accountNextIndex", address("one")))
    assert reply["error"]["code"] == -32601


def test_new_heads_are_pushed_to_who_asked_for_them(served: Any) -> None:
    from websockets.asyncio.client import connect

    async def follow() -> list[int]:
        async with connect(served.url) as socket:
            await socket.send(json.dumps(ask("chain_subscribeNewHeads")))
            number = json.loads(await socket.recv())["result"]
            await asyncio.to_thread(served.node.step, 1)
            pushed = json.loads(await socket.recv())
            assert pushed["params"]["subscription"] == number
            await socket.send(json.dumps(ask("chain_unsubscribeNewHeads", number)))
            assert json.loads(await socket.recv())["result"] is True
            return [int(pushed["params"]["result"]["number"], 16), served.node.head]

    pushed, head = asyncio.run(follow())
    assert pushed == head == 22


def test_the_entry_the_recording_lacks_is_there_and_nothing_else_moved() -> None:
    from loopnode.metadata import ENTRY, load_codec

    with_it, without = load_codec(461), load_codec(461, False)
    entry = with_it.storage_entry("SubtensorModule", ENTRY)
    assert (entry.modifier, entry.default_bytes, entry.param_hashers) == ("Default", b"\x00", ["Identity"])
    with pytest.raises(ValueError, match=ENTRY):
        without.storage_entry("SubtensorModule", ENTRY)
    before, after = without.metadata_ir(), with_it.metadata_ir()
    for old, new in zip(before.pallets, after.pallets, strict=True):
        assert (old.name, old.calls, old.errors, old.constants) == (new.name, new.calls, new.errors, new.constants)
        assert [item for item in new.storage if item.name != ENTRY] == old.storage


def test_rubbish_is_no_extrinsic(served: Any) -> None:
    (reply,) = talk(served.url, ask("author_submitExtrinsic", "0x0102"))
    assert reply["error"]["code"] == 1010
