"""A validator and miners as an operator runs them: real processes, settings in files, signals, kills, restarts."""

import asyncio
import atexit
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from command import weighbeam as run
from network.loopback import free_port
from postgres import Server
from warm import weighbeam_warm
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet_files import save_subnet
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.network.keys import Hotkey

pytestmark = pytest.mark.paired
MINERS = ("paragraphs", "semchunk", "dropper")
SECONDS = 180.0


class Running:
    """A command that keeps running, and its log."""

    def __init__(self, log: Path, *arguments: str, **environment: str) -> None:
        self.log = log
        self._file = log.open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "weighbeam", *arguments],
            stdout=self._file,
            stderr=self._file,
            env={**os.environ, **environment},
        )
        atexit.register(self.process.kill)

    def wait_for(self, pattern: str, times: int = 1) -> None:
        deadline = time.monotonic() + SECONDS
        while len(re.findall(pattern, self.log.read_text())) < times:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        self._file.close()
        return self.process.wait(30)


@pytest.fixture(scope="module")
def subnet(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("written") / "subnet"
    assert run("demo", "--write", str(folder)).returncode == 0
    miners = [
        Running(folder / f"{name}.log", "run", "miner", "--config", str(folder / f"{name}.toml"),
                WEIGHBEAM_MINER__LISTEN="127.0.0.1:0")
        for name in MINERS
    ]  # fmt: skip
    for miner in miners:
        miner.wait_for("announced as")
    yield folder
    assert [miner.end(signal.SIGTERM) for miner in miners] == [0] * len(miners)


def test_validators_of_a_written_subnet_have_their_permits_at_once(tmp_path: Path) -> None:
    """Without one they would play no round."""
    save_subnet(tmp_path / "fresh")
    file = ChainFile(tmp_path / "fresh/chain.sqlite")
    graph = asyncio.run(LocalChain(file, VALIDATORS[0].hotkey).metagraph())
    assert all(graph.find(part.hotkey.address).permit for part in VALIDATORS)
    file.close()


def read_url(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def test_a_validator_runs_is_killed_starts_again_and_everything_adds_up(subnet: Path) -> None:
    config = str(subnet / "validator-1.toml")
    port = free_port()
    listen = {"WEIGHBEAM_VALIDATOR__LISTEN": f"127.0.0.1:{port}", "WEIGHBEAM_MAX_MINERS": "3"}
    first = Running(subnet / "first.log", "run", "validator", "--config", config, **listen)
    for mechanism in ("chunking", "inference", "evidence"):
        first.wait_for(f"{mechanism}: weights confirmed, mode NORMAL")
    assert "env_ignored: WEIGHBEAM_MAX_MINERS is set but ignored: network constants" in first.log.read_text()

    status, said = read_url(f"http://127.0.0.1:{port}/health")
    assert status == 200
    pulses = json.loads(said)["mechanisms"]
    assert pulses.pop("novelty")["last_weigh_in"] == "skipped: all_zero", "nobody has contributed anything"
    for pulse in pulses.values():
        assert (pulse["last_weigh_in"], pulse["mode"]) == ("confirmed", "NORMAL")
    node = Hotkey.from_uri("//weighbeam//demo//validator-1").address
    desk = ("--to", f"http://127.0.0.1:{port}", "--node", node, "--config", subnet / "paragraphs.toml", "--json")
    receipt = json.loads(run("novelty", "contribute", "Swifts sleep on the wing for years.", *desk).stdout)
    assert (receipt["status"], receipt["units"]) == ("paid", 100 * 10**9)
    refused = run("novelty", "contribute", "too short", *desk)
    assert (refused.returncode, json.loads(refused.stdout)["error"]) == (2, "too_short")
    assert 'weighbeam_rounds_total{mechanism="chunking"}' in read_url(f"http://127.0.0.1:{port}/metrics")[1]

    other = {"WEIGHBEAM_VALIDATOR__LISTEN": f"127.0.0.1:{free_port()}"}
    twin = run("run", "validator", "--config", config, **other)
    assert twin.returncode == 2
    assert "hotkey_locked" in twin.stderr

    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    second = Running(subnet / "second.log", "run", "validator", "--config", config, **listen)
    second.wait_for("round chunking-.* answers valid")
    asked = run("ask", "examples/document.txt", "--config", config, "--json")
    assert asked.returncode == 0, asked.stdout + asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["state"] == "done"
    assert answer["result"]["score"]["status"] == "valid"
    assert second.end(signal.SIGTERM) == 0

    replayed = run("replay", "--verify", "--config", config)
    assert replayed.returncode == 0, replayed.stdout
    assert " 0 differ" in replayed.stdout
    weights = json.loads(run("journal", "weights", "--config", config, "--json").stdout)
    # The subnet's clock runs fast: on a slow machine a second weigh-in comes due, and its epoch may end unsent.
    ended = [(row["state"], row["reason"]) for row in weights["submissions"]]
    assert ("confirmed", None) in ended
    assert set(ended) <= {("confirmed", None), ("failed", "epoch_over"), ("failed", "abandoned")}
    dry = json.loads(run("journal", "weights", "--dry-run", "--config", config, "--json").stdout)
    assert dry["action"] == "submit"
    assert all(check["holds"] for check in dry["checks"])
    assert len(dry["uids"]) == 2
    leaders = json.loads(run("journal", "leaderboard", "--config", config, "--json").stdout)["standings"]
    assert leaders[-1]["last_reason"] == "new_words"


@pytest.mark.slow
def test_one_that_stands_by_takes_over_from_one_that_is_killed(subnet: Path) -> None:
    sections = re.split(r"(?m)^(?=\[)", (subnet / "validator-2.toml").read_text())
    chunking = [one for one in sections if not re.match(r"\[mechanisms\.(?!chunking)", one)]
    (subnet / "standby.toml").write_text("".join(chunking))
    config = str(subnet / "standby.toml")
    given = {"WEIGHBEAM_VALIDATOR__LISTEN": "", "WEIGHBEAM_VALIDATOR__STANDBY_BLOCKS": "8"}
    first = Running(subnet / "standby-first.log", "run", "validator", "--config", config, **given)
    first.wait_for("chunking: weights confirmed")
    second = Running(subnet / "standby-second.log", "run", "validator", "--standby", "--config", config, **given)
    second.wait_for(rf"standby: process {first.process.pid} on .* runs the validator")
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    assert "round chunking" not in second.log.read_text(), "it only waited"
    second.wait_for("8 silent blocks to go")
    second.wait_for("takes over the hotkey")
    second.wait_for("round chunking-.* answers valid")
    second.wait_for("chunking: weights confirmed")
    assert second.end(signal.SIGTERM) == 0
    replayed = run("replay", "--verify", "--config", config)
    assert " 0 differ" in replayed.stdout, replayed.stdout


def test_a_chain_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = tmp_path / "weighbeam.toml"
    config.write_text('[wallet]\nuri = "//Alice"\n[chain]\npath = "nothing.sqlite"\n')
    done = run("run", "validator", "--config", str(config))
    assert done.returncode == 2
    assert "no_chain_file" in done.stderr
    assert "remedy" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"WEIGHBEAM_VALIDATOR__EMBEDDER": "gpt"}, "unknown_embedder"),
        ({"WEIGHBEAM_STORE__URL": "sqlite:///chain.sqlite"}, "store_unusable"),
        ({"WEIGHBEAM_STORE__URL": "postgresql+nodriver://u:hidden@h/x"}, "bad_store_url"),
        ({"WEIGHBEAM_WALLET__URI": "//Nobody"}, "not_registered"),
        ({"WEIGHBEAM_MECHANISMS__CHUNKING__MECHID": "7"}, "bad_config"),
        ({"WEIGHBEAM_VALIDATOR__LISTEN": "nowhere"}, "bad_config"),
        ({"WEIGHBEAM_VALIDATOR__LISTEN": "0.0.0.0:0"}, "bad_config"),
        ({"WEIGHBEAM_VALIDATOR__PROBES": '["nope:99999"]'}, "bad_probe"),
        ({"WEIGHBEAM_MECHANISMS__CHUNKING__TASKS": "folder:empty"}, "no_tasks"),
        ({"WEIGHBEAM_MECHANISMS__CHUNKING__TASKS": "files"}, "bad_config"),
        ({"WEIGHBEAM_EMA_ALPHA": "5"}, "bad_setting"),
    ],
)
def test_what_is_known_to_be_wrong_stops_the_start(subnet: Path, environment: dict[str, str], code: str) -> None:
    done = weighbeam_warm("run", "validator", "--config", str(subnet / "validator-2.toml"), **environment)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert "remedy:" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stderr


