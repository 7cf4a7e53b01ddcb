"""The node's own key, beside its store: what signs where no wallet is named.

The file holds the secret in hex and, on a second line, its address, so that a damaged one is seen as such.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey

KEY_FILE = "novelty.key"
"""Kept as it was released: under another name, nodes that have one would sign under a new address."""
SQLITE = "sqlite:///"
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MAX_BYTES = 1000


def open_node_key(path: Path) -> Hotkey:
    """The key in a file, which is made if there is none; one that others may read, or a damaged one, is refused."""
    if not path.exists():
        _create_key(path)
    try:
        with path.open("rb") as file:
            exposed = stat.S_IMODE(os.fstat(file.fileno()).st_mode) & OTHERS
            content = file.read(MAX_BYTES)
    except OSError as fault:
        raise WeighbeamError("bad_key_file", f"{path}: {fault.strerror}", "check its permissions") from None
    if exposed:
        raise WeighbeamError("key_exposed", f"{path} may be read by other users of this machine", f"chmod 600 {path}")
    return _parse_key(path, content)


def _parse_key(path: Path, content: bytes) -> Hotkey:
    try:
        secret, address = content.decode("ascii").split()
        seed = bytes.fromhex(secret)
        found = Hotkey.from_seed(seed) if len(seed) == 32 else None
    except ValueError:
        found = None
    if found is None or found.address != address:
        remedy = "restore a backup; without it, remove the file: a new key has another address"
        raise WeighbeamError("bad_key_file", f"{path} is not a key, or it is damaged", remedy)
    return found


def _create_key(path: Path) -> None:
    """Create the key atomically; if another process was first, its key is used."""
    seed = secrets.token_bytes(32)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, f"{seed.hex()}\n{Hotkey.from_seed(seed).address}\n".encode("ascii"))
            os.fsync(file)
        finally:
            os.close(file)
        with suppress(FileExistsError):
            os.link(draft, path)
    except OSError as fault:
        remedy = "make the folder, or name a store elsewhere"
        raise WeighbeamError("bad_key_file", f"{path} cannot be made: {fault.strerror}", remedy) from None
    finally:
        draft.unlink(missing_ok=True)


def find_url(place: str) -> str:
    return place if "://" in place else f"{SQLITE}{place}"


def find_key_file(place: str) -> Path:
    """Beside the store's file; in the current folder if the store is a server."""
    url = find_url(place)
    folder = Path(url.removeprefix(SQLITE)).parent if url.startswith(SQLITE) else Path()
    return folder / KEY_FILE
