"""An extrinsic off the wire: decoded, and its signature checked over the payload rebuilt from what it says."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from bittensor._transport.codec import RuntimeCodec, ss58_decode

from weighbeam.network.keys import is_signed

REASONS = {
    "BadProof": "Transaction has a bad signature",
    "Stale": "Transaction is outdated",
    "Future": "Transaction will be valid in the future",
    "AncientBirthBlock": "Transaction has an ancient birth block",
}
SCHEMES = {"Sr25519": "sr25519", "Ed25519": "ed25519"}


class PoolRefusal(Exception):
    """The pool's answer, as a JSON-RPC error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error))
        self.error = error


def refuse(name: str) -> PoolRefusal:
    return PoolRefusal({"code": 1010, "message": "Invalid Transaction", "data": REASONS[name]})


@dataclass
class Extrinsic:
    """`dies` is the first block it can no longer be in; `tell` is called with each state of a watched one."""

    data: bytes
    address: str
    nonce: int
    dies: int
    function: str
    args: dict[str, Any]
    watchers: list[Callable[[Any], None]] = field(default_factory=list)

    @property
    def hash(self) -> str:
        return "0x" + blake2b(self.data, digest_size=32).hexdigest()

    def tell(self, status: Any) -> None:
        for watcher in self.watchers:
            watcher(status)


def read_extrinsic(
    codec: RuntimeCodec, data: bytes, head: int, genesis: str, hash_block: Callable[[int], str | None]
) -> Extrinsic:
    """Decoded and proven to be signed by its address for this chain, runtime and era."""
    try:
        said = codec.decode_extrinsic(data)
    except ValueError:
        raise refuse("BadProof") from None
    args = {arg["name"]: arg["value"] for arg in said["call"]["call_args"]}
    call = _compose(codec, said["call"])
    era, birth, dies = _read_era(said["era"], head)
    era_block = hash_block(birth)
    if era_block is None:
        raise refuse("AncientBirthBlock")
    payload = codec.signature_payload(
        call,
        era=era,
        nonce=said["nonce"],
        tip=said["tip"],
        tip_asset_id=None,
        genesis_hash=genesis,
        era_block_hash=era_block,
    )
    ((scheme, signature),) = said["signature"].items()
    signed = is_signed(payload, bytes.fromhex(signature[2:]), said["address"], SCHEMES[scheme])
    again, _ = codec.encode_signed_extrinsic(
        call,
        public_key=bytes.fromhex(ss58_decode(said["address"])),
        signature=bytes.fromhex(signature[2:]),
        signature_version={"Ed25519": 0, "Sr25519": 1}[scheme],
        era=era,
        nonce=said["nonce"],
        tip=said["tip"],
        tip_asset_id=None,
    )
    if not signed or again != data:
        raise refuse("BadProof")
    return Extrinsic(data, said["address"], said["nonce"], dies, said["call"]["call_function"], args)


def _compose(codec: RuntimeCodec, call: dict[str, Any]) -> Any:
    """A decoded call as bytes again; a call inside it first."""
    nested = {arg["name"]: arg["value"] for arg in call["call_args"]}
    inside = {arg["name"] for arg in call["call_args"] if arg["type"] == "RuntimeCall"}
    args = {name: _compose(codec, value) if name in inside else value for name, value in nested.items()}
    return codec.compose_call(call["call_module"], call["call_function"], args)


def _read_era(era: Any, head: int) -> tuple[Any, int, int]:
    """Era, birth block and the first block after its death; an immortal one is born with the chain."""
    if not isinstance(era, tuple):
        return "00", 0, 1 << 62
    period, phase = era
    birth = (max(head, phase) - phase) // period * period + phase
    return {"period": period, "phase": phase}, birth, birth + period