def test_settings_of_the_other_role_are_refused(subnet: Path) -> None:
    """A miner started with a validator's file would announce the validator's hotkey as a miner."""
    for command, file in (("miner", "validator-1"), ("validator", "climb"), ("observer", "climb")):
        done = weighbeam_warm("run", command, "--config", str(subnet / f"{file}.toml"))
        assert done.returncode == 2
        assert "[bad_config]" in done.stderr
        assert "these are the settings of a" in done.stderr


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"WEIGHBEAM_MINER__LISTEN": "0.0.0.0:0"}, "bad_config"),
        ({"WEIGHBEAM_MINER__ANSWERS": '{"chunking": "os.path:join"}'}, "bad_function"),
        ({"WEIGHBEAM_MINER__ANSWERS": '{"chunking": "nobody"}'}, "unknown_chunker"),
        ({"WEIGHBEAM_MINER__ANSWERS": '{"inference": "openai:model"}'}, "bad_config"),
        ({"WEIGHBEAM_WALLET__URI": "//Nobody", "WEIGHBEAM_MINER__LISTEN": "127.0.0.1:0"}, "not_registered"),
    ],
)
def test_nor_does_such_a_miner_start(subnet: Path, environment: dict[str, str], code: str) -> None:
    done = weighbeam_warm("run", "miner", "--config", str(subnet / "climb.toml"), **environment)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_reading_what_is_no_journal_is_an_error_and_creates_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    for place, code in (("none.db", "no_such_file"), ("empty.db", "empty_journal")):
        for prefix in ("", "sqlite:///"):
            done = weighbeam_warm("replay", "--verify", "--store", f"{prefix}{tmp_path / place}")
            assert (done.returncode, f"[{code}]" in done.stderr) == (2, True)
    assert not (tmp_path / "none.db").exists()


