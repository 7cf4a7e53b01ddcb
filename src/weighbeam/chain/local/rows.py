"""Rows of the chain file as the pure rules want them."""

from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.weight_row import Sender, SubnetRules
from weighbeam.core.yuma.epoch import Row


def select_rows(file: ChainFile, table: str, mechid: int, count: int) -> list[Row]:
    rows: list[Row] = [{} for _ in range(count)]
    entries = file.db.execute(f"SELECT uid, dest, value FROM {table} WHERE mechid = ? ORDER BY uid, dest", (mechid,))
    for uid, dest, value in entries:
        if uid < count:
            rows[uid][dest] = value
    return rows


def update_row(file: ChainFile, table: str, mechid: int, uid: int, row: Row) -> None:
    """Replace a row; nothing of the old one stays."""
    file.db.execute(f"DELETE FROM {table} WHERE mechid = ? AND uid = ?", (mechid, uid))
    entries = [(mechid, uid, dest, value) for dest, value in row.items()]
    file.db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", entries)


def select_sender(file: ChainFile, mechid: int, hotkey: str) -> Sender:
    row = file.db.execute("SELECT uid, stake, permit FROM neurons WHERE hotkey = ?", (hotkey,)).fetchone()
    if row is None:
        return Sender(None, 0, False, 0)
    updated = file.db.execute(
        "SELECT last_update FROM updates WHERE mechid = ? AND uid = ?", (mechid, row[0])
    ).fetchone()
    return Sender(row[0], row[1], bool(row[2]), updated[0] if updated else 0)


def select_subnet_rules(file: ChainFile, block: int) -> SubnetRules:
    parameters = file.parameters
    owner = file.db.execute("SELECT uid FROM neurons WHERE hotkey = ?", (file.read("owner"),)).fetchone()
    return SubnetRules(
        block=block,
        netuid=parameters.netuid,
        n=file.db.execute("SELECT COUNT(*) FROM neurons").fetchone()[0],
        mechanisms=parameters.mechanisms,
        commit_reveal=parameters.commit_reveal,
        stake_threshold=parameters.stake_threshold,
        version_key=parameters.version_key,
        rate_limit=parameters.rate_limit,
        min_allowed_weights=parameters.min_allowed_weights,
        owner_uid=owner[0] if owner else None,
    )
