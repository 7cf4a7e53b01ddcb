"""`weighbeam lab backtest` and `weighbeam mechanism` as their users run them."""

import json
import sys
from pathlib import Path

import pytest

from command import weighbeam
from lab.golden_journal import JOURNAL
from tests_root import ROOT
from warm import weighbeam_warm

ALIKE = """
import weighbeam
from weighbeam.mechanism.records import Weights
from weighbeam.mechanisms.inference.mechanism import Inference

weighbeam.__version__ = "9.9.9"
Inference.weigh = lambda self, params, standings, eligible: Weights({s.hotkey: 1.0 for s in standings})
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The python of a version that pays everybody alike."""
    (tmp_path / "sitecustomize.py").write_text(ALIKE)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:{ROOT / "src"}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return python


def test_the_verdict_comes_first_and_the_journal_stays_as_it_is() -> None:
    before = JOURNAL.read_bytes()
    done = weighbeam("lab", "backtest", "--journal", JOURNAL, "--set", "inference.quality_threshold=0.95")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("inference: NOBODY WOULD BE PAID for an answer any more: ")
    assert "skip: all_zero" in done.stdout
    assert "EMERGENCY" in done.stdout
    assert len(lines) < 40, "one screen"
    assert done.stderr == "", "progress is for terminals"
    assert JOURNAL.read_bytes() == before
    assert [path.name for path in JOURNAL.parent.iterdir() if path.name.startswith("journal.")] == [JOURNAL.name]


def test_json_says_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "params.toml"
    file.write_text("[weigh_in]\nema_alpha = 0.8\n")
    done = weighbeam_warm("lab", "backtest", "--store", JOURNAL, "--params", file, "--json")
    found = json.loads(done.stdout)
    assert found["changes"] == ["weigh_in.ema_alpha 0.3 → 0.8"]
    assert found["journal_differs"] == []
    by_name = {one["mechanism"]: one for one in found["mechanisms"]}
    assert [name for name, one in by_name.items() if not one["equal"]] == ["inference"]
    one = by_name["inference"]
    assert {"before", "after", "gain", "uid", "place_before", "place_after"} <= set(one["miners"][0])
    assert set(one["concentration"]["after"]) == {"gini", "top1", "top3", "effective_number"}
    assert one["correlation"]["weights"]["kendall_tau_b"] > 0
    assert one["weigh_ins"]["moved_most"]["moved"] >= one["weigh_ins"]["moved"] > 0
    assert one["weigh_ins"]["after"]["turnover"] > one["weigh_ins"]["before"]["turnover"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--set", "chunking.num_embeddings=3"], "not_observed"),
        (["--set", "inference.max_miners=3"], "not_asked"),
        (["--set", "lof_limit"], "bad_setting"),
        (["--from", "nowhere"], "empty_window"),
        (["--until", "2027-1-15"], "empty_window"),
        (["--weigh-every", "inf"], "bad_usage"),
        (["--journal", JOURNAL.parent], "no_such_file"),
        (["--mechanism", "nobody"], "empty_journal"),
        (["--python", "/bin/false"], "version_failed"),
        (["--python", "/no/such/python"], "version_failed"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], code: str) -> None:
    done = weighbeam_warm("lab", "backtest", "--journal", JOURNAL, *words)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_version_beside_this_one(other: Path) -> None:
    done = weighbeam_warm("lab", "backtest", "--journal", JOURNAL, "--python", other)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("inference: ")
    assert "of the weights would go elsewhere" in done.stdout
    assert "by weighbeam 9.9.9" in done.stdout
    assert "chunking, evidence, novelty: nothing changes" in done.stdout


def test_diff_tells_versions_apart(other: Path, tmp_path: Path) -> None:
    golden = JOURNAL.parent / "outcomes.jsonl"
    same = weighbeam_warm("mechanism", "diff", golden, JOURNAL)
    assert (same.returncode, same.stdout) == (0, "48 entries, all equal to the bit\n")
    changed = weighbeam_warm("mechanism", "diff", golden, other, "--journal", JOURNAL, "--json")
    assert changed.returncode == 1
    found = json.loads(changed.stdout)
    assert found["differ"] == {"weights": 15}
    assert found["first"].startswith("weights of entry 2, inference")
    assert weighbeam_warm("mechanism", "diff", golden, other).returncode == 2
    spoilt = tmp_path / "spoilt.jsonl"
    spoilt.write_text(golden.read_text()[:20_000])
    refused = weighbeam_warm("mechanism", "diff", golden, spoilt)
    assert refused.returncode == 2
    assert "[bad_outcomes]" in refused.stderr


def test_outcomes_of_other_terms_can_be_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    words = ("lab", "backtest", "--journal", JOURNAL, "--set", "weigh_in.ema_alpha=0.5", "--outcomes")
    assert weighbeam_warm(*words, kept).returncode == 0
    assert weighbeam_warm(*words, "-").stdout == kept.read_text()
    assert weighbeam_warm("mechanism", "diff", kept, JOURNAL).returncode == 1
    refused = weighbeam_warm(
        "lab", "backtest", "--journal", JOURNAL, "--set", "chunking.strict=true", "--outcomes", kept
    )
    assert "[not_observed]" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kept.jsonl"], "what was there stays"
    nowhere = weighbeam_warm("lab", "backtest", "--journal", JOURNAL, "--outcomes", tmp_path / "no" / "such")
    assert "[cannot_write]" in nowhere.stderr


def test_mechanisms_are_listed_and_checked() -> None:
    listed = json.loads(weighbeam_warm("mechanism", "list", "--json").stdout)["mechanisms"]
    assert {one["name"]: one["backtest"] for one in listed} == {
        "chunking": True,
        "evidence": True,
        "inference": True,
        "keyword-recall": True,
        "novelty": True,
    }
    checked = weighbeam_warm("mechanism", "check", "keyword-recall")
    assert checked.returncode == 0
    assert "✓ weights are never negative and only for eligible miners" in checked.stdout
    assert "[unknown_mechanism]" in weighbeam_warm("mechanism", "check", "nobody").stderr
