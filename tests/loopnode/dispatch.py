"""Calls, applied to the chain file: the same checks and rows as on the local chain."""

import hashlib
from collections.abc import Callable
from typing import Any

from bittensor._transport.codec import RuntimeCodec

from loopnode.extrinsic import Extrinsic, PoolRefusal
from loopnode.state import INDEX
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.rows import select_sender, select_subnet_rules
from weighbeam.chain.local.submit import commit_row, refuse_commit, refuse_plain, set_row
from weighbeam.chain.weight_row import WeightSubmission, refuse_sender

PLAIN = ("set_weights", "set_mechanism_weights")
COMMIT = "commit_timelocked_mechanism_weights"
VERSION, MOST_BYTES = 4, 5000
CUSTOM = {"NotEnoughStakeToSetWeights": 1, "SettingWeightsTooFast": 6}
Opened = tuple[tuple[int, ...], tuple[int, ...], int]
Opener = Callable[[bytes, int], Opened]
Event = dict[str, Any]
Sealed = dict[str, tuple[bytes, int]]


def guard(file: ChainFile, extrinsic: Extrinsic, block: int) -> None:
    """What is refused before it enters the pool."""
    mechid = extrinsic.args.get("mecid", 0)
    refusal = refuse_sender(select_subnet_rules(file, block), select_sender(file, mechid, extrinsic.address))
    if refusal in CUSTOM:
        error = {"code": 1010, "message": "Invalid Transaction", "data": f"Custom error: {CUSTOM[refusal]}"}
        raise PoolRefusal(error)


def apply_call(
    file: ChainFile, extrinsic: Extrinsic, block: int, opener: Opener, sealed: Sealed
) -> tuple[str | None, list[Event]]:
    """The chain's error name, or the events of a call that went through."""
    args, hotkey = extrinsic.args, extrinsic.address
    if args.get("netuid") != file.parameters.netuid:
        return "MechanismDoesNotExist", []
    mechid = args.get("mecid", 0)
    index = mechid * INDEX + file.parameters.netuid
    if extrinsic.function in PLAIN:
        row = WeightSubmission(mechid, tuple(args["dests"]), tuple(args["weights"]), args["version_key"])
        refusal = refuse_plain(file, hotkey, row, block)
        if refusal is None:
            set_row(file, hotkey, row, block)
        return refusal, [{"WeightsSet": (index, select_sender(file, mechid, hotkey).uid)}]
    if extrinsic.function != COMMIT:
        return "CallDisabled", []
    return _commit(file, hotkey, args, block, opener, sealed, index)


def _commit(
    file: ChainFile, hotkey: str, args: dict[str, Any], block: int, opener: Opener, sealed: Sealed, index: int
) -> tuple[str | None, list[Event]]:
    ciphertext = bytes.fromhex(args["commit"].removeprefix("0x"))
    if args["commit_reveal_version"] != VERSION or len(ciphertext) > MOST_BYTES:
        return "IncorrectCommitRevealVersion", []
    uids, values, version_key = opener(ciphertext, args["reveal_round"])
    row = WeightSubmission(args["mecid"], uids, values, version_key)
    refusal = refuse_commit(file, hotkey, row, block)
    digest = hashlib.sha256(ciphertext).hexdigest()
    if refusal is None:
        sealed[digest] = ciphertext, args["reveal_round"]
        commit_row(file, hotkey, row, block, digest)
    return refusal, [{"TimelockedWeightsCommitted": (hotkey, index, "0x" + digest, args["reveal_round"])}]


def encode_events(codec: RuntimeCodec, revealed: list[Event], done: list[tuple[str | None, list[Event]]]) -> bytes:
    """A block's events: reveals first, then each extrinsic's own with its end."""
    records = [_record("Initialization", {"SubtensorModule": event}) for event in revealed]
    info = {"weight": {"ref_time": 1, "proof_size": 0}, "class": "Normal", "pays_fee": "No"}
    for index, (error, events) in enumerate(done):
        phase = {"ApplyExtrinsic": index}
        if error is None:
            records += [_record(phase, {"SubtensorModule": event}) for event in events]
            end: Event = {"ExtrinsicSuccess": {"dispatch_info": info}}
        else:
            failure = {"dispatch_error": {"Module": find_error(codec, error)}, "dispatch_info": info}
            end = {"ExtrinsicFailed": failure}
        records.append(_record(phase, {"System": end}))
    return bytes(codec.encode(codec.storage_entry("System", "Events").value_type, records))


def _record(phase: Any, event: Event) -> dict[str, Any]:
    return {"phase": phase, "event": event, "topics": []}


def find_error(codec: RuntimeCodec, name: str) -> dict[str, Any]:
    """A module error by its name, as the metadata numbers it."""
    pallet = next(one for one in codec.metadata_ir().pallets if one.name == "SubtensorModule")
    index = next(error.index for error in pallet.errors if error.name == name)
    return {"index": pallet.index, "error": f"0x{index:02x}000000"}
