"""A short campaign against a pair of validators, on each kind of store; `make standby-crash N=100` runs a long one."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import make_url

from crash.standby_campaign import run_campaign
from weighbeam.senses.local import LocalSenses

KILLS, SEED = {"sqlite": 22, "postgresql": 10}, 11


def test_the_one_that_stands_by_takes_over_alone_and_sends_nothing_twice(
    tmp_path: Path, senses: LocalSenses, make_store_url: Callable[[], str]
) -> None:
    url = make_store_url()
    kills = KILLS[make_url(url).get_backend_name()]
    tally = run_campaign(tmp_path, kills, SEED, senses, url)
    print(f"seed {SEED}: {tally}")
    assert tally.faults == []
    assert tally.kills == kills
    assert tally.submissions > kills / 2
    assert tally.rounds > kills
