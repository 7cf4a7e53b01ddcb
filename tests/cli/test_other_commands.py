"""`vectors run`, `doctor`, `--help`, `--version`: what they print and how they exit."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from command import weighbeam as run
from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam import __version__
from weighbeam.cli.journal.reports import print_table

VECTORS = ROOT / "vectors"


@pytest.fixture(autouse=True)
def _cache(cache: Path) -> None:
    """Commands share the cache of the test run."""


@pytest.mark.parametrize(("part", "cases"), [("chunking", 192), ("chain", 182), ("weigh_in", 60), ("network", 162)])
def test_every_vector_passes(part: str, cases: int) -> None:
    files = sorted(VECTORS.glob(f"{part}.*.json"))
    done = weighbeam_warm("vectors", "run", *files, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert len(lines) == sum(len(json.loads(path.read_text())["cases"]) for path in files) == cases
    assert all(set(line) == {"file", "stage", "name", "ok", "actual"} and line["ok"] is True for line in lines)


def test_a_changed_expectation_fails_and_is_named(tmp_path: Path) -> None:
    data = json.loads((VECTORS / "chunking.weigh.json").read_text())
    data["cases"][1]["expect"]["raw"][2] += 1e-6
    del data["cases"][0]["expect"]
    (tmp_path / "changed.json").write_text(json.dumps(data))
    done = weighbeam_warm("vectors", "run", tmp_path)
    assert done.returncode == 1
    assert "raw[2]" in done.stdout
    assert "10 passed, 1 failed, 1 expect nothing" in done.stdout
    lines = [json.loads(line) for line in weighbeam_warm("vectors", "run", tmp_path, "--json").stdout.splitlines()]
    assert [line["ok"] for line in lines[:3]] == [None, False, True]


def test_a_stage_nobody_knows_is_a_failure_not_a_skip(tmp_path: Path) -> None:
    vector = {"format": 1, "stage": "chunking.dance", "cases": [{"name": "a", "input": {}, "expect": {}}]}
    (tmp_path / "v.json").write_text(json.dumps(vector))
    done = weighbeam_warm("vectors", "run", tmp_path, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["ok"] is False


@pytest.mark.parametrize(
    ("stage", "given", "error"),
    [
        ("chunking.reward", {"vectors": 7}, "bad_chunk_size"),
        ("chunking.check", {"document": "a", "chunks": ["a"], "chunk_size": 1, "params": {"base": 9}}, "bad_params"),
        ("chunking.check", {"document": "a", "chunks": ["a"], "chunk_size": 1, "params": 7}, "bad_params"),
        ("chunking.stand", {"standings": [{"score": 1}], "rounds": []}, "bad_input"),
        ("chunking.groups", {"ranking": 7}, "bad_input"),
        ("chunking.weigh", {"scores": [{"hotkey": "a", "score": "x"}]}, "bad_score"),
        ("chunking.rank", {"answers": [{"status": "valid"}, {"status": "nonsense"}]}, "bad_status"),
        ("chunking.rank", {"answers": [], "params": []}, "bad_params"),
        (
            "chunking.stand",
            {
                "standings": [{"hotkey": "a", "score": "x"}],
                "rounds": [{"results": [{"hotkey": "b", "status": "failed", "place": 0}] * 2}],
            },
            "duplicate_hotkey",
        ),
        (
            "chunking.stand",
            {
                "standings": [{"hotkey": "a", "score": 1e308}],
                "rounds": [{"base": 1e308, "results": [{"hotkey": "a", "status": "valid", "place": 1e308}]}],
            },
            "bad_input",
        ),
    ],
)
def test_input_no_stage_can_use_is_refused_by_code(stage: str, given: object, error: str, tmp_path: Path) -> None:
    vector = {"format": 1, "stage": stage, "cases": [{"name": "a", "input": given, "expect": {"error": error}}]}
    (tmp_path / "v.json").write_text(json.dumps(vector))
    assert weighbeam_warm("vectors", "run", tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('{"format": 1, "stage": "chunking.reward", "cases": [{"input": {"vectors": [[NaN]]}}]}', "not_json"),
        ('{"format": 2, "stage": "chunking.reward", "cases": []}', "bad_vectors_file"),
        ("[]", "bad_vectors_file"),
        ('{"format": 1, "stage": "chunking.rank", "tolerance": "abc", "cases": []}', "bad_vectors_file"),
        ('{"format": 1, "stage": "chunking.rank", "cases": []}', "no_vectors"),
        ("", "not_json"),
    ],
)
def test_files_that_are_no_vectors_end_in_one_clear_message(content: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(content)
    done = weighbeam_warm("vectors", "run", tmp_path)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_vectors_is_an_error(tmp_path: Path) -> None:
    assert weighbeam_warm("vectors", "run", tmp_path).returncode == 2
    assert weighbeam_warm("vectors", "run", tmp_path / "nothing").returncode == 2
    assert weighbeam_warm("vectors", "run", "a" * 300).returncode == 2
    assert weighbeam_warm("vectors", "run", VECTORS, "--stage", "chunkin.typo").returncode == 2


def test_doctor_finds_everything_here() -> None:
    done = run("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["healthy"] is True
    states = {check["name"]: check["state"] for check in report["checks"]}
    assert states["embedder"] == states["weights"] == states["mechanism chunking"] == "ok"
    assert all(check["remedy"] for check in report["checks"] if check["state"] != "ok")
    assert "everything needed is there" in weighbeam_warm("doctor").stdout


def test_doctor_tells_what_is_broken_and_the_remedy(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = weighbeam_warm("doctor", "--json", WEIGHBEAM_CACHE=str(blocked / "cache"))
    assert done.returncode == 1
    (check,) = [check for check in json.loads(done.stdout)["checks"] if check["state"] == "fault"]
    assert check["name"] == "model cache"
    assert "WEIGHBEAM_CACHE" in check["remedy"]


def test_doctor_looks_at_the_store_and_the_address(tmp_path: Path) -> None:
    """One that cannot be reached, one that will be made, and an address that somebody has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        states = []
        for url in ("postgresql://127.0.0.1:1/none", f"sqlite:///{tmp_path}/far/away.db", f"sqlite:///{tmp_path}/a.db"):
            settings = tmp_path / "weighbeam.toml"
            settings.write_text(f'[store]\nurl = "{url}"\n[validator]\nlisten = "{address}"\n')
            done = weighbeam_warm("doctor", "--config", settings, "--json")
            found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
            states.append(found["store"]["state"])
    assert states == ["fault", "missing", "ok"]
    assert found["address"]["state"] == "missing"
    assert "validator.listen" in found["address"]["remedy"]
    assert [path.name for path in tmp_path.iterdir()] == ["weighbeam.toml"]


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == __version__
    assert "score" in run("--help").stdout
    assert run("nonsense").returncode == 2


