"""The catalogue in its short form is as expected, and a mechanism that no longer caps copies turns it red."""

import pytest

from weighbeam.cli.main import app
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.attack.comparison import compare
from weighbeam.lab.attack.expectations import SHORT, load_expectations
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.bench import run_bench

UNCAPPED = ("--set", "duplicate_overlap=1", "--set", "duplicate_cosine=1")
"""Nothing is a copy that is not equal to the letter."""


@pytest.mark.slow
def test_the_catalogue_is_as_expected() -> None:
    benched = run_bench(list_attacks(), range(SHORT.seeds), Season(rounds=SHORT.rounds))
    assert [finding for finding in compare(benched, load_expectations(SHORT)) if finding.red] == []


def test_copies_that_are_not_capped_turn_it_red(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        app(["lab", "attack", "inference/sybil", "--short", "--expect", *UNCAPPED])
    assert end.value.code == 1
    told = capsys.readouterr().out
    assert "red" in told
    assert "inference/sybil: it is detected less often" in told
    assert "worse than expected" in told
