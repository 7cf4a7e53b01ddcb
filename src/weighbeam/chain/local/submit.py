"""Submitting weights: the chain's checks in its order, then the row replaces the old one."""

import hashlib
import json
from collections.abc import Sequence

from weighbeam.chain.contract import ChainFault, SubmissionReceipt
from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.rows import select_sender, select_subnet_rules, update_row
from weighbeam.chain.proxies import PROXY_CODES, refuse_delegate
from weighbeam.chain.weight_row import CODES, WeightSubmission, refuse_submission, upscale_row

MAX_COMMITS = 10
REMEDIES = {
    "rate_limited": "wait for the block named",
    "not_registered": "register the hotkey",
    "no_permit": "more stake, or wait for the next epoch",
    "low_stake": "stake at least the threshold",
    "version_key": "upgrade Weighbeam or the mechanism",
    "too_few_weights": "the mechanism must weigh more miners",
    "bad_weights": "this is a defect: report it",
    "commit_reveal_mismatch": "read the rules again and plan again",
    "no_proxy_right": "let the hotkey add this key as its proxy again, of a type that may set weights, without delay",
    "no_subnet": "check netuid and mechid",
}


def submit_weights(
    file: ChainFile,
    mechid: int,
    hotkey: str,
    uids: Sequence[int],
    values: Sequence[int],
    version_key: int,
    before: int | None = None,
    proxy: tuple[str, str | None] | None = None,
) -> SubmissionReceipt:
    """One submission in one transaction: accepted whole or refused whole. `proxy` is the key that signed for the hotkey
    instead, and the type of delegation that it insists on."""
    submission = WeightSubmission(mechid, tuple(uids), tuple(values), version_key)
    with at_present(file) as block:
        if before is not None and block >= before:
            raise ChainFault("timeout", f"block {block} is too late for this plan", "it is planned again")
        sealed = file.parameters.commit_reveal
        refusal = None if proxy is None else refuse_delegate(file.read_delegations(hotkey), *proxy)
        refusal = refusal or (refuse_commit if sealed else refuse_plain)(file, hotkey, submission, block)
        if refusal is not None:
            retry = select_sender(file, mechid, hotkey).last_update + file.parameters.rate_limit
            raise refuse(refusal, retry)
        extrinsic = _extrinsic(hotkey, submission, block)
        if not sealed:
            set_row(file, hotkey, submission, block)
            return SubmissionReceipt("plain", block, file.hash_block(block), extrinsic)
        commit_row(file, hotkey, submission, block)
        reveal = int(file.read("epoch_index")) + file.parameters.reveal_period
        return SubmissionReceipt("commit", block, file.hash_block(block), extrinsic, reveal)


def refuse_plain(file: ChainFile, hotkey: str, submission: WeightSubmission, block: int) -> str | None:
    """The chain's name for the first check an open row fails, if one does."""
    return refuse_submission(
        select_subnet_rules(file, block), select_sender(file, submission.mechid, hotkey), submission
    )


def set_row(file: ChainFile, hotkey: str, submission: WeightSubmission, block: int) -> None:
    """An open row that passed its checks replaces the old one."""
    uid = _select_uid(file, submission.mechid, hotkey)
    row = dict(zip(submission.uids, upscale_row(submission.values), strict=True))
    update_row(file, "weights", submission.mechid, uid, row)
    _touch(file, submission.mechid, uid, block)
    file.note(block, "WeightsSet", uid=uid, mechid=submission.mechid)


def refuse_commit(file: ChainFile, hotkey: str, submission: WeightSubmission, block: int) -> str | None:
    """The chain's name for the first check a sealed row fails, if one does; what is inside is not looked at."""
    sender, rules = select_sender(file, submission.mechid, hotkey), select_subnet_rules(file, block)
    owner = sender.uid is not None and sender.uid == rules.owner_uid
    waited = sender.last_update == 0 or block - sender.last_update >= rules.rate_limit
    pending = file.db.execute(
        "SELECT COUNT(*) FROM commits WHERE mechid = ? AND hotkey = ? AND epoch = ?",
        (submission.mechid, hotkey, file.read("epoch_index")),
    ).fetchone()[0]
    checks = {
        "NotEnoughStakeToSetWeights": sender.stake >= rules.stake_threshold or owner,
        "MechanismDoesNotExist": submission.mechid < rules.mechanisms,
        "CommitRevealDisabled": rules.commit_reveal,
        "HotKeyNotRegisteredInSubNet": sender.uid is not None,
        "CommittingWeightsTooFast": waited,
        "TooManyUnrevealedCommits": pending < MAX_COMMITS,
    }
    return next((name for name, holds in checks.items() if not holds), None)


def commit_row(
    file: ChainFile, hotkey: str, submission: WeightSubmission, block: int, digest: str | None = None
) -> None:
    """A sealed row that passed its checks waits for its epoch; `digest` is what shows of it."""
    uid = _select_uid(file, submission.mechid, hotkey)
    row = json.dumps(list(zip(submission.uids, submission.values, strict=True)))
    file.db.execute(
        "INSERT INTO commits (mechid, hotkey, epoch, block, hash, row, version_key) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            submission.mechid,
            hotkey,
            file.read("epoch_index"),
            block,
            digest or hashlib.sha256(row.encode()).hexdigest(),
            row,
            submission.version_key,
        ),
    )
    _touch(file, submission.mechid, uid, block)
    file.note(block, "TimelockedWeightsCommitted", uid=uid, mechid=submission.mechid)


def refuse(name: str, retry_block: int | None = None) -> ChainFault:
    """The fault for a refusal by the chain's own name."""
    code = (CODES | PROXY_CODES).get(name, "unknown_chain_error")
    retry = retry_block if code == "rate_limited" else None
    wait = "" if retry is None else f" until block {retry}"
    return ChainFault(
        code, f"the chain refused: {name}{wait}", REMEDIES.get(code, "see the message"), "rejected", retry
    )


def _select_uid(file: ChainFile, mechid: int, hotkey: str) -> int:
    uid = select_sender(file, mechid, hotkey).uid
    assert uid is not None
    return uid


def _touch(file: ChainFile, mechid: int, uid: int, block: int) -> None:
    file.db.execute("INSERT OR REPLACE INTO updates VALUES (?, ?, ?)", (mechid, uid, block))


def _extrinsic(hotkey: str, submission: WeightSubmission, block: int) -> str:
    text = json.dumps([hotkey, submission.mechid, submission.uids, submission.values, block])
    return "0x" + hashlib.sha256(text.encode()).hexdigest()
