"""What the runtime's own calls answer: metagraph, hyperparameters, the next epoch, a fee."""

import ipaddress
from collections.abc import Callable
from typing import Any

from bittensor._transport.codec import RuntimeCodec, ss58_encode

from loopnode.blank import blank_inside
from weighbeam.chain.local.file import ChainFile

NOBODY = ss58_encode(bytes(32))


def call_runtime(codec: RuntimeCodec, file: ChainFile, block: int, name: str, params: bytes) -> bytes | None:
    """The encoded answer; None for a call this node does not know."""
    api, _, method = name.partition("_")
    definition = codec.runtime_api_map.get(api, {}).get(method)
    answer = CALLS.get(name)
    if definition is None or answer is None:
        return None
    if name == "TransactionPaymentApi_query_info":
        value: Any = {"weight": {"ref_time": 1, "proof_size": 0}, "class": "Normal", "partial_fee": 0}
    else:
        netuid = int.from_bytes(params[:2], "little")
        value = answer(codec, file, block) if netuid == file.parameters.netuid else None
    return codec.encode(definition["output"], value)


def _tell_metagraph(codec: RuntimeCodec, file: ChainFile, block: int) -> dict[str, Any]:
    p = file.parameters
    output = codec.runtime_api_map["SubnetInfoRuntimeApi"]["get_metagraph"]["output"]
    rows = file.db.execute(
        "SELECT n.uid, n.hotkey, n.coldkey, n.stake, n.permit, COALESCE(u.last_update, 0), n.registered_at, "
        "n.endpoint, COALESCE(s.incentive, 0), COALESCE(s.dividends, 0), COALESCE(s.consensus, 0) FROM neurons n "
        "LEFT JOIN updates u ON u.uid = n.uid AND u.mechid = 0 LEFT JOIN shares s ON s.uid = n.uid AND s.mechid = 0 "
        "ORDER BY n.uid"
    ).fetchall()
    _, hotkeys, coldkeys, stakes, permits, updates, registered, endpoints, incentives, dividends, consensus = (
        zip(*rows, strict=True) if rows else [()] * 11
    )
    owner = file.read("owner")
    zeros = [0] * len(rows)
    return {
        **blank_inside(codec, output),
        "netuid": p.netuid,
        "owner_hotkey": owner or NOBODY,
        "owner_coldkey": dict(zip(hotkeys, coldkeys, strict=True)).get(owner, NOBODY),
        "block": block,
        "tempo": p.tempo,
        "last_step": int(file.read("last_step_block")),
        "blocks_since_last_step": block - int(file.read("last_epoch_block")),
        "num_uids": len(rows),
        "max_uids": p.max_uids,
        "hotkeys": list(hotkeys),
        "coldkeys": list(coldkeys),
        "identities": [None] * len(rows),
        "axons": [_write_axon(endpoint) for endpoint in endpoints],
        "active": [updated + p.activity_cutoff >= block for updated in updates],
        "validator_permit": [bool(permit) for permit in permits],
        "last_update": list(updates),
        "dividends": list(dividends),
        "incentives": list(incentives),
        "consensus": list(consensus),
        "block_at_registration": list(registered),
        "total_stake": list(stakes),
        **dict.fromkeys(("pruning_score", "emission", "trust", "rank", "alpha_stake", "tao_stake"), zeros),
        **dict.fromkeys(("collateral_locked", "collateral_min", "collateral_earned"), zeros),
    }


def _write_axon(endpoint: str | None) -> dict[str, int]:
    host, _, port = (endpoint or "0.0.0.0:0").rpartition(":")
    address = ipaddress.ip_address(host.strip("[]"))
    empty = dict.fromkeys(("block", "version", "protocol", "placeholder1", "placeholder2"), 0)
    return {**empty, "ip": int(address), "port": int(port), "ip_type": address.version}


def _tell_hyperparameters(codec: RuntimeCodec, file: ChainFile, block: int) -> list[dict[str, Any]]:
    """Stake threshold and version key are left to storage, as some runtimes do."""
    p = file.parameters
    told: dict[str, tuple[str, Any]] = {
        "kappa": ("U16", p.kappa),
        "immunity_period": ("U16", p.immunity_period),
        "min_allowed_weights": ("U16", p.min_allowed_weights),
        "max_weights_limit": ("U16", p.max_weight_limit),
        "tempo": ("U16", p.tempo),
        "weights_rate_limit": ("U64", p.rate_limit),
        "activity_cutoff_factor": ("U32", p.activity_factor),
        "max_validators": ("U16", p.max_validators),
        "commit_reveal_period": ("U64", p.reveal_period),
        "commit_reveal_weights_enabled": ("Bool", p.commit_reveal),
    }
    return [{"name": name.encode(), "value": {tag: value}} for name, (tag, value) in told.items()]


def _tell_next_epoch(codec: RuntimeCodec, file: ChainFile, block: int) -> int | None:
    tempo = file.parameters.tempo
    return int(file.read("last_epoch_block")) + tempo if tempo else None


CALLS: dict[str, Callable[[RuntimeCodec, ChainFile, int], Any]] = {
    "SubnetInfoRuntimeApi_get_metagraph": _tell_metagraph,
    "SubnetInfoRuntimeApi_get_subnet_hyperparams_v3": _tell_hyperparameters,
    "SubnetInfoRuntimeApi_get_next_epoch_start_block": _tell_next_epoch,
    "TransactionPaymentApi_query_info": lambda *_: None,
}
