"""Settings for the real chain: its subnet, its wallets, and what a dry run against it says."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chain.administration import set_parameters
from chain.stand import address, make_file
from command import weighbeam as run
from engine.small_subnet import ALICE
from loopnode.need import need_sdk
from weighbeam.app.chains import open_chain
from weighbeam.app.identity import open_hotkey
from weighbeam.app.settings.sources import LoadedSettings, load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import Store

FILE = """
[wallet]
uri = "//Alice"
[chain]
kind = "bittensor"
endpoint = "{url}"
netuid = 1
[validator]
listen = ""
[mechanisms.chunking]
"""


def load(folder: Path, text: str) -> LoadedSettings:
    path = folder / "weighbeam.toml"
    path.write_text(text)
    return load_settings(path, {})


@pytest.fixture(scope="module")
def wallets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of wallets as the chain's own tools write it, one of them locked."""
    need_sdk()
    import bittensor

    folder = tmp_path_factory.mktemp("wallets")
    for name, password in (("plain", None), ("locked", "open sesame")):
        wallet = bittensor.Wallet("cold", name, str(folder))
        keys = {"use_password": password is not None, "hotkey_password": password, "overwrite": True}
        wallet.create_new_hotkey(suppress=True, **keys)
    return folder


def write_wallet(folder: Path, name: str, **more: str) -> str:
    lines = {"name": "cold", "hotkey_name": name, "path": str(folder), **more}
    return "[wallet]\n" + "".join(f'{key} = "{value}"\n' for key, value in lines.items())


def test_a_wallet_written_by_the_chain_s_tools_is_read(tmp_path: Path, wallets: Path) -> None:
    import bittensor

    found = open_hotkey(load(tmp_path, write_wallet(wallets, "plain")))
    assert found.address == bittensor.Wallet("cold", "plain", str(wallets)).hotkey.ss58_address


def test_a_locked_wallet_opens_by_a_file_with_its_password(tmp_path: Path, wallets: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("open sesame\n")
    text = write_wallet(wallets, "locked", password_file=str(secret))
    assert open_hotkey(load(tmp_path, text)).address.startswith("5")
    with pytest.raises(WeighbeamError) as caught:
        open_hotkey(load(tmp_path, write_wallet(wallets, "locked")))
    assert caught.value.code == "wallet_locked"


def test_a_wallet_that_is_not_there_or_not_the_one_expected_is_named(tmp_path: Path, wallets: Path) -> None:
    with pytest.raises(WeighbeamError, match="wallet_missing") as caught:
        open_hotkey(load(tmp_path, write_wallet(wallets, "absent")))
    assert "absent" in caught.value.message
    with pytest.raises(WeighbeamError, match="wallet_mismatch"):
        open_hotkey(load(tmp_path, write_wallet(wallets, "plain", hotkey=ALICE.address)))


def test_a_subnet_must_be_named_and_a_network_known(tmp_path: Path) -> None:
    need_sdk()
    missing = load(tmp_path, FILE.format(url="ws://127.0.0.1:9").replace("netuid = 1", ""))
    with pytest.raises(WeighbeamError, match=r"chain\.netuid"):
        open_chain(missing, ALICE, 0)
    with pytest.raises(WeighbeamError, match=r"chain\.endpoint"):
        open_chain(load(tmp_path, FILE.format(url="fynney")), ALICE, 0)


def test_without_the_sdk_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "bittensor", None)
    with pytest.raises(WeighbeamError, match="no_bittensor") as caught:
        open_chain(load(tmp_path, FILE.format(url="finney")), ALICE, 0)
    assert "weighbeam[bittensor]" in caught.value.remedy


@pytest.fixture
def node(tmp_path: Path) -> Iterator[tuple[Path, object]]:
    """A file of settings for a node on the loopback, and the chain behind it."""
    need_sdk()
    from loopnode.node import LoopNode
    from loopnode.server import serve_node

    file = make_file(tmp_path, [address(f"m{number}") for number in range(3)])
    with serve_node(LoopNode(file)) as server:
        load(tmp_path, FILE.format(url=server.url))
        yield tmp_path / "weighbeam.toml", file


def test_a_dry_run_tells_every_check_that_holds_or_not_and_sends_nothing(node: tuple[Path, object]) -> None:
    config, file = node
    Store(load_settings(config, {}).store_url()).close()
    set_parameters(file, version_key=3, stake_threshold=10**15)
    done = run("journal", "weights", "--dry-run", "--json", "--config", config)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    checks = {check["check"]: check["holds"] for check in told["checks"]}
    assert (told["action"], told["reason"]) == ("skip", "all_zero")
    assert not checks["version key"]
    assert not checks["stake"]
    for name in ("chain readable", "hotkey registered", "permit", "rate limit", "consensus"):
        assert checks[name], name
    assert file.db.execute("SELECT COUNT(*) FROM weights").fetchone() == (0,)


def test_an_endpoint_that_is_not_there_is_a_failed_check_with_its_reason(tmp_path: Path) -> None:
    need_sdk()
    Store(load(tmp_path, FILE.format(url="ws://127.0.0.1:9")).store_url()).close()
    done = run("journal", "weights", "--dry-run", "--config", tmp_path / "weighbeam.toml")
    assert "✗ chain readable" in done.stdout, done.stderr
    started = run("run", "validator", "--config", tmp_path / "weighbeam.toml")
    assert started.returncode == 2
    assert "unreachable" in started.stdout + started.stderr
