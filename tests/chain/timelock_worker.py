"""A commit sealed by the SDK for a drand round that has been published, opened with its signature, and revealed."""

import asyncio
import ctypes
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bittensor_core

from chain.stand import address, make_file
from engine.small_subnet import ALICE
from loopnode.dispatch import Opened
from loopnode.metadata import compact, load_codec
from loopnode.node import LoopNode
from loopnode.server import serve_node
from weighbeam.chain.bittensor.port import BittensorChain
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile

ROUND = 1000
SIGNATURE = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
FIRST_AT, PERIOD = 1692803367, 3
PAYLOAD = "(Vec<u8>, Vec<u16>, Vec<u16>, u64)"


def open_sealed(ciphertext: bytes, reveal_round: int) -> Opened:
    assert reveal_round == ROUND, reveal_round
    envelope = compact(len(ciphertext)) + ciphertext + reveal_round.to_bytes(8, "little")
    payload = bytes(bittensor_core.decrypt_with_signature(envelope, SIGNATURE))
    assert payload[1:33] == ALICE.public_key
    _, uids, values, version_key = load_codec(461).decode(PAYLOAD, payload)
    return tuple(uids), tuple(values), version_key


@contextmanager
def freeze_for(file: ChainFile, library: str) -> Iterator[None]:
    """Stop the clock meanwhile, so that a commit made now is for that round."""
    freeze: Any = ctypes.CDLL(library).freeze_clock
    at = FIRST_AT + (ROUND - 1) * PERIOD
    freeze(ctypes.c_long(at))
    _, aimed = bittensor_core.get_encrypted_commit_v2(
        uids=[1],
        weights=[1],
        version_key=0,
        last_epoch_block=file.read("last_epoch_block"),
        pending_epoch_at=0,
        subnet_epoch_index=file.read("epoch_index"),
        tempo=file.parameters.tempo,
        blocks_since_last_step=file.read("head") - file.read("last_epoch_block"),
        current_block=file.read("head"),
        subnet_reveal_period_epochs=file.parameters.reveal_period,
        block_time=load_codec(461).constant("Aura", "SlotDuration") / 1000,
        hotkey=ALICE.public_key,
    )
    freeze(ctypes.c_long(at + (ROUND - aimed) * PERIOD))
    try:
        yield
    finally:
        freeze(ctypes.c_long(0))


async def commit_and_reveal(url: str, file: ChainFile, folder: Path) -> dict[str, Any]:
    chain = BittensorChain(url, file.parameters.netuid, ALICE, folder / "sdk-cache")
    sent = await chain.submit([1, 3], [65535, 777], 0)
    sealed = await chain.stored(ALICE.address)
    advance(file, file.parameters.tempo)
    shown = await chain.stored(ALICE.address)
    await chain.close()
    return {"path": sent.path, "round": sent.reveal_round, "before": sealed.row, "after": shown.row}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    made = make_file(place, [address(f"m{number}") for number in range(4)], commit_reveal=True)
    node = LoopNode(made)
    node.opener = open_sealed
    with serve_node(node) as server:
        with freeze_for(made, sys.argv[2]):
            found = asyncio.run(commit_and_reveal(server.url, made, place))
        print(json.dumps(found))
