"""Administer a local chain: register and replace neurons, name the owner, announce endpoints."""

from collections.abc import Mapping, Set

from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.proxies import TYPES, Delegation
from weighbeam.core.errors import WeighbeamError


def register(file: ChainFile, hotkey: str, coldkey: str | None = None, stake: int = 0) -> int:
    """A uid for a hotkey: the next free one, or that of the neuron least worth keeping."""
    with at_present(file) as block:
        if file.db.execute("SELECT 1 FROM neurons WHERE hotkey = ?", (hotkey,)).fetchone():
            raise WeighbeamError("already_registered", f"{hotkey} is registered", "use another hotkey")
        count = file.db.execute("SELECT COUNT(*) FROM neurons").fetchone()[0]
        uid = count if count < file.parameters.max_uids else _least_worth(file, block)
        _seat(file, int(uid), hotkey, coldkey or hotkey, stake, block)
        return int(uid)


def set_owner(file: ChainFile, hotkey: str | None) -> None:
    """Set the subnet's owner; a burnt share goes to this hotkey."""
    with at_present(file):
        file.write("owner", hotkey)


def set_names(file: ChainFile, names: Mapping[str, str]) -> None:
    """Set names of neurons by hotkey, like identities on a real chain."""
    with at_present(file):
        file.write_names({**file.read_names(), **names})


def add_proxy(file: ChainFile, account: str, right: Delegation) -> None:
    """Let a key sign for an account; the chain keeps delegations ordered by key, type and delay, each once."""
    with at_present(file):
        file.write_delegations(account, order_delegations({*file.read_delegations(account), right}))


def order_delegations(given: Set[Delegation]) -> list[Delegation]:
    return sorted(given, key=lambda one: (one.delegate, TYPES.index(one.kind), one.delay))


def remove_proxies(file: ChainFile, account: str) -> None:
    with at_present(file):
        file.write_delegations(account, ())


def replace_neuron(file: ChainFile, uid: int, hotkey: str) -> None:
    """Give a uid to another hotkey now, as the chain does when it is full."""
    with at_present(file) as block:
        _seat(file, uid, hotkey, hotkey, 0, block)


def _seat(file: ChainFile, uid: int, hotkey: str, coldkey: str, stake: int, block: int) -> None:
    _clear(file, uid)
    file.db.execute("INSERT INTO neurons VALUES (?, ?, ?, ?, 0, ?, NULL)", (uid, hotkey, coldkey, stake, block))
    for mechid in range(file.parameters.mechanisms):
        file.db.execute("INSERT INTO updates VALUES (?, ?, ?)", (mechid, uid, block))
    file.note(block, "NeuronRegistered", uid=uid, hotkey=hotkey)


def _least_worth(file: ChainFile, block: int) -> int:
    """Never the owner; the not immune first; then the smallest emission, the oldest, the lowest uid."""
    rows = file.db.execute(
        "SELECT n.uid, n.registered_at, COALESCE((SELECT SUM(emission) FROM shares s WHERE s.uid = n.uid), 0) "
        "FROM neurons n WHERE n.hotkey IS NOT ?",
        (file.read("owner"),),
    ).fetchall()
    immunity = file.parameters.immunity_period

    def worth(row: tuple[int, int, int]) -> tuple[bool, int, int, int]:
        uid, registered_at, emission = row
        return block - registered_at < immunity, emission, registered_at, uid

    return int(min(rows, key=worth)[0])


def _clear(file: ChainFile, uid: int) -> None:
    """A newcomer inherits nothing of its own row; what others hold towards the uid is masked by age."""
    for table in ("neurons", "updates", "weights", "bonds", "shares"):
        file.db.execute(f"DELETE FROM {table} WHERE uid = ?", (uid,))


def announce(file: ChainFile, hotkey: str, endpoint: str | None) -> None:
    with at_present(file) as block:
        done = file.db.execute("UPDATE neurons SET endpoint = ? WHERE hotkey = ?", (endpoint, hotkey))
        if done.rowcount == 0:
            raise WeighbeamError("not_registered", f"{hotkey} is not registered", "register it first")
        file.note(block, "EndpointSet", hotkey=hotkey, value=endpoint)
