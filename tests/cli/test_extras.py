"""Commands and the public API without the packages of an extra: one error with the line to type, and no traceback."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests_root import ROOT
from weighbeam.core.extras import EXTRAS, explain_missing

JOURNAL = str(ROOT / "golden/0.1.0/journal.sqlite")
EXAMPLE = str(ROOT / "examples/chunking.json")
BARE = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Absent())
"""
COMMAND = BARE + "from weighbeam.cli.main import app\napp()\n"
DOOR = (
    BARE
    + """
import json, weighbeam
try:
    print(json.dumps(["nothing", repr(eval(sys.argv[1]))]))
except weighbeam.WeighbeamError as fault:
    print(json.dumps([fault.code, fault.remedy]))
"""
)
CASES = [
    ("validator", "run validator"),
    ("validator", "run miner"),
    ("validator", "run observer"),
    ("validator", "demo"),
    ("validator", "init validator"),
    ("validator", "config show"),
    ("validator", f"ask {EXAMPLE}"),
    ("validator", f"replay --store {JOURNAL}"),
    ("validator", f"journal rounds --store {JOURNAL}"),
    ("validator", f"journal export --store {JOURNAL} --parquet DIR/export"),
    ("validator", f"vectors run {ROOT}/vectors/network.sign.json"),
    ("validator", "novelty balances --store DIR/novelty.sqlite"),
    ("service", "serve"),
    ("service", "serve token list"),
    ("lab", f"lab backtest --store {JOURNAL}"),
    ("charts", f"score chunking {EXAMPLE} --html DIR/page.html"),
    ("charts", f"score inference {ROOT}/examples/inference.json --heatmap DIR/alike.png"),
    ("charts", "lab attack --report DIR/page.html"),
]


def run_without(absent: Iterable[str], code: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, ",".join(absent), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.parametrize(("extra", "words"), CASES, ids=[words[:30] for _, words in CASES])
def test_a_command_names_the_extra_that_it_needs(extra: str, words: str, tmp_path: Path) -> None:
    given = words.replace("DIR", str(tmp_path)).split()
    done = run_without((module for module, extras in EXTRAS.items() if extra in extras), COMMAND, *given)
    error, *rest = done.stderr.splitlines()
    assert (done.returncode, rest, done.stdout) == (2, [f"remedy: pip install 'weighbeam[{extra}]'"], ""), done.stderr
    assert error.startswith("error: ")
    assert error.endswith(f" is not installed: it is part of the extra {extra} [missing_extra]")
    assert list(tmp_path.iterdir()) == []


def test_the_error_is_json_where_json_is_asked_for() -> None:
    done = run_without(EXTRAS, COMMAND, "replay", "--store", JOURNAL, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, "")
    assert (told["error"], told["remedy"]) == ("missing_extra", "pip install 'weighbeam[validator]'")


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ("validator", "weighbeam.open_novelty"),
        ("validator", "weighbeam.replay('x.sqlite')"),
        ("lab", "weighbeam.backtest('x.sqlite', {})"),
        ("charts", f"(r := weighbeam.score('chunking', {EXAMPLE!r})).pictures(r.best)"),
    ],
)
def test_the_public_api_names_the_extra_that_it_needs(extra: str, code: str) -> None:
    done = run_without(EXTRAS, DOOR, code)
    assert json.loads(done.stdout or "null") == ["missing_extra", f"pip install 'weighbeam[{extra}]'"], done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "mechanism list",
        "mechanism show evidence",
        "lab list",
        f"vectors run {ROOT}/vectors/chunking.rank.json",
        *(f"score {name} {ROOT}/examples/{name}.json" for name in ("chunking", "evidence", "inference", "novelty")),
    ],
    ids=lambda words: words[:20],
)
def test_the_core_needs_no_extra(words: str) -> None:
    done = run_without(EXTRAS, COMMAND, *words.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_core_checks_a_mechanism() -> None:
    """All but its speed, which depends on what else this machine does."""
    done = run_without(EXTRAS, COMMAND, "mechanism", "check", "evidence", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert len(findings) > 10
    assert [one for one in findings if one["fault"] and one["check"] != "fast enough"] == []


def test_the_doctor_tells_what_is_absent_and_finds_the_core_healthy() -> None:
    done = run_without(EXTRAS, COMMAND, "doctor", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["healthy"]) == (0, True)
    settings = next(check for check in told["checks"] if check["name"] == "settings")
    assert (settings["state"], settings["remedy"]) == ("missing", "pip install 'weighbeam[validator]'")


def test_only_what_is_absent_and_optional_is_a_missing_extra() -> None:
    assert explain_missing(ModuleNotFoundError(name="weighbeam.nowhere")) is None
    assert explain_missing(ModuleNotFoundError(name="numpy")) is None
    assert explain_missing(ImportError("it is broken", name="sqlalchemy")) is None
