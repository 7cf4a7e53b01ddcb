"""`weighbeam init`: what it writes loads, passes the checks and runs, by real processes."""

import json
import signal
import tomllib
from pathlib import Path

import httpx2
import pytest

from cli.run.test_validator import Running
from network.loopback import free_port
from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam.app.settings.sources import find_role, load_settings
from weighbeam.app.settings.starter import DEFAULT_FILES

pytestmark = pytest.mark.paired
ROLES = tuple(DEFAULT_FILES)


@pytest.fixture(autouse=True)
def _cache(cache: Path) -> None:
    """Commands share the cache of the test run."""


@pytest.mark.parametrize("role", ROLES)
def test_a_file_loads_passes_the_doctor_and_is_never_replaced_by_accident(role: str, tmp_path: Path) -> None:
    port = free_port()
    words = ("init", role, "--listen", f"127.0.0.1:{port}")
    written = json.loads(weighbeam_warm(*words, "--json", cwd=tmp_path).stdout)
    file = tmp_path / written["file"]
    loaded = load_settings(file, {})
    assert (file.name, find_role(loaded)) == (DEFAULT_FILES[role], role)
    text = file.read_text()
    assert f'listen = "127.0.0.1:{port}"' in text
    assert all(f"--config {DEFAULT_FILES[role]}" in written["next"][place] for place in (0, -1))

    report = json.loads(weighbeam_warm("doctor", "--json", "--config", file).stdout)
    assert [check for check in report["checks"] if check["state"] == "fault"] == []
    shown = json.loads(weighbeam_warm("config", "show", "--json", "--config", file).stdout)
    assert shown["overridden"] == {}

    refused = weighbeam_warm(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "[file_exists]" in refused.stderr
    assert "--force" in refused.stderr
    file.write_text("mine")
    assert weighbeam_warm(*words, "--force", cwd=tmp_path).returncode == 0
    assert file.read_text() == text


@pytest.mark.parametrize("role", ROLES)
def test_every_commented_setting_may_be_uncommented(role: str, tmp_path: Path) -> None:
    """A line that starts with a name and an equals sign is a setting, and the schema knows it by that name."""
    weighbeam_warm("init", role, "--json", cwd=tmp_path)
    lines = (tmp_path / DEFAULT_FILES[role]).read_text().splitlines()
    plain = [line.removeprefix("# ") for line in lines]
    settings = [line for line in plain if line.startswith("[") or line.partition(" = ")[0].isidentifier()]
    settings = [line for line in settings if line.startswith("[") or (" = " in line and not line.endswith(" = ..."))]
    known = tmp_path / "uncommented.toml"
    known.write_text("\n".join(settings))
    load_settings(known, {})
    assert len(settings) > 8


def test_a_validator_for_bittensor_names_subnet_wallet_and_mechanisms(tmp_path: Path) -> None:
    words = "init validator v.toml --netuid 64 --wallet beam --hotkey first --mechanism evidence --mechanism novelty"
    assert weighbeam_warm(*words.split(), cwd=tmp_path).returncode == 0
    said = tomllib.loads((tmp_path / "v.toml").read_text())
    assert said["wallet"] == {"name": "beam", "hotkey_name": "first"}
    assert (said["chain"]["kind"], said["chain"]["netuid"]) == ("bittensor", 64)
    assert {name: one["mechid"] for name, one in said["mechanisms"].items()} == {"evidence": 0, "novelty": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["v.toml"], "no chain is made here"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("validator", "--mechanism", "nothing"), "unknown_mechanism"),
        (("miner", "--listen", "nowhere"), "bad_config"),
        (("miner", "no/such/folder/a.toml"), "cannot_write"),
        (("validator", "--netuid", "7", "--wallet", 'a"\x7f\n[log]\nlevel="DEBUG'), "bad_config"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    words: tuple[str, ...], code: str, tmp_path: Path
) -> None:
    done = weighbeam_warm("init", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_name_cannot_write_settings_of_its_own(tmp_path: Path) -> None:
    hostile = 'a"\n[log]\nlevel = "DEBUG'
    assert (
        weighbeam_warm("init", "validator", "v.toml", "--netuid", "7", "--wallet", hostile, cwd=tmp_path).returncode
        == 0
    )
    said = tomllib.loads((tmp_path / "v.toml").read_text())
    assert said["wallet"]["name"] == hostile
    assert "log" not in said


def test_a_validator_and_miners_that_were_just_written_set_weights(tmp_path: Path) -> None:
    """Three commands write them; nothing is edited by hand."""
    ports = [free_port() for _ in range(3)]
    for port, words in zip(ports, (("validator",), ("miner",), ("miner", "second.toml")), strict=True):
        assert weighbeam_warm("init", *words, "--listen", f"127.0.0.1:{port}", cwd=tmp_path).returncode == 0
    config = str(tmp_path / "validator.toml")
    miners = [
        Running(tmp_path / f"{name}.log", "run", "miner", "--config", str(tmp_path / f"{name}.toml"))
        for name in ("miner", "second")
    ]
    for miner in miners:
        miner.wait_for("announced as")
    early = weighbeam_warm("ask", ROOT / "examples/document.txt", "--config", config)
    assert (early.returncode, "[no_validator]" in early.stderr) == (2, True)
    validator = Running(tmp_path / "validator.log", "run", "validator", "--config", config)
    validator.wait_for(f"dashboard: http://127.0.0.1:{ports[0]}")
    validator.wait_for("chunking: weights confirmed, mode NORMAL")
    assert httpx2.get(f"http://127.0.0.1:{ports[0]}/health").status_code == 200
    asked = json.loads(weighbeam_warm("ask", ROOT / "examples/document.txt", "--config", config, "--json").stdout)
    assert asked["state"] == "done"
    assert [one.end(signal.SIGTERM) for one in (validator, *miners)] == [0, 0, 0]
    again = weighbeam_warm("ask", "--id", asked["id"], "--config", config, "--json")
    assert json.loads(again.stdout) == asked, "an answer that is there needs no validator"


def test_an_app_that_was_just_written_pays_over_http(tmp_path: Path) -> None:
    assert weighbeam_warm("init", "app", "--listen", "127.0.0.1:0", cwd=tmp_path).returncode == 0
    config = str(tmp_path / "weighbeam.toml")
    token = weighbeam_warm("serve", "token", "new", "--name", "app", "--scope", "submit", "--config", config).stdout
    server = Running(tmp_path / "serve.log", "serve", "--config", config)
    server.wait_for(r"served on http://127\.0\.0\.1:\d+")
    url = server.log.read_text().partition("served on ")[2].split()[0]
    body = {"contributor": "ada", "text": "Swifts sleep on the wing, high above the towns they nest in."}
    headers = {"Authorization": f"Bearer {token.strip()}"}
    reply = httpx2.post(f"{url}/v1/novelty/contributions", json=body, headers=headers, timeout=60)
    assert (reply.status_code, reply.json()["status"]) == (201, "paid")
    assert server.end(signal.SIGTERM) == 0