HEAVY = "numpy pydantic sqlalchemy onnxruntime rich tokenizers onnx altair vl_convert obstore asyncio ssl"
MODELS = "onnxruntime tokenizers onnx"
WEB = "fastapi starlette uvicorn"
GOLDEN = ROOT / "golden/0.2.0/journal.sqlite"
MUST_NOT_LOAD = {
    "--help": HEAVY,
    "score --help": "numpy sqlalchemy onnxruntime rich tokenizers asyncio ssl",
    f"score chunking {ROOT}/examples/chunking.json": f"{MODELS} {WEB} sqlalchemy altair asyncio scipy",
    f"score inference {ROOT}/examples/inference.json": f"{MODELS} {WEB} sqlalchemy altair scipy",
    f"score evidence {ROOT}/examples/evidence.json": f"{MODELS} {WEB} sqlalchemy altair scipy",
    f"score novelty {ROOT}/examples/novelty.json": f"onnxruntime onnx {WEB} sqlalchemy altair scipy",
    f"journal rounds --store {GOLDEN}": f"{MODELS} {WEB} altair scipy weighbeam.mechanisms.chunking.mechanism "
    "weighbeam.mechanisms.evidence.mechanism weighbeam.mechanisms.inference.mechanism "
    "weighbeam.mechanisms.novelty.mechanism",
    f"journal leaderboard --store {GOLDEN} --mechanism chunking": f"{MODELS} {WEB} altair scipy "
    "weighbeam.mechanisms.evidence.mechanism weighbeam.mechanisms.inference.mechanism",
    "novelty submit --store desk.db --contributor ada --per-day 500 The-tide-turns": f"{WEB} altair scipy",
    "doctor": f"sqlalchemy alembic scipy sklearn nltk altair {WEB.removesuffix(' uvicorn')}",
}
"""Command → what it must not load: the cause of a slow start, tested instead of its time."""


@pytest.mark.parametrize("command", MUST_NOT_LOAD)
def test_a_command_loads_no_more_than_it_needs(command: str, tmp_path: Path, cache: Path) -> None:
    """A score is of texts that are remembered: it runs twice. Novelty cuts them into pieces first, without a model."""
    code = (
        "import sys\n"
        "from weighbeam.cli.main import app\n"
        "try: app(sys.argv[1].split())\n"
        "except SystemExit as end: assert end.code in (0, None) or sys.argv[1] == 'doctor', end\n"
        "print([m for m in sys.argv[2].split() if m in sys.modules])"
    )
    environment = {**os.environ, "WEIGHBEAM_CACHE": str(cache)}
    for _ in range(1 + command.endswith(".json")):
        done = subprocess.run(
            [sys.executable, "-c", code, command, MUST_NOT_LOAD[command]],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_table_cuts_no_name(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is read by a program has its row on one line; on a narrow terminal a name goes on in the next."""
    hotkey = "5FhnomziA8LvBjVgFmNbwRacmvvnbJUhZ9g8X3qeQAw8D5HY"
    row = [10, hotkey, "600,000,000,000", "20.0%", "6 of 6", "duplicate_statements, unrelated_page"]
    monkeypatch.setenv("COLUMNS", columns)
    print_table(("#", "hotkey", "standing", "share", "valid", "last reason"), [row])
    assert any(hotkey in line for line in capsys.readouterr().out.splitlines())
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_table(("#", "hotkey"), [[1, hotkey]])
    assert "…" not in capsys.readouterr().out
