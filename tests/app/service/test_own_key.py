"""Where no wallet is named, `weighbeam serve` signs with the key beside the store, the same every time."""

from pathlib import Path

import pytest

from weighbeam.app.identity import open_signer
from weighbeam.app.node_key import KEY_FILE
from weighbeam.app.settings.sources import load_settings
from weighbeam.core.errors import WeighbeamError


def load(folder: Path, wallet: str = "") -> Path:
    file = folder / "weighbeam.toml"
    file.write_text(f'[store]\nurl = "sqlite:///journal.db"\n{wallet}', "utf-8")
    return file


def test_a_service_without_a_wallet_has_a_key_of_its_own(tmp_path: Path) -> None:
    first = open_signer(load_settings(load(tmp_path), {}))
    again = open_signer(load_settings(load(tmp_path), {}))
    assert first.address == again.address
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600


def test_a_wallet_that_is_named_and_missing_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError):
        open_signer(load_settings(load(tmp_path, '[wallet]\nfile = "gone"\n'), {}))
    assert not (tmp_path / KEY_FILE).exists()
    named = open_signer(load_settings(load(tmp_path, '[wallet]\nuri = "//Alice"\n'), {}))
    assert named.address.startswith("5Grwva")
