"""Events of passing blocks: reveals, then the epoch of each mechanism."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict

from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.rows import select_rows, select_sender, select_subnet_rules, update_row
from weighbeam.chain.weight_row import WeightSubmission, refuse_row, upscale_row
from weighbeam.core.yuma.epoch import YumaEpoch, YumaSubnet, run_epoch


def catch_up(file: ChainFile, block: int) -> None:
    """Run every epoch that is due up to `block`, and move the head there."""
    parameters = file.parameters
    while parameters.tempo and file.read("last_epoch_block") + parameters.tempo <= block:
        due = int(file.read("last_epoch_block")) + parameters.tempo
        file.write("head", max(due, int(file.read("head"))))
        index = int(file.read("epoch_index")) + 1
        for mechid in range(parameters.mechanisms):
            reveal_commits(file, mechid, due, index)
            store_epoch(file, mechid, due, run_mechanism(file, mechid, due))
        for key, value in (("last_epoch_block", due), ("last_step_block", due), ("epoch_index", index)):
            file.write(key, value)
    file.write("head", max(block, int(file.read("head"))))


@contextmanager
def at_present(file: ChainFile) -> Iterator[int]:
    """A transaction at the present block, with everything due until then done; yields that block."""
    with file.locked():
        catch_up(file, file.present_block())
        yield int(file.read("head"))


def advance(file: ChainFile, blocks: int) -> int:
    """Let `blocks` pass on a manual chain; gives the new block."""
    with at_present(file) as head:
        catch_up(file, head + blocks)
    return int(file.read("head"))


def run_mechanism(file: ChainFile, mechid: int, block: int) -> YumaEpoch:
    """One epoch of one mechanism, from what the file holds."""
    parameters = file.parameters
    neurons = file.db.execute("SELECT uid, stake, permit, registered_at, hotkey FROM neurons ORDER BY uid").fetchall()
    updates = dict(file.db.execute("SELECT uid, last_update FROM updates WHERE mechid = ?", (mechid,)))
    owner = file.read("owner")
    owner_uid = next((uid for uid, _, _, _, hotkey in neurons if hotkey == owner), None)
    subnet = YumaSubnet(
        block=block,
        stake=[stake for _, stake, _, _, _ in neurons],
        weights=select_rows(file, "weights", mechid, len(neurons)),
        permits=[bool(permit) for _, _, permit, _, _ in neurons],
        last_update=[updates.get(uid, 0) for uid, *_ in neurons],
        registered_at=[registered for _, _, _, registered, _ in neurons],
        bonds=select_rows(file, "bonds", mechid, len(neurons)),
        last_step_block=file.read("last_step_block"),
        emission=parameters.emission_per_block * parameters.tempo // parameters.mechanisms,
        commit_blocks=_oldest_commits(file, mechid, [hotkey for *_, hotkey in neurons]),
    )
    return run_epoch(subnet, parameters.yuma(owner_uid))


def _oldest_commits(file: ChainFile, mechid: int, hotkeys: Sequence[str]) -> list[int | None] | None:
    if not file.parameters.commit_reveal:
        return None
    oldest = dict(file.db.execute("SELECT hotkey, MIN(block) FROM commits WHERE mechid = ? GROUP BY hotkey", (mechid,)))
    return [oldest.get(hotkey) for hotkey in hotkeys]


def store_epoch(file: ChainFile, mechid: int, block: int, epoch: YumaEpoch) -> None:
    """Keep what an epoch decided: shares, bonds and the permits of the next."""
    file.db.execute("INSERT INTO epochs VALUES (?, ?, ?)", (mechid, block, json.dumps(asdict(epoch))))
    for uid, bonds in enumerate(epoch.bonds):
        update_row(file, "bonds", mechid, uid, bonds)
        emission = epoch.server_emission[uid] + epoch.validator_emission[uid]
        shares = (epoch.incentive[uid], epoch.dividends[uid], epoch.consensus[uid], epoch.validator_trust[uid])
        file.db.execute(
            "INSERT OR REPLACE INTO shares VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (mechid, uid, *shares, epoch.active[uid], emission),
        )
        file.db.execute("UPDATE neurons SET permit = ? WHERE uid = ?", (epoch.permits[uid], uid))
    file.note(block, "EpochRun", mechid=mechid)


def reveal_commits(file: ChainFile, mechid: int, block: int, index: int) -> None:
    """Apply the commits due at this epoch; one that fails changes nothing and says nothing, as on the real chain."""
    due_epoch = index - file.parameters.reveal_period
    rows = file.db.execute(
        "SELECT hotkey, row, version_key FROM commits WHERE mechid = ? AND epoch = ? ORDER BY id", (mechid, due_epoch)
    ).fetchall()
    for hotkey, text, version_key in rows:
        row = json.loads(text)
        uids, values = tuple(uid for uid, _ in row), tuple(value for _, value in row)
        sender = select_sender(file, mechid, hotkey)
        if file.drop_reveals:
            continue
        rules = select_subnet_rules(file, block)
        poor = sender.stake < rules.stake_threshold and sender.uid != rules.owner_uid
        if sender.uid is None or poor or refuse_row(rules, sender, WeightSubmission(mechid, uids, values, version_key)):
            continue
        update_row(file, "weights", mechid, sender.uid, dict(zip(uids, upscale_row(values), strict=True)))
        file.note(block, "TimelockedWeightsRevealed", uid=sender.uid, mechid=mechid)
    file.db.execute("DELETE FROM commits WHERE mechid = ? AND epoch <= ?", (mechid, due_epoch))
