"""The catalogue in its short form is as expected, and a mechanism that no longer caps copies turns it red."""

import pytest

from weighbeam.lab.bench import Benched, run_bench
from weighbeam.lab.catalogue import find_attacks, list_attacks
from weighbeam.lab.compare import compare
from weighbeam.lab.expectations import SHORT, load_expectations, narrow
from weighbeam.lab.play import Season

UNCAPPED = {"inference": {"duplicate_overlap": 1.0, "duplicate_cosine": 1.0}}
"""Nothing is a copy that is not equal to the letter."""


def play_short(names: list[str], params: dict | None = None) -> Benched:
    return run_bench(find_attacks(names), range(SHORT.seeds), Season(rounds=SHORT.rounds), params)


def test_the_catalogue_is_as_expected() -> None:
    benched = play_short([])
    assert [finding for finding in compare(benched, load_expectations(SHORT)) if finding.red] == []
    assert benched.outcomes.keys() == {attack.name for attack in list_attacks()}


@pytest.mark.parametrize("name", ["inference/sybil"])
def test_copies_that_are_not_capped_turn_it_red(name: str) -> None:
    benched = play_short([name], UNCAPPED)
    red = [finding for finding in compare(benched, narrow(load_expectations(SHORT), [name])) if finding.red]
    assert any(finding.attack == name and finding.text.startswith("it earns more") for finding in red)
    assert benched.outcomes[name].verdict != "closed"
