"""Open the hotkey that the settings name; its secret never enters a message."""

from pathlib import Path

from weighbeam.app.node_key import find_key_file, open_node_key
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey


def open_signer(loaded: LoadedSettings) -> Hotkey:
    """Signer of receipts: the wallet's hotkey or, without a wallet, the node's own key beside the store."""
    wallet = loaded.settings.wallet
    if wallet.uri is None and wallet.file is None and wallet.name is None:
        return open_node_key(find_key_file(loaded.store_url()))
    return open_hotkey(loaded)


def open_hotkey(loaded: LoadedSettings) -> Hotkey:
    """The key of the wallet section: `wallet_missing`, `wallet_locked` or `wallet_mismatch` if it cannot be had."""
    wallet = loaded.settings.wallet
    if wallet.uri is not None:
        try:
            found = Hotkey.from_uri(wallet.uri.get_secret_value())
        except ValueError:
            raise WeighbeamError("wallet_missing", "wallet.uri is not a secret URI", "write one like //Alice") from None
    elif wallet.file is not None:
        found = load_hotkey(loaded.path(wallet.file), _find_password(loaded))
    elif wallet.name is not None:
        named = loaded.path(wallet.path) / wallet.name / "hotkeys" / wallet.hotkey_name
        found = load_hotkey(named, _find_password(loaded))
    else:
        remedy = "set wallet.name or wallet.file, or wallet.uri on a local chain"
        raise WeighbeamError("wallet_missing", "no hotkey is set", remedy)
    if wallet.hotkey is not None and wallet.hotkey != found.address:
        raise WeighbeamError(
            "wallet_mismatch", f"the wallet holds {found.address}, not {wallet.hotkey}", "name the right file"
        )
    return found


def _find_password(loaded: LoadedSettings) -> Path | None:
    file = loaded.settings.wallet.password_file
    return None if file is None else loaded.path(file)


def load_hotkey(path: Path, password_file: Path | None) -> Hotkey:
    """The key of a hotkey file."""
    try:
        password = password_file.read_text("utf-8").rstrip("\n") if password_file else None
        return Hotkey.from_keyfile(path.read_bytes(), password)
    except OSError as fault:
        raise WeighbeamError("wallet_missing", f"{fault.filename}: {fault.strerror}", "name a hotkey file") from None
    except ValueError as fault:
        locked = "encrypted" in str(fault) or "password" in str(fault)
        code = "wallet_locked" if locked else "wallet_missing"
        raise WeighbeamError(code, f"{path}: {fault}", "set wallet.password_file, or name another file") from None
