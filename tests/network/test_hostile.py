"""A dozen attacks of the hostile campaign; `make hostile` plays them all."""

import pytest

from network.hostile_campaign import SHORT, Verdict, list_attacks, run_campaign

pytestmark = pytest.mark.alone


def test_a_dozen_attacks_cost_the_honest_nothing() -> None:
    verdicts = run_campaign(SHORT)
    failed = [attack for attack in verdicts if attack.faults]
    again = run_campaign([(verdict.kind, verdict.name) for verdict in failed]) if failed else []
    assert [str(verdict) for verdict in again if verdict.faults] == [], "twice in a row"


def test_the_campaign_has_forty_distinct_attacks() -> None:
    named = [name for _, name in list_attacks()]
    assert len(set(named)) >= 40
    assert set(SHORT) <= set(list_attacks())


def test_a_slow_call_fails() -> None:
    assert "FAILED: honest calls were slow" in str(Verdict("miner", "a", 0.1, 9.0, 1, 2, ("honest calls were slow",)))
