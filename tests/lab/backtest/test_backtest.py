"""Backtests of a real journal: what changes, what does not, and what cannot be told."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from lab.golden_journal import JOURNAL, backtest, compare
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.rules.averages import Evaluation, fold_emissions
from weighbeam.lab.backtest.outcome import RoundOutcome, WeighInOutcome
from weighbeam.lab.backtest.play import BacktestCourse
from weighbeam.lab.backtest.sources import list_outcomes
from weighbeam.lab.backtest.support import AllowedDifferences
from weighbeam.lab.backtest.verdict import describe_verdict, list_findings
from weighbeam.lab.backtest.window import Window, parse_edge
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Observation
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.blobs import select_blob

MECHANISMS = ("chunking", "evidence", "inference", "novelty")


def test_nothing_changed_changes_nothing() -> None:
    found = backtest({})
    assert found.comparison.is_equal
    assert found.comparison.faults == []
    assert sorted(found.comparison.mechanisms) == sorted(MECHANISMS)
    for one in found.comparison.mechanisms.values():
        assert all(miner.gain == 0 and miner.place_before == miner.place_after for miner in one.list_miners())
        assert one.weigh_ins.apart == one.rounds.changed == 0
        assert describe_verdict(one).startswith("nothing changes")


def test_recorded_values_set_again_change_nothing() -> None:
    found = backtest({"inference.quality_threshold": 0.35, "weigh_in.ema_alpha": 0.3, "chunking.curve": 0.5})
    assert found.comparison.is_equal


@settings(max_examples=5)
@given(st.floats(0.01, 1.0))
def test_alpha_changes_weights_and_nothing_else(alpha: float) -> None:
    one = compare("inference", {"weigh_in.ema_alpha": alpha})
    assert one.rounds.differ == one.rounds.changed == 0
    assert (one.weigh_ins.differ > 0) == (alpha != 0.3)
    assert not one.weigh_ins.decisions
    for vectors in (one.weigh_ins.before, one.weigh_ins.after):
        assert sum(vectors.last.values()) == pytest.approx(1)
    assert sum(miner.gain for miner in one.list_miners()) == pytest.approx(0)


def test_weights_follow_from_the_recorded_emissions() -> None:
    """Alpha by hand, from nothing but what the rounds paid."""
    store = view_journal(str(JOURNAL))
    outcomes = [one for one in list_outcomes(store) if not hasattr(one, "standings")]
    rows: dict[str, list[Evaluation]] = {}
    now = 0.0
    for one in outcomes:
        if isinstance(one, RoundOutcome) and one.mechanism == "inference":
            for result in one.results:
                rows.setdefault(result.hotkey, []).append(Evaluation(one.at, one.ref, result.emission))
        elif isinstance(one, WeighInOutcome) and one.mechanism == "inference":
            now = one.at
    store.close()
    averages = {hotkey: fold_emissions(found, now, 0.7, 24.0).ema for hotkey, found in rows.items()}
    last = compare("inference", {"weigh_in.ema_alpha": 0.7}).weigh_ins.after.last
    total = sum(averages[hotkey] for hotkey in last)
    assert {hotkey: averages[hotkey] / total for hotkey in last} == pytest.approx(dict(last))


def test_every_miner_flagged_means_that_nobody_is_paid() -> None:
    one = compare("inference", {"inference.quality_threshold": 0.95})
    rounds, tally = one.rounds, one.weigh_ins
    assert rounds.after.barren == rounds.rounds == 15
    assert rounds.after.statuses["failed"] == rounds.answers == 90
    assert tally.before.submits == tally.weigh_ins == 15
    assert tally.after.skips["all_zero"] == 14
    assert tally.after.modes == {"NORMAL": 13, "DEGRADED": 1, "EMERGENCY": 1}
    assert tally.after.uniform == tally.after.submits == 1
    nobody = "NOBODY WOULD BE PAID for an answer any more: "
    assert (
        describe_verdict(one) == f"{nobody}weights from before the change keep paying, then all miners are paid alike"
    )
    assert tally.unknown == 12, "from the emergency on, its weights are in force"
    told = "\n".join(list_findings(one))
    assert "in 15 of 15 rounds no answer counts" in told
    assert "all 90 answers fail" in told
    assert "submit → skip: all_zero" in told
    assert "EMERGENCY mode 14.4 h after the first skip" in told
    (ref, _, moved), *_ = rounds.list_largest()
    assert ref.startswith("inference-")
    assert moved[0].after.reasons == ("thin",)


def test_where_the_journal_ends_first_it_says_when_it_would_be() -> None:
    until = Window(end=parse_edge("2027-01-15T12:00Z"))
    one = compare("inference", {"inference.quality_threshold": 0.95}, window=until)
    assert one.weigh_ins.after.submits == 0
    assert describe_verdict(one).endswith("no weights are set any more; those from before the change keep paying")
    assert "if it goes on, EMERGENCY mode" in "\n".join(list_findings(one))


def test_modes_follow_the_limits_that_are_set() -> None:
    one = compare("inference", {"weigh_in.degraded_blocks": 300, "weigh_in.emergency_blocks": 400})
    assert one.weigh_ins.after.modes == {"DEGRADED": 15}
    assert describe_verdict(one) == "the weights stay as they are"
    strict = compare("inference", {"weigh_in.min_serving_nodes": 50})
    assert strict.weigh_ins.after.skips["too_few_serving"] == 15


def test_from_somewhere_on() -> None:
    start = Window(start=parse_edge("2027-01-15T20:00Z"))
    late = compare("inference", {"inference.quality_threshold": 0.95}, window=start)
    assert late.rounds.rounds == late.weigh_ins.weigh_ins == 5
    assert late.weigh_ins.after.submits == 2, "what was earned before still counts for three hours"
    named = Window(start=parse_edge(late.rounds.list_largest()[0][0]))
    assert 0 < compare("inference", {"inference.lof_limit": 2.0}, window=named).rounds.rounds <= 5


@pytest.mark.parametrize("edge", ["no-such-round", "2027-1-15", "novelty"])
def test_an_edge_that_nothing_is_at_is_refused(edge: str) -> None:
    if edge == "novelty":
        edge = compare("novelty", {"novelty.max_reward": 1.0}).rounds.list_largest()[0][0]
    for window in (Window(start=parse_edge(edge)), Window(end=parse_edge(edge))):
        with pytest.raises(WeighbeamError, match=f"empty_window: --(from|until) {edge}"):
            backtest({}, window=window, only="inference")


@pytest.mark.parametrize(
    "times", [("2028-01-01", None), (None, "2026-01-01"), ("2027-01-15T20:00Z", "2027-01-15T10:00Z")]
)
def test_a_window_without_anything_in_it_is_refused(times: tuple[str | None, str | None]) -> None:
    window = Window(*map(parse_edge, times))
    with pytest.raises(WeighbeamError, match="empty_window"):
        backtest({}, window=window)
    store = view_journal(str(JOURNAL))
    with pytest.raises(WeighbeamError, match="empty_window"):
        list(list_outcomes(store, course=BacktestCourse(load_mechanism, window)))
    store.close()


def test_a_skip_leaves_the_weights_before_it_in_force() -> None:
    """Two vectors are still set, then one skip after another: the second of them goes on paying."""
    start = Window(start=parse_edge("2027-01-15T20:00Z"))
    tally = compare("inference", {"inference.quality_threshold": 0.95}, window=start).weigh_ins
    assert (tally.after.submits, sum(tally.after.skips.values()), tally.counted, tally.unknown) == (2, 3, 5, 0)
    assert sum(tally.after.last.values()) == pytest.approx(1)
    assert sum(tally.after.sums.values()) == pytest.approx(5)
    assert tally.apart < 5


def test_weights_from_before_the_window_pay_in_it() -> None:
    start = Window(start=parse_edge("2027-01-15T20:00Z"))
    one = compare("inference", {"weigh_in.min_serving_nodes": 50}, window=start)
    assert one.weigh_ins.after.submits == one.weigh_ins.unknown == 0
    assert sum(one.weigh_ins.after.sums.values()) == pytest.approx(5)
    assert sum(miner.gain for miner in one.list_miners()) == pytest.approx(0)
    assert describe_verdict(one).endswith("no weights are set any more; those from before the change keep paying")


def test_all_burnt_means_that_nobody_is_paid() -> None:
    one = compare("evidence", {"evidence.burn_share": 1.0})
    assert describe_verdict(one) == "NOBODY WOULD BE PAID for an answer any more: all of it is burnt"


def test_weigh_ins_at_regular_times() -> None:
    one = compare("inference", {"weigh_in.ema_alpha": 0.6}, weigh_every=7200.0)
    assert one.weigh_ins.made == one.weigh_ins.weigh_ins == 8
    assert one.weigh_ins.differ > 0


def test_weigh_ins_that_are_made_burn_as_recorded_ones_do() -> None:
    one = compare("evidence", {"evidence.burn_share": 0.2}, weigh_every=7200.0)
    assert one.burn() == pytest.approx((0.5, 0.2), abs=1e-4)


def test_weigh_ins_farther_apart_than_the_journal_is_long_are_one_at_its_end() -> None:
    one = compare("inference", {"weigh_in.ema_alpha": 0.6}, weigh_every=1e9)
    assert one.weigh_ins.made == one.weigh_ins.weigh_ins == one.weigh_ins.differ == 1
    for seconds in (float("inf"), float("nan"), 0.0, -60.0):
        with pytest.raises(WeighbeamError, match="bad_usage"):
            BacktestCourse(load_mechanism, weigh_every=seconds)


def test_burn_is_told_apart_from_gains() -> None:
    one = compare("evidence", {"evidence.burn_share": 0.2})
    assert one.burn() == pytest.approx((0.5, 0.2), abs=1e-4)
    assert 1 not in [miner.uid for miner in one.list_miners()], "the owner is no miner"
    assert all(miner.gain >= 0 for miner in one.list_miners())


def test_the_reward_of_contributions_is_decided_again() -> None:
    one = compare("novelty", {"novelty.max_reward": 1.0})
    assert one.rounds.changed == one.rounds.rounds
    assert all(found.after.value <= 2e9 for found in one.rounds.by_miner.values())


def test_reopened_under_its_own_parameters_an_observation_stays_as_it_was() -> None:
    novelty, store = load_mechanism("novelty"), view_journal(str(JOURNAL))
    with store.read() as connection:
        bodies = list(connection.scalars(select(tables.rounds.c.body).where(tables.rounds.c.mechanism == "novelty")))
        for digest in bodies:
            body = json.loads(select_blob(connection, digest))
            kept = Observation.unpack(select_blob(connection, body["observation"]))
            assert novelty.reopen(make_params(novelty, body["params"]), kept).pack() == kept.pack()
    store.close()
    assert bodies


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        ({"chunking.num_embeddings": 20}, "not_observed", "150 → 20"),
        ({"chunking.splitter": "punkt"}, "not_observed", "adaptive → punkt"),
        ({"evidence.min_words": 3}, "not_observed", "only higher values"),
        ({"novelty.gate": "deny"}, "not_observed", "hold → deny"),
        ({"senses.embedder": "minilm-int8"}, "not_observed", "senses"),
        ({"weigh_in.max_miner_stake_rao": 1}, "not_observed", "eligible"),
        ({"inference.max_miners": 3}, "not_asked", "10 → 3"),
        ({"evidence.timeout_seconds": 3.0}, "not_asked", "120.0 → 3.0"),
        ({"weigh_in.alpha": 1}, "unknown_parameter", "alpha"),
        ({"weigh_in.ema_alpha": 2}, "bad_setting", "ema_alpha"),
        ({"weigh_in.ema_alpha": "much"}, "bad_setting", "ema_alpha"),
        ({"weigh_in.freshness_hours": -1}, "bad_parameter", "freshness_hours"),
        ({"inference.lof_limit": "high"}, "bad_params", "lof_limit"),
        ({"inference.nothing": 1}, "bad_params", "nothing"),
        ({"nobody.nothing": 1}, "unknown_mechanism", "nobody"),
        ({"keyword-recall.alpha": 0.5}, "nothing_recorded", "keyword-recall"),
        ({"lof_limit": 1}, "bad_setting", "lof_limit"),
        ({"inference": {"max_miners": 3}, "chunking": {"strict": True}}, "not_observed", "chunking.strict"),
    ],
)
def test_what_cannot_be_told_is_refused(given: dict[str, Any], code: str, told: str) -> None:
    with pytest.raises(WeighbeamError) as refused:
        backtest(given)
    assert refused.value.code == code
    assert told in refused.value.message


def test_groups_can_be_kept_and_that_is_said() -> None:
    found = backtest({"inference.max_miners": 3}, AllowedDifferences(keep_groups=True))
    assert any("kept as recorded" in note for note in found.notes)
    assert found.comparison.is_equal


def test_more_is_asked_of_excerpts_than_was() -> None:
    one = compare("evidence", {"evidence.min_words": 1000})
    assert one.rounds.after.reasons["invalid_excerpt"] > one.rounds.before.reasons["invalid_excerpt"]
