"""A short crash campaign; `make crash N=200` runs a long one."""

from pathlib import Path

from crash.campaign import run_campaign
from weighbeam.senses.local import LocalSenses

KILLS, SEED = 22, 7


def test_killed_at_random_nothing_is_lost_or_counted_or_sent_twice(tmp_path: Path, senses: LocalSenses) -> None:
    tally = run_campaign(tmp_path, KILLS, SEED, senses)
    print(f"seed {SEED}: {tally}")
    assert tally.faults == []
    assert tally.kills == KILLS
    assert len(tally.rounds) > KILLS
    assert tally.submissions > tally.sealed > 0
    assert tally.checkpoint > 0
    assert len(tally.answers) > 5
