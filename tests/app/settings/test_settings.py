"""Settings: file below environment, every mistake named, every origin known, no secret shown."""

import json
from pathlib import Path

import pytest

from warm import weighbeam_warm
from weighbeam.app.identity import open_hotkey
from weighbeam.app.settings.origins import list_settings
from weighbeam.app.settings.sources import explain_ignored, find_unknown, load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey

FILE = """
[store]
url = "sqlite:///journal.db"
[weigh_in]
ema_alpha = 0.4
[mechanisms.chunking]
override_params = true
params = { timeout = 6.0 }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weighbeam.toml"
    path.write_text(FILE)
    return path


def test_the_environment_wins_over_the_file_and_the_file_over_defaults(file: Path) -> None:
    environment = {"WEIGHBEAM_EMA_ALPHA": "0.2", "WEIGHBEAM_MECHANISMS__CHUNKING__MECHID": "1"}
    loaded = load_settings(file, environment)
    lines = {line.name: (line.value, line.origin) for line in list_settings(loaded)}
    assert lines["weigh_in.ema_alpha"] == (0.2, "environment")
    assert lines["mechanisms.chunking.mechid"] == (1, "environment")
    assert lines["mechanisms.chunking.params.timeout"] == (6.0, f"file {file}")
    assert lines["weigh_in.ema_lookback_hours"] == (24.0, "default")
    assert loaded.averaging().ema_alpha == 0.2


def test_paths_are_relative_to_the_file(file: Path) -> None:
    loaded = load_settings(file, {})
    assert loaded.store_url() == f"sqlite:///{file.parent / 'journal.db'}"
    assert loaded.path(Path("/absolute")) == Path("/absolute")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[store", "not valid TOML"),
        ("[stroe]\nurl = 'x'", "no setting stroe"),
        ("[miner]\nmax_taks = 2", "no setting miner.max_taks"),
        ("[miner]\nmax_tasks = 0", "miner.max_tasks is 0"),
        ("[validator]\nreplies = 'never'", "validator.replies"),
        ("[chain]\nkind = 'bitcoin'", "chain.kind"),
        ("[weigh_in]\nema_alpha = 7", "WEIGHBEAM_EMA_ALPHA"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(WeighbeamError, match=r"bad_(config|setting)") as caught:
        load_settings(path, {})
    assert told in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    "environment",
    [
        {"WEIGHBEAM_EMA_ALPHA": "much"},
        {"WEIGHBEAM_DB_RETENTION_HOURS": "10"},
        {"WEIGHBEAM_MINER__MAX_TASKS": "many"},
        {"WEIGHBEAM_VALIDATOR__PROBES": "no-json"},
    ],
)
def test_a_mistake_in_the_environment_is_named(file: Path, environment: dict[str, str]) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_(config|setting)"):
        load_settings(file, environment)


def test_a_variable_that_sets_nothing_is_found() -> None:
    found = find_unknown(
        {"WEIGHBEAM_STROE__URL": "x", "WEIGHBEAM_STORE__URL": "x", "WEIGHBEAM_CACHE": "x", "PATH": "x"}
    )
    assert found == ["WEIGHBEAM_STROE__URL"]


PARAMS_VARIABLES = [
    {"WEIGHBEAM_MECHANISMS__CHUNKING__PARAMS": '{"timeout": 9.0}'},
    {"WEIGHBEAM_MECHANISMS__CHUNKING__PARAMS": "no-json"},
    {"WEIGHBEAM_MECHANISMS__CHUNKING__PARAMS__TIMEOUT": "9.0"},
    {"weighbeam_mechanisms__chunking__params__timeout": "9.0"},
    {"WEIGHBEAM_MECHANISMS__CHUNKING": '{"params": {"timeout": 9.0}}'},
    {"WEIGHBEAM_MECHANISMS": '{"chunking": {"params": {"timeout": 9.0}}}'},
    {"WEIGHBEAM_MECHANISMS__CHUNKING__OVERRIDE_PARAMS": "false"},
]


@pytest.mark.parametrize("environment", PARAMS_VARIABLES, ids=str)
def test_no_variable_sets_parameters_of_a_mechanism(file: Path, environment: dict[str, str]) -> None:
    section = load_settings(file, environment).settings.mechanisms["chunking"]
    assert (section.params, section.override_params) == ({"timeout": 6.0}, True)
    (name,) = environment
    assert explain_ignored(environment) == {
        name: "set but ignored: mechanism parameters are not configurable by environment"
    }


def test_variables_of_other_fields_and_of_the_four_settings_are_not_ignored(file: Path) -> None:
    environment = {"WEIGHBEAM_MECHANISMS__CHUNKING": '{"mechid": 2}', "WEIGHBEAM_EMA_ALPHA": "0.5"}
    loaded = load_settings(file, environment)
    assert (loaded.settings.mechanisms["chunking"].mechid, loaded.averaging().ema_alpha) == (2, 0.5)
    assert explain_ignored(environment) == {}


def test_a_file_overrides_parameters_only_where_it_says_so(file: Path) -> None:
    file.write_text(FILE.replace("override_params = true\n", "") + "[mechanisms.inference.params]\nmax_miners = 50\n")
    with pytest.raises(WeighbeamError, match=r"bad_config") as caught:
        load_settings(file, {"WEIGHBEAM_MECHANISMS__CHUNKING__OVERRIDE_PARAMS": "true"})
    for named in ("mechanisms.chunking.params.timeout", "mechanisms.inference.params.max_miners"):
        assert named in caught.value.message
    assert "override_params = true in [mechanisms.chunking] and [mechanisms.inference]" in caught.value.remedy


def test_config_show_says_that_parameters_are_overridden(file: Path) -> None:
    variable = {"WEIGHBEAM_MECHANISMS__CHUNKING__PARAMS": '{"timeout": 9.0}'}
    done = weighbeam_warm("config", "show", "--config", file, **variable)
    assert "chunking: parameters overridden: timeout" in done.stdout
    assert "warning: WEIGHBEAM_MECHANISMS__CHUNKING__PARAMS is set but ignored" in done.stderr
    shown = json.loads(weighbeam_warm("config", "show", "--config", file, "--json").stdout)
    assert shown["overridden"] == {"chunking": ["timeout"]}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match="no_such_file"):
        load_settings(tmp_path / "missing.toml", {})


def test_secrets_are_never_shown(file: Path) -> None:
    loaded = load_settings(file, {"WEIGHBEAM_WALLET__URI": "//VerySecret"})
    assert "VerySecret" not in repr(loaded.settings) + repr(list_settings(loaded))
    assert open_hotkey(loaded).address == Hotkey.from_uri("//VerySecret").address
    with pytest.raises(WeighbeamError) as caught:
        load_settings(file, {"WEIGHBEAM_WALLET__URL": "//VerySecret"})
    assert "VerySecret" not in str(caught.value)


def test_a_wallet_file_plain_and_encrypted(file: Path) -> None:
    import bittensor_core

    pair = bittensor_core.Keypair.create_from_uri("//Bob")
    plain = bittensor_core.serialized_keypair_to_keyfile_data(pair)
    folder = file.parent
    (folder / "plain").write_bytes(plain)
    (folder / "sealed").write_bytes(bittensor_core.encrypt_keyfile_data(plain, "pass word"))
    (folder / "password").write_text("pass word\n")
    (folder / "wrong").write_text("nothing\n")

    def opened(**wallet: str) -> str:
        environment = {f"WEIGHBEAM_WALLET__{name.upper()}": value for name, value in wallet.items()}
        return open_hotkey(load_settings(file, environment)).address

    assert opened(file="plain") == pair.ss58_address
    assert opened(file="sealed", password_file="password") == pair.ss58_address
    for given, code in (
        ({"file": "sealed"}, "wallet_locked"),
        ({"file": "sealed", "password_file": "wrong"}, "wallet_locked"),
        ({"file": "missing"}, "wallet_missing"),
        ({"file": "password"}, "wallet_missing"),
        ({}, "wallet_missing"),
        ({"file": "plain", "hotkey": "5Another"}, "wallet_mismatch"),
    ):
        with pytest.raises(WeighbeamError, match=code) as caught:
            opened(**given)
        assert "pass word" not in str(caught.value)


def load_alias(folder: Path, hotkey: str, name: str):
    path = folder / "named.toml"
    path.write_text(f"[aliases]\n{json.dumps(hotkey)} = {json.dumps(name)}\n")
    return load_settings(path, {})


def test_an_alias_names_a_miner(tmp_path: Path) -> None:
    hotkey = Hotkey.from_uri("//Alice").address
    loaded = load_alias(tmp_path, hotkey, "Ada's <miner>")
    assert loaded.settings.aliases == {hotkey: "Ada's <miner>"}
    assert (f"aliases.{hotkey}", "Ada's <miner>") in [(line.name, line.value) for line in list_settings(loaded)]


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "\u202eeulb", "x" * 41, "zero\u200bwidth", "\u001b[31mred"])
def test_an_alias_that_hides_or_turns_text_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_config.*aliases.*visible characters"):
        load_alias(tmp_path, Hotkey.from_uri("//Alice").address, name)


def test_an_alias_is_a_hotkeys(tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_config.*is not a hotkey"):
        load_alias(tmp_path, "7", "seven")
