"""On labelled rounds, honest answers earn more than attacks that can be told from texts alone."""

import pytest

from mechanisms.inference.attack_rounds import Judged, judge_rounds, judge_without, tally_pairs
from weighbeam.senses.local import LocalSenses

BEATEN = ("garbage", "echo", "stuffing", "giant", "instant_garbage", "copy")


@pytest.fixture(scope="module")
def rounds(senses: LocalSenses) -> list[Judged]:
    return judge_rounds(senses)


@pytest.mark.parametrize("kind", BEATEN)
def test_an_answer_of_its_own_earns_more_than(rounds: list[Judged], kind: str) -> None:
    won = tally_pairs(rounds)[kind].own
    assert len(won) > 20
    assert all(won)


def test_copies_and_what_they_copy_earn_no_more_than_it_would_alone(rounds: list[Judged], senses: LocalSenses) -> None:
    """Their own times differ from the original's, so up to a tenth may be gained or lost by speed."""
    seen = 0
    for judged in rounds:
        copies = set(judged.list_kind("copy"))
        for group in (set(group) for group in judged.groups if copies & set(group)):
            (original,) = group - copies
            alone = judge_without("copy", judged.number, senses).emissions[original]
            assert sum(judged.emissions[hotkey] for hotkey in group) <= alone * 1.1
            seen += len(group & copies)
    assert seen == sum(len(judged.list_kind("copy")) for judged in rounds)


def test_honest_outliers_are_kept_and_no_honest_answer_is_flagged(rounds: list[Judged]) -> None:
    outliers = [(judged, hotkey) for judged in rounds for hotkey in judged.list_kind("honest_outlier")]
    assert len(outliers) >= 8
    for judged, hotkey in outliers:
        assert judged.removed.get(hotkey) not in ("outlier", "low_quality", "short")
        assert judged.emissions[hotkey] > 0
    assert not any(set(judged.list_honest()) & judged.flagged for judged in rounds)
