"""The JSON-RPC methods that answer at once; those that push are the server's."""

from collections.abc import Callable
from typing import Any

from loopnode.golden import load_golden
from loopnode.metadata import load_metadata, wrap_metadata
from loopnode.node import Block, LoopNode
from loopnode.runtime_calls import CALLS

ROOT = "0x" + "00" * 32


class UnknownMethod(Exception):
    """A method this node does not have."""


def answer(node: LoopNode, method: str, params: list[Any]) -> Any:
    found = METHODS.get(method)
    if found is None:
        raise UnknownMethod(method)
    with node.lock:
        node.refresh()
        return found(node, *params)


def write_header(node: LoopNode, number: int) -> dict[str, Any]:
    parent = node.hash_block(number - 1) if number else ROOT
    return {
        "parentHash": parent,
        "number": hex(number),
        "stateRoot": ROOT,
        "extrinsicsRoot": ROOT,
        "digest": {"logs": []},
    }


def _get_hash(node: LoopNode, number: int | None = None) -> str | None:
    return node.hash_block(node.head if number is None else number)


def _get_header(node: LoopNode, block_hash: str | None = None) -> dict[str, Any] | None:
    number = node.find_number(block_hash)
    return None if number is None else write_header(node, number)


def _get_block(node: LoopNode, block_hash: str | None = None) -> dict[str, Any] | None:
    number = node.find_number(block_hash)
    if number is None:
        return None
    extrinsics = ["0x" + data.hex() for data in node.find_block(number).extrinsics]
    return {"block": {"header": write_header(node, number), "extrinsics": extrinsics}}


def _get_runtime_version(node: LoopNode, block_hash: str | None = None) -> dict[str, Any]:
    versions = {"specVersion": node.spec_version, "transactionVersion": load_golden()["network"]["transaction_version"]}
    return {"specName": "node-subtensor", "implName": "node-subtensor", **versions}


def _call(node: LoopNode, name: str, params: str, block_hash: str | None = None) -> str | None:
    if name == "Metadata_metadata_at_version":
        return "0x" + wrap_metadata(load_metadata(not node.faults.without_consensus)).hex()
    block = _find(node, block_hash)
    if block is None or name not in CALLS:
        return None
    given = bytes.fromhex(params.removeprefix("0x"))
    known = name.startswith("TransactionPayment") or given[:2] == node.file.parameters.netuid.to_bytes(2, "little")
    return "0x" + (block.answers[name].hex() if known else "00")


def _get_storage(node: LoopNode, key: str, block_hash: str | None = None) -> str | None:
    block = _find(node, block_hash)
    value = None if block is None else block.state.get(bytes.fromhex(key[2:]))
    return None if value is None else "0x" + value.hex()


def _query_storage(node: LoopNode, keys: list[str], block_hash: str | None = None) -> list[dict[str, Any]]:
    return [{"block": block_hash, "changes": [[key, _get_storage(node, key, block_hash)] for key in keys]}]


def _list_keys(
    node: LoopNode, prefix: str, count: int, start: str | None = None, block_hash: str | None = None
) -> list[str]:
    block = _find(node, block_hash)
    begin, after = bytes.fromhex(prefix[2:]), bytes.fromhex((start or prefix)[2:])
    keys = sorted(key for key in (block.state if block else ()) if key.startswith(begin) and key > after)
    return ["0x" + key.hex() for key in keys[:count]]


def _find(node: LoopNode, block_hash: str | None) -> Block | None:
    number = node.find_number(block_hash)
    return None if number is None else node.find_block(number)


METHODS: dict[str, Callable[..., Any]] = {
    "chain_getBlockHash": _get_hash,
    "chain_getHeader": _get_header,
    "chain_getHead": lambda node: node.hash_block(node.head),
    "chain_getFinalizedHead": lambda node: node.hash_block(node.finalized),
    "chain_getBlock": _get_block,
    "state_getRuntimeVersion": _get_runtime_version,
    "state_call": _call,
    "state_getStorageAt": _get_storage,
    "state_queryStorageAt": _query_storage,
    "state_getKeysPaged": _list_keys,
    "account_nextIndex": lambda node, address: node.next_nonce(address),
    "author_submitExtrinsic": lambda node, data: node.submit(bytes.fromhex(data[2:])).hash,
}
