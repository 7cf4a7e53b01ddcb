"""Red where it got worse by more than chance explains, a note where it got better."""

import dataclasses
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.comparison import compare
from weighbeam.lab.attack.expectations import FULL, SHORT, load_expectations, save_expectations
from weighbeam.lab.simulate.measure import AttackOutcome, Interval
from weighbeam.lab.trials.bench import BenchResult
from weighbeam.lab.trials.versions import Versions


def spread_out(value: float) -> Interval:
    return Interval(value, max(0.0, value - 0.05), min(1.0, value + 0.05))


OUTCOME = AttackOutcome(spread_out(0.3), spread_out(0.1), spread_out(0.7), spread_out(0.15), spread_out(0.6), (0, 1))


def bench(**outcomes: AttackOutcome) -> BenchResult:
    return BenchResult(outcomes, tuple(range(SHORT.seeds)), SHORT.rounds, {}, Versions("0", "3", "2", {}), 1.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "expectations.json"
    save_expectations(bench(copycat=OUTCOME, sybil=OUTCOME), SHORT, file)
    return file


def test_what_is_as_expected_is_not_mentioned(file: Path) -> None:
    assert compare(bench(copycat=OUTCOME, sybil=OUTCOME), load_expectations(SHORT, file)) == ()
    assert load_expectations(FULL, file) == {}


@pytest.mark.parametrize(
    ("measure", "worse", "better"),
    [("profit", 0.5, 0.1), ("detection", 0.5, 0.9), ("false_positives", 0.3, 0.0), ("tau", 0.4, 0.9)],
)
def test_worse_is_red_and_better_a_note(file: Path, measure: str, worse: float, better: float) -> None:
    expected = load_expectations(SHORT, file)
    for value, red in ((worse, True), (better, False)):
        changed = dataclasses.replace(OUTCOME, **{measure: spread_out(value)})
        found = compare(bench(copycat=changed, sybil=OUTCOME), expected)
        assert [(one.attack, one.red) for one in found] == [("copycat", red)]
        assert f"{measure.replace('_', ' ')} {value:.3g}, expected" in found[0].text


def test_an_attack_that_is_missing_or_new_is_red(file: Path) -> None:
    found = compare(bench(copycat=OUTCOME, padding=OUTCOME), load_expectations(SHORT, file))
    assert [(one.attack, one.red) for one in found] == [("padding", True), ("sybil", True)]


def test_the_profiles_are_kept_beside_each_other(file: Path) -> None:
    before = load_expectations(SHORT, file)
    save_expectations(bench(copycat=OUTCOME), FULL, file)
    assert load_expectations(SHORT, file) == before
    assert load_expectations(FULL, file).keys() == {"copycat"}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"short": 3}',
        '{"short": {"seeds": 9, "rounds": 16, "attacks": {}}}',
        '{"short": {"seeds": 2, "rounds": 16, "attacks": {"a": {"profit": [1]}}}}',
    ],
)
def test_a_spoilt_file_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(WeighbeamError) as fault:
        load_expectations(SHORT, file)
    assert fault.value.code == "bad_expectations"
