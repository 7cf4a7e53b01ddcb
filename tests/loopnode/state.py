"""The chain file's rows as raw storage: key → bytes, for one block."""

from collections.abc import Mapping
from typing import Any

from bittensor._transport.codec import RuntimeCodec

from weighbeam.chain.local.file import ChainFile

INDEX = 4096
State = dict[bytes, bytes]


def snapshot(
    codec: RuntimeCodec, file: ChainFile, block: int, nonces: Mapping[str, int], sealed: Mapping[str, tuple[bytes, int]]
) -> State:
    """Everything a client may ask for; `sealed` is ciphertext and round by the commit's digest."""
    state: State = {}

    def put(item: str, params: list[Any], value: Any, pallet: str = "SubtensorModule") -> None:
        entry = codec.storage_entry(pallet, item)
        state[codec.storage_key(entry, params)] = codec.encode(entry.value_type, value)

    put("Number", [], block, "System")
    put("Now", [], int(file.read("genesis_time") * 1000) + block * int(file.read("block_seconds") * 1000), "Timestamp")
    for hotkey, nonce in nonces.items():
        put("Account", [hotkey], _account(nonce), "System")
    for item, value in _subnet_items(file, block).items():
        put(item, [] if item == "StakeThreshold" else [file.parameters.netuid], value)
    for account, given in file.read_every_delegation().items():
        rights = [{"delegate": one.delegate, "proxy_type": one.kind, "delay": one.delay} for one in given]
        put("Proxies", [account], (rights, 0), "Proxy")
    _put_neurons(put, file)
    for mechid in range(file.parameters.mechanisms):
        _put_mechanism(put, file, mechid, sealed)
    return state


def _subnet_items(file: ChainFile, block: int) -> dict[str, Any]:
    p, last = file.parameters, int(file.read("last_epoch_block"))
    return {
        "NetworksAdded": True,
        "MechanismCountCurrent": p.mechanisms,
        "Tempo": p.tempo,
        "CommitRevealWeightsEnabled": p.commit_reveal,
        "WeightsSetRateLimit": p.rate_limit,
        "MinAllowedWeights": p.min_allowed_weights,
        "MaxWeightsLimit": p.max_weight_limit,
        "RevealPeriodEpochs": p.reveal_period,
        "WeightsVersionKey": p.version_key,
        "StakeThreshold": p.stake_threshold,
        "LastEpochBlock": last,
        "PendingEpochAt": 0,
        "SubnetEpochIndex": int(file.read("epoch_index")),
        "BlocksSinceLastStep": block - last,
    }


def _put_neurons(put: Any, file: ChainFile) -> None:
    netuid = file.parameters.netuid
    rows = file.db.execute("SELECT uid, hotkey, permit, registered_at FROM neurons ORDER BY uid").fetchall()
    trust = dict(file.db.execute("SELECT uid, validator_trust FROM shares WHERE mechid = 0"))
    put("SubnetworkN", [netuid], len(rows))
    put("ValidatorPermit", [netuid], [bool(permit) for _, _, permit, _ in rows])
    put("ValidatorTrust", [netuid], [trust.get(uid, 0) for uid, *_ in rows])
    for uid, hotkey, _, registered_at in rows:
        put("Uids", [netuid, hotkey], uid)
        put("Keys", [netuid, uid], hotkey)
        put("BlockAtRegistration", [netuid, uid], registered_at)


def _put_mechanism(put: Any, file: ChainFile, mechid: int, sealed: Mapping[str, tuple[bytes, int]]) -> None:
    index = mechid * INDEX + file.parameters.netuid
    uids = [uid for (uid,) in file.db.execute("SELECT uid FROM neurons ORDER BY uid")]
    updates = dict(file.db.execute("SELECT uid, last_update FROM updates WHERE mechid = ?", (mechid,)))
    incentive = dict(file.db.execute("SELECT uid, incentive FROM shares WHERE mechid = ?", (mechid,)))
    put("LastUpdate", [index], [updates.get(uid, 0) for uid in uids])
    put("Incentive", [index], [incentive.get(uid, 0) for uid in uids])
    for table, item in (("weights", "Weights"), ("bonds", "Bonds")):
        rows: dict[int, list[tuple[int, int]]] = {}
        query = f"SELECT uid, dest, value FROM {table} WHERE mechid = ? ORDER BY uid, dest"
        for uid, dest, value in file.db.execute(query, (mechid,)):
            rows.setdefault(uid, []).append((dest, value))
        for uid, row in rows.items():
            put(item, [index, uid], row)
    commits: dict[int, list[tuple[str, int, str, int]]] = {}
    query = "SELECT epoch, hotkey, block, hash FROM commits WHERE mechid = ? ORDER BY id"
    for epoch, hotkey, at, digest in file.db.execute(query, (mechid,)):
        ciphertext, reveal_round = sealed[digest]
        commits.setdefault(epoch, []).append((hotkey, at, "0x" + ciphertext.hex(), reveal_round))
    for epoch, entries in commits.items():
        put("TimelockedWeightCommits", [index, epoch], entries)


def _account(nonce: int) -> dict[str, Any]:
    return {
        "nonce": nonce,
        "consumers": 0,
        "providers": 1,
        "sufficients": 0,
        "data": {"free": 10**9, "reserved": 0, "frozen": 0, "flags": 0},
    }
