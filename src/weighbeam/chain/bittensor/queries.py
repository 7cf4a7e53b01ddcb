"""Chain queries of the port, each at one pinned block."""

import asyncio
import hashlib
from typing import Any, Literal

from weighbeam.chain.bittensor.faults import make_fault
from weighbeam.chain.contract import ChainRules, Metagraph, Neuron, StoredWeights, WeightCommit
from weighbeam.chain.proxies import Delegation
from weighbeam.core.names import clean_name

SUBNETS = 4096
NOBODY = "5C4hrfjw9DjXZTzV3MwzrrAr9P1MJhSrvWGWqi1eSuyUpnhM"
STORED_RULES = {
    "kappa": "Kappa",
    "immunity_period": "ImmunityPeriod",
    "min_allowed_weights": "MinAllowedWeights",
    "max_weights_limit": "MaxWeightsLimit",
    "weights_version": "WeightsVersionKey",
    "weights_rate_limit": "WeightsSetRateLimit",
    "max_validators": "MaxAllowedValidators",
    "commit_reveal_period": "RevealPeriodEpochs",
    "commit_reveal_weights_enabled": "CommitRevealWeightsEnabled",
    "activity_cutoff_factor": "ActivityCutoffFactorMilli",
}


def find_index(netuid: int, mechid: int) -> int:
    """Where a mechanism's rows are in storage."""
    return mechid * SUBNETS + netuid


def item(name: str) -> tuple[str, str]:
    return "SubtensorModule", name


async def fetch_metagraph(view: Any, netuid: int, mechid: int) -> Metagraph:
    """The SDK's record with the raw shares, and the columns that each mechanism has of its own."""
    index = find_index(netuid, mechid)
    graph, trust, updates, incentives = await asyncio.gather(
        view.subnets.metagraph(netuid, commitments=False),
        view.query(item("ValidatorTrust"), [netuid]),
        view.query(item("LastUpdate"), [index]),
        view.query(item("Incentive"), [index]),
    )
    if graph is None:
        raise make_fault("no_subnet", f"there is no subnet {netuid}")
    neurons = tuple(
        Neuron(
            uid=row.uid,
            hotkey=row.hotkey,
            coldkey=row.coldkey,
            stake=int(row.total_stake.rao),
            permit=row.validator_permit,
            active=row.active,
            last_update=pick(updates, row.uid),
            registered_at=row.block_at_registration,
            incentive=pick(incentives, row.uid),
            dividends=pick(graph.raw["dividends"], row.uid),
            consensus=pick(graph.raw["consensus"], row.uid),
            validator_trust=pick(trust, row.uid),
            endpoint=row.axon,
            name=find_name(graph.raw.get("identities"), row.uid),
        )
        for row in graph.neurons
    )
    return Metagraph(graph.block, netuid, _somebody(graph.owner_hotkey), _somebody(graph.owner_coldkey), neurons)


def pick(column: Any, uid: int) -> int:
    """A neuron's entry; a column may be missing or short where nobody has set anything yet."""
    return int(column[uid]) if column is not None and uid < len(column) else 0


def find_name(identities: Any, uid: int) -> str | None:
    """The name in a neuron's identity; it comes with the metagraph, so it costs no query of its own.

    >>> find_name([None, {"name": "Ada"}], 1), find_name([None, {"name": "Ada"}], 0), find_name(None, 0)
    ('Ada', None, None)
    """
    identity = identities[uid] if isinstance(identities, list | tuple) and uid < len(identities) else None
    return clean_name(identity.get("name")) if isinstance(identity, dict) else None


def _somebody(address: str) -> str | None:
    return None if address == NOBODY else address


async def fetch_rules(view: Any, netuid: int, mechid: int) -> ChainRules:
    """Hyperparameters as the runtime tells them; what it does not tell is read from storage."""
    told, status, consensus, count, threshold = await asyncio.gather(
        view.read("subnet_hyperparameters", netuid=netuid),
        view.epochs.epoch_status(netuid=netuid),
        view.query(item("SubnetEpochConsensus"), [netuid]),
        view.query(item("MechanismCountCurrent"), [netuid]),
        view.query(item("StakeThreshold"), []),
    )
    if told is None:
        raise make_fault("no_subnet", f"there is no subnet {netuid}")
    if mechid >= int(count):
        raise make_fault("no_subnet", f"subnet {netuid} has {count} mechanisms, none with id {mechid}")
    missing = [name for name in STORED_RULES if told.get(name) is None]
    found = await asyncio.gather(*(view.query(item(STORED_RULES[name]), [netuid]) for name in missing))
    rule = {**told, **dict(zip(missing, found, strict=True))}
    return ChainRules(
        block=status["block"],
        tempo=status["tempo"],
        last_epoch_block=status["last_epoch_block"],
        next_epoch_block=status["next_epoch_start_block"],
        epoch_index=status["epoch_index"],
        rate_limit=int(rule["weights_rate_limit"]),
        min_allowed_weights=int(rule["min_allowed_weights"]),
        max_weight_limit=int(rule["max_weights_limit"]),
        version_key=int(rule["weights_version"]),
        commit_reveal=bool(rule["commit_reveal_weights_enabled"]),
        reveal_period=int(rule["commit_reveal_period"]),
        activity_cutoff=max(1, int(rule["activity_cutoff_factor"]) * status["tempo"] // 1000),
        immunity_period=int(rule["immunity_period"]),
        stake_threshold=int(threshold),
        max_validators=int(rule["max_validators"]),
        kappa=int(rule["kappa"]),
        consensus=_name_consensus(consensus),
    )


def _name_consensus(found: Any) -> Literal["yuma"]:
    """A number or a variant, as the runtime has it; only yuma's rules are settled."""
    name = next(iter(found)) if isinstance(found, dict) else found
    if name in (0, None, "Yuma"):
        return "yuma"
    raise make_fault("unsupported_consensus", f"the subnet's consensus is {found}")


async def fetch_stored(view: Any, netuid: int, mechid: int, hotkey: str) -> StoredWeights:
    """Weights that the chain stores for one hotkey."""
    index, uid = find_index(netuid, mechid), await view.query(item("Uids"), [netuid, hotkey])
    if uid is None:
        return StoredWeights(view.block, None, None, None, (), ())
    registered, updates, row, sealed = await asyncio.gather(
        view.query(item("BlockAtRegistration"), [netuid, uid]),
        view.query(item("LastUpdate"), [index]),
        view.query(item("Weights"), [index, uid]),
        view.read("timelocked_weight_commits", netuid=netuid, mechid=mechid),
    )
    commits = tuple(
        WeightCommit(
            epoch, one["commit_block"], one["reveal_round"], hashlib.sha256(one["ciphertext"].encode()).hexdigest()
        )
        for epoch, entries in sealed.items()
        for one in entries
        if one["hotkey"] == hotkey
    )
    pairs = tuple(sorted((int(dest), int(value)) for dest, value in row or ()))
    return StoredWeights(view.block, int(uid), int(registered), pick(updates, int(uid)), pairs, commits)


async def fetch_delegations(view: Any, account: str) -> tuple[Delegation, ...]:
    """In the chain's own order, which decides which of several it uses."""
    found = await view.read("proxies", coldkey_ss58=account)
    return tuple(Delegation(one["delegate"], one["proxy_type"], one["delay"]) for one in found["proxies"])
