"""Every released version's journal is still computed to the bit; what differs is due a release note."""

import json
from pathlib import Path

import pytest

from lab.golden_journal import VERSIONS
from weighbeam import __version__
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.replay import replay
from weighbeam.lab.backtest.diff import find_difference
from weighbeam.lab.backtest.outcome import RoundOutcome, WeighInOutcome
from weighbeam.lab.backtest.sources import list_outcomes, load_dump
from weighbeam.mechanism.registry import load_mechanism

DUE = "what is paid has changed: a release note and a golden journal of the new version are due (CONTRIBUTING.md)"


def test_this_version_has_one() -> None:
    assert __version__ in [place.name for place in VERSIONS], "run make golden"


@pytest.mark.parametrize("place", VERSIONS, ids=lambda place: place.name)
def test_a_golden_journal_leads_to_what_it_led_to(place: Path) -> None:
    store = view_journal(str(place / "journal.sqlite"))
    assert [f"{one.ref}: {one.fault}" for one in replay(store, load_mechanism) if one.fault] == [], DUE
    found = find_difference(load_dump(place / "outcomes.jsonl"), list_outcomes(store))
    store.close()
    assert found.is_equal, f"{DUE}: {json.dumps(found.as_json())}"
    assert sorted(path.name for path in place.iterdir()) == ["README.md", "journal.sqlite", "outcomes.jsonl"]


@pytest.mark.parametrize("place", VERSIONS, ids=lambda place: place.name)
def test_a_golden_journal_has_some_of_everything_and_is_small(place: Path) -> None:
    outcomes = list(load_dump(place / "outcomes.jsonl"))
    played = {one.mechanism for one in outcomes if isinstance(one, RoundOutcome)}
    weighed = {one.mechanism for one in outcomes if isinstance(one, WeighInOutcome) and one.action == "submit"}
    assert played == weighed == {"chunking", "evidence", "inference", "novelty"}
    assert sum(path.stat().st_size for path in place.iterdir()) < 750_000
