"""What is in deploy/ fits what there is: settings that load, metrics that exist, units and files that parse."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from weighbeam.app.settings.sources import Settings, make_settings_type
from weighbeam.chain.bittensor.sdk import load_sdk
from weighbeam.core.errors import WeighbeamError

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


def list_metrics() -> set[str]:
    """Every metric in the docs, which test_docs compares with the code; a histogram has three."""
    pages = (ROOT / "docs" / name for name in ("reference/metrics.md", "guides/novelty-api.md"))
    named = {name for page in pages for name in re.findall(r"weighbeam_\w+", page.read_text("utf-8"))}
    timed = {name for name in named if name.endswith("_seconds")}
    return named | {f"{name}_{part}" for name in timed for part in ("bucket", "count", "sum")}


def test_the_example_of_settings_is_one() -> None:
    settings = make_settings_type(Settings)(**tomllib.loads((DEPLOY / "validator.toml.example").read_text("utf-8")))
    assert settings.chain.cache.is_absolute(), "the folder of the settings may be read-only"
    assert (settings.chain.kind, settings.wallet.name) == ("bittensor", None)


@pytest.mark.parametrize("file", ["alerts.yml", "grafana/weighbeam.json"])
def test_rules_and_board_name_metrics_that_exist(file: str) -> None:
    named = set(re.findall(r"weighbeam_\w+", (DEPLOY / file).read_text("utf-8")))
    assert named
    assert named - list_metrics() == set()


@pytest.mark.parametrize("file", ["alerts.yml", "grafana/weighbeam.json"])
def test_the_first_alert_of_a_kind_is_seen(file: str) -> None:
    """Its series begins with it, and `increase` sees none in the first sample of a series."""
    written = (DEPLOY / file).read_text("utf-8").replace('\\"', '"')
    found = [line for line in written.splitlines() if "increase(weighbeam_alerts_total" in line]
    assert found
    for line in found:
        chosen, span = re.findall(r"increase\((weighbeam_alerts_total[^\[]*)\[(\w+)\]\)", line)[0]
        assert f"({chosen} unless {chosen} offset {span}) or increase(" in line


def test_every_rule_is_documented_and_says_what_to_do() -> None:
    rules = (DEPLOY / "alerts.yml").read_text("utf-8")
    named, page = re.findall(r"- alert: (\w+)", rules), (ROOT / "docs/guides/operate.md").read_text("utf-8")
    assert len(named) == len(set(named)) == rules.count("remedy:") == rules.count("summary:") == rules.count("expr:")
    assert [name for name in named if f"| `{name}` |" not in page] == []
    assert [name for name in re.findall(r"\| `(Weighbeam\w+)` \|", page) if name not in named] == []


def test_the_board_is_what_its_script_writes(tmp_path: Path) -> None:
    script = (DEPLOY / "make_board.py").read_text("utf-8")
    scope: dict = {"__name__": "board", "__file__": str(DEPLOY / "make_board.py")}
    exec(compile(script, "make_board.py", "exec"), scope)
    assert json.loads((DEPLOY / "grafana" / "weighbeam.json").read_text("utf-8")) == scope["make_board"]()


def test_every_file_that_compose_mounts_is_there() -> None:
    text = (DEPLOY / "compose.yaml").read_text("utf-8")
    mounted = set(re.findall(r"- \./([\w./-]+):", text)) - {"validator.toml"}
    assert mounted
    assert [name for name in mounted if not (DEPLOY / name).exists()] == []
    assert all(
        f"deploy/{name}" in text or (DEPLOY / name).exists() for name in ("Dockerfile", "validator.toml.example")
    )


def test_the_validator_of_compose_may_start() -> None:
    """Others reach it there, so the operator has to have said who may read."""
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    assert 'WEIGHBEAM_VALIDATOR__LISTEN: "0.0.0.0:9090"' in compose
    assert 'WEIGHBEAM_SERVICE__PUBLIC: "true"' in compose
    assert '"127.0.0.1:9091:9090"' in compose
    assert compose.count("ports:") == compose.count('ports: ["127.0.0.1:')


def test_no_coldkey_comes_near_a_validator() -> None:
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    assert "wallets" not in compose
    assert "WEIGHBEAM_WALLET__FILE: /run/hotkey" in compose


def test_the_unit_is_one() -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("no systemd here")
    unit = DEPLOY / "weighbeam-validator.service"
    done = subprocess.run([tool, "verify", unit], capture_output=True, text=True, timeout=60)
    complaints = [line for line in done.stderr.splitlines() if unit.name in line and "is not executable" not in line]
    assert complaints == []


def list_unit_lines() -> dict[str, list[str]]:
    """The settings of the unit, each with its values in order; comments are left out."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / "weighbeam-validator.service").read_text("utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def test_the_unit_is_confined_and_bounded() -> None:
    lines = list_unit_lines()
    assert lines["SystemCallFilter"][0] == "@system-service"
    assert set(lines["RestrictAddressFamilies"][0].split()) == {"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"}
    assert lines["PrivateDevices"] == ["true"]
    assert int(lines["LimitNOFILE"][0]) >= 65_536
    assert lines["MemoryMax"][0] not in ("", "infinity")


def test_the_unit_lets_a_browser_be_confined() -> None:
    """`unshare --mount-proc` mounts and Chromium's sandbox filters calls; a covered /proc lets nobody mount another."""
    lines = list_unit_lines()
    assert {"@mount", "seccomp"} <= set(" ".join(lines["SystemCallFilter"]).split())
    text = (DEPLOY / "weighbeam-validator.service").read_text("utf-8")
    for name in ("RestrictNamespaces", "ProtectProc", "ProtectKernelTunables", "MemoryDenyWriteExecute"):
        assert name not in lines
        assert f"{name}=" in text, "why it is absent is said"


def test_the_dockerfile_has_no_lint() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, "--no-color", DEPLOY / "Dockerfile"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_has_every_extra_that_its_settings_may_ask_for() -> None:
    """The extras of the image are some of this package, and among them is what runs a validator on the chain."""
    named = re.search(r"'\.\[([a-z0-9,]+)\]'", (DEPLOY / "Dockerfile").read_text("utf-8"))
    assert named is not None
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"validator", "bittensor"} <= set(named[1].split(",")) <= set(known)


def test_every_container_has_a_memory_limit_and_every_image_a_version() -> None:
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    services = re.findall(r"(?m)^  (\w+):\n((?:^ {4}.*\n|\n)+)", compose.partition("\nvolumes:")[0])
    assert [name for name, _ in services] == ["validator", "prometheus", "grafana"]
    for name, lines in services:
        assert re.search(r"^    mem_limit: \S+$", lines, re.M), name
        image = re.search(r"^    image: (\S+)$", lines, re.M)
        assert image is None or re.search(r":v?\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?$", image[1]), name


def test_the_pm2_file_is_one() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    shown = "console.log(JSON.stringify(require(process.argv[1])))"
    done = subprocess.run(
        [node, "-e", shown, DEPLOY / "ecosystem.config.cjs"], capture_output=True, text=True, timeout=60
    )
    assert json.loads(done.stdout)["apps"][0]["args"].startswith("run validator --config")


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(WeighbeamError, match="bad_config"):
        load_sdk(blocked / "cache")
