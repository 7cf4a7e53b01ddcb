"""A short crash campaign against a novelty server; `make novelty-crash N=100` runs a long one."""

from pathlib import Path

from crash.novelty_campaign import run_campaign

KILLS, REAL_KILLS, SEED = 10, 2, 11


def test_killed_at_random_every_acknowledged_submission_is_there_once(tmp_path: Path) -> None:
    tally = run_campaign(tmp_path, KILLS, SEED)
    print(f"seed {SEED}: {tally}")
    assert tally.faults == []
    assert (tally.kills, tally.found) == (KILLS, tally.acknowledged)
    assert tally.acknowledged > KILLS
    assert tally.interrupted > 0
    assert {"paid", "held", "duplicate"} <= set(tally.statuses)


def test_the_same_with_the_real_embedder(tmp_path: Path, cache: Path) -> None:
    tally = run_campaign(tmp_path, REAL_KILLS, SEED, real=True)
    assert tally.faults == []
    assert tally.kills == REAL_KILLS
    assert tally.acknowledged > 0