def test_a_question_for_an_unknown_hotkey_is_refused_and_an_id_can_be_asked_for_later(subnet: Path) -> None:
    config = str(subnet / "validator-2.toml")
    asking = ("ask", "examples/document.txt", "--wait", "0", "--config", config)
    assert "[unknown_hotkey]" in run(*asking, "--wanted", "5xyz").stderr
    waiting = json.loads(run(*asking, "--json").stdout)
    again = json.loads(run("ask", "--id", waiting["id"], "--wait", "0", "--config", config, "--json").stdout)
    assert again["state"] == "waiting"
    assert "[unknown_request]" in run("ask", "--id", "organic-none", "--config", config).stderr


def test_observers_play_for_a_validator_that_only_scores_and_one_of_them_is_killed(
    subnet: Path, postgres: Server
) -> None:
    shared = {"WEIGHBEAM_STORE__URL": postgres.make_database(), "WEIGHBEAM_VALIDATOR__ROUNDS": "observers"}
    settings = subnet / "observed.toml"
    settings.write_text((subnet / "validator-2.toml").read_text().partition("[mechanisms.inference]")[0])
    config = ("--config", str(settings))
    listen = {"WEIGHBEAM_VALIDATOR__LISTEN": f"127.0.0.1:{free_port()}"}
    scorer = Running(subnet / "scorer.log", "run", "validator", *config, **shared, **listen)
    scorer.wait_for("runs chunking")
    doomed, other = (
        Running(subnet / f"observer-{number}.log", "run", "observer", *config, **shared) for number in range(2)
    )
    doomed.wait_for("observer .* of validator")
    ask = partial(weighbeam_warm, "ask", *config, "--json", **shared)
    asked = [json.loads(ask("examples/document.txt", "--wait", "0").stdout)["id"] for _ in range(6)]
    doomed.wait_for("round chunking-.* observed")
    assert doomed.end(signal.SIGKILL) == -signal.SIGKILL
    ended = [json.loads(ask("--id", one, "--wait", "60").stdout) for one in asked]
    assert {one["state"] for one in ended} == {"done"}
    assert len({one["result"]["round"] for one in ended}) == len(asked)
    scorer.wait_for("chunking: weights confirmed, mode NORMAL")
    scorer.wait_for("observers stopped responding")
    assert [other.end(signal.SIGTERM), scorer.end(signal.SIGTERM)] == [0, 0]
    place = ("--store", shared["WEIGHBEAM_STORE__URL"])
    rounds = list_rounds(view_journal(shared["WEIGHBEAM_STORE__URL"]), limit=200).items
    assert {row.state for row in rounds} == {"scored"}
    assert sum(row.kind == "organic" for row in rounds) == len(asked)
    assert any(row.kind == "synthetic" for row in rounds)
    replayed = run("replay", "--verify", *place)
    assert (replayed.returncode, " 0 differ" in replayed.stdout) == (0, True), replayed.stdout
