"""Submitting weights: the chain's checks in its order, then the row replaces the old one."""

import hashlib
import json
from collections.abc import Sequence

from weighbeam.chain.contract import ChainFault, Submitted
from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.rows import read_sender, read_subnet_rules, write_row
from weighbeam.chain.weight_row import CODES, Submission, refuse_row, refuse_sender, upscale_row

MAX_COMMITS = 10
REMEDIES = {
    "rate_limited": "wait for the block named",
    "not_registered": "register the hotkey",
    "no_permit": "more stake, or wait for the next epoch",
    "low_stake": "stake at least the threshold",
    "version_key": "upgrade Weighbeam or the mechanism",
    "too_few_weights": "the mechanism must weigh more miners",
    "bad_weights": "this is a defect: report it",
    "commit_reveal_mismatch": "read the rules again and plan anew",
    "no_subnet": "check netuid and mechid",
}


def submit_weights(
    file: ChainFile, mechid: int, hotkey: str, uids: Sequence[int], values: Sequence[int], version_key: int
) -> Submitted:
    """One submission in one transaction: accepted whole or refused whole."""
    submission = Submission(mechid, tuple(uids), tuple(values), version_key)
    with at_present(file) as block:
        if file.parameters.commit_reveal:
            return _commit(file, hotkey, submission, block)
        sender, rules = read_sender(file, mechid, hotkey), read_subnet_rules(file, block)
        refusal = refuse_sender(rules, sender) or refuse_row(rules, sender, submission)
        if refusal is not None:
            raise refuse(refusal, sender.last_update + rules.rate_limit)
        assert sender.uid is not None
        write_row(file, "weights", mechid, sender.uid, dict(zip(uids, upscale_row(values), strict=True)))
        _touch(file, mechid, sender.uid, block)
        file.note(block, "WeightsSet", uid=sender.uid, mechid=mechid)
        return Submitted("plain", block, file.hash_block(block), _extrinsic(hotkey, submission, block))


def _commit(file: ChainFile, hotkey: str, submission: Submission, block: int) -> Submitted:
    sender, rules = read_sender(file, submission.mechid, hotkey), read_subnet_rules(file, block)
    epoch = int(file.read("epoch_index"))
    owner = sender.uid is not None and sender.uid == rules.owner_uid
    waited = sender.last_update == 0 or block - sender.last_update >= rules.rate_limit
    pending = file.db.execute(
        "SELECT COUNT(*) FROM commits WHERE mechid = ? AND hotkey = ? AND epoch = ?", (submission.mechid, hotkey, epoch)
    ).fetchone()[0]
    checks = {
        "NotEnoughStakeToSetWeights": sender.stake >= rules.stake_threshold or owner,
        "MechanismDoesNotExist": submission.mechid < rules.mechanisms,
        "HotKeyNotRegisteredInSubNet": sender.uid is not None,
        "CommittingWeightsTooFast": waited,
        "TooManyUnrevealedCommits": pending < MAX_COMMITS,
    }
    refusal = next((name for name, holds in checks.items() if not holds), None)
    if refusal is not None:
        raise refuse(refusal, sender.last_update + rules.rate_limit)
    assert sender.uid is not None
    row = json.dumps(list(zip(submission.uids, submission.values, strict=True)))
    digest = hashlib.sha256(row.encode()).hexdigest()
    file.db.execute(
        "INSERT INTO commits (mechid, hotkey, epoch, block, hash, row, version_key) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (submission.mechid, hotkey, epoch, block, digest, row, submission.version_key),
    )
    _touch(file, submission.mechid, sender.uid, block)
    file.note(block, "TimelockedWeightsCommitted", uid=sender.uid, mechid=submission.mechid)
    reveal = epoch + file.parameters.reveal_period
    return Submitted("commit", block, file.hash_block(block), _extrinsic(hotkey, submission, block), reveal)


def refuse(name: str, retry_block: int | None = None) -> ChainFault:
    """The fault for a refusal by the chain's own name."""
    code = CODES.get(name, "unknown_chain_error")
    retry = retry_block if code == "rate_limited" else None
    wait = "" if retry is None else f" until block {retry}"
    return ChainFault(
        code, f"the chain refused: {name}{wait}", REMEDIES.get(code, "see the message"), "rejected", retry
    )


def _touch(file: ChainFile, mechid: int, uid: int, block: int) -> None:
    file.db.execute("INSERT OR REPLACE INTO updates VALUES (?, ?, ?)", (mechid, uid, block))


def _extrinsic(hotkey: str, submission: Submission, block: int) -> str:
    text = json.dumps([hotkey, submission.mechid, submission.uids, submission.values, block])
    return "0x" + hashlib.sha256(text.encode()).hexdigest()
