"""A second mechanism id of one hotkey, through the adapter and the unmodified SDK."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chain.stand import Stand, make_adapter, open_stand
from engine.small_subnet import ALICE, Observed
from loopnode.need import need_sdk

need_sdk()


@pytest.fixture
def stand(tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    with open_stand("bittensor", tmp_path, observed_addresses, mechanisms=2) as made:
        yield made


@pytest.fixture
def second(stand: Stand) -> Iterator[Any]:
    made = make_adapter(stand, stand.file.path.parent, mechid=1)
    yield made
    stand.run(made.close())


@pytest.mark.parametrize("left", [None, []])
def test_a_mechanism_in_which_nobody_has_set_weights_can_be_read(
    stand: Stand, second: Any, left: list[int] | None
) -> None:
    codec = stand.node.codec
    entry = codec.storage_entry("SubtensorModule", "LastUpdate")
    key, state = codec.storage_key(entry, [4096 + 1]), stand.node.find_block(stand.node.head).state
    assert state.pop(key)
    if left is not None:
        state[key] = codec.encode(entry.value_type, left)
    assert stand.run(second.blocks_since_update(ALICE.address)) == stand.node.head
    assert stand.run(second.stored(ALICE.address)).last_update == 0
    stand.weigh_in_context = replace(stand.weigh_in_context, chain=second)
    assert stand.weigh().submission.state == "confirmed"
    assert stand.told == []


def test_two_mechanisms_of_one_hotkey_take_turns(stand: Stand, second: Any) -> None:
    """Each adapter has a client of its own; what one sends moves the account's next number for the other."""
    for _ in range(2):
        for chain in (stand.chain, second):
            assert stand.run(chain.submit([1], [65535], 0)).path == "plain"
        stand.node.step(6)
    assert stand.count_taken() == 4
