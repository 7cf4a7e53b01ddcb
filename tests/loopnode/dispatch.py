"""Calls, applied to the chain file: the same checks and rows as on the local chain; a proxy's call as its account's."""

import hashlib
import ipaddress
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bittensor._transport.codec import RuntimeCodec

from loopnode.extrinsic import Extrinsic, PoolRefusal
from loopnode.state import INDEX
from weighbeam.chain.local.administer import order_delegations
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.rows import select_sender, select_subnet_rules
from weighbeam.chain.local.submit import commit_row, refuse_commit, refuse_plain, set_row
from weighbeam.chain.proxies import Delegation, refuse_delegate
from weighbeam.chain.weight_row import WeightSubmission, refuse_sender

PLAIN = ("set_weights", "set_mechanism_weights")
PALLETS = ("SubtensorModule", "Proxy", "System")
COMMIT = "commit_timelocked_mechanism_weights"
VERSION, MOST_BYTES = 4, 5000
CUSTOM = {"NotEnoughStakeToSetWeights": 1, "SettingWeightsTooFast": 6}
Opened = tuple[tuple[int, ...], tuple[int, ...], int]
Opener = Callable[[bytes, int], Opened]
Event = dict[str, Any]
Sealed = dict[str, tuple[bytes, int]]


def guard(file: ChainFile, extrinsic: Extrinsic, block: int) -> None:
    """What is refused before it enters the pool; the pool does not look into what a proxy sends."""
    if extrinsic.function not in (*PLAIN, COMMIT):
        return
    mechid = extrinsic.args.get("mecid", 0)
    refusal = refuse_sender(select_subnet_rules(file, block), select_sender(file, mechid, extrinsic.address))
    if refusal in CUSTOM:
        error = {"code": 1010, "message": "Invalid Transaction", "data": f"Custom error: {CUSTOM[refusal]}"}
        raise PoolRefusal(error)


def apply_extrinsic(
    codec: RuntimeCodec, file: ChainFile, extrinsic: Extrinsic, block: int, opener: Opener, sealed: Sealed
) -> tuple[str | None, list[Event], Extrinsic | None]:
    """The chain's error name, or the events of a call that went through; and the call that changed anything.

    What a proxy calls may fail inside an extrinsic that succeeds: only an event says so.
    """
    if extrinsic.function == "add_proxy":
        return _add_proxy(file, extrinsic), [], extrinsic
    if extrinsic.function == "remove_proxies":
        file.write_delegations(extrinsic.address, ())
        return None, [], extrinsic
    if extrinsic.function == "serve_axon":
        return *_serve_axon(file, extrinsic), extrinsic
    if extrinsic.function != "proxy":
        refusal, events = apply_call(file, extrinsic, block, opener, sealed)
        return refusal, events, None if refusal else extrinsic
    real, kind = extrinsic.args["real"], extrinsic.args["force_proxy_type"]
    refusal = refuse_delegate(file.read_delegations(real), extrinsic.address, kind)
    if refusal in ("NotProxy", "Unannounced"):
        return refusal, [], None
    called = extrinsic.args["call"]
    args = {arg["name"]: arg["value"] for arg in called["call_args"]}
    inner, events = replace(extrinsic, address=real, function=called["call_function"], args=args), list[Event]()
    if refusal is None:
        refusal, events = apply_call(file, inner, block, opener, sealed)
    result = {"Err": {"Module": find_error(codec, refusal)}} if refusal else {"Ok": None}
    done = [*([] if refusal else events), {"Proxy": {"ProxyExecuted": {"result": result}}}]
    return None, done, None if refusal else inner


def _serve_axon(file: ChainFile, extrinsic: Extrinsic) -> tuple[str | None, list[Event]]:
    args = extrinsic.args
    address = ipaddress.IPv4Address(args["ip"]) if args["ip_type"] == 4 else ipaddress.IPv6Address(args["ip"])
    if address.is_unspecified:
        return "InvalidIpAddress", []
    shown = f"[{address}]" if address.version == 6 else str(address)
    done = file.db.execute(
        "UPDATE neurons SET endpoint = ? WHERE hotkey = ?", (f"{shown}:{args['port']}", extrinsic.address)
    )
    if not done.rowcount:
        return "HotKeyNotRegisteredInNetwork", []
    return None, [{"AxonServed": (args["netuid"], extrinsic.address)}]


def _add_proxy(file: ChainFile, extrinsic: Extrinsic) -> str | None:
    args, kept = extrinsic.args, file.read_delegations(extrinsic.address)
    right = Delegation(args["delegate"], args["proxy_type"], args["delay"])
    if right.delegate == extrinsic.address:
        return "NoSelfProxy"
    if right in kept:
        return "Duplicate"
    file.write_delegations(extrinsic.address, order_delegations({*kept, right}))
    return None


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
            records += [_record(phase, one if "Proxy" in one else {"SubtensorModule": one}) for one in events]
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
    pallets = {pallet.name: pallet for pallet in codec.metadata_ir().pallets}
    known = ((pallets[pallet], error) for pallet in PALLETS for error in pallets[pallet].errors)
    pallet, found = next((pallet, error) for pallet, error in known if error.name == name)
    return {"index": pallet.index, "error": f"0x{found.index:02x}000000"}
