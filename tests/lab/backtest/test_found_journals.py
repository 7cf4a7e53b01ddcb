"""Journals as they are found: cleaned up, never weighed, of a mechanism that says little, spoilt, very long."""

import asyncio
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import text

from engine.recall import PARAMS, PaidRecall, find, play
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.lab.backtest.overrides import BacktestOverrides, parse_overrides
from weighbeam.lab.backtest.play import BacktestCourse
from weighbeam.lab.backtest.play import play as play_sides
from weighbeam.lab.backtest.run import Backtest, run_backtest
from weighbeam.lab.backtest.side import BacktestSide
from weighbeam.lab.backtest.sources import list_outcomes
from weighbeam.lab.backtest.support import AllowedDifferences
from weighbeam.lab.backtest.survey import survey_journal
from weighbeam.lab.backtest.verdict import describe_verdict
from weighbeam.mechanism.records import Weights
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

ALICE = Hotkey.from_uri("//Alice")
START, HOUR = 1_800_000_000.0, 3600.0
SHORT = Averaging(ema_lookback_hours=2.0, db_retention_hours=4.0)
WHO = ("a", "b", "c")


def say(hour: int) -> dict[str, str | None]:
    """Sometimes one is good, sometimes another."""
    words = ["tide moon", "tide", "tide and moon and " + "more " * 30]
    return {name: words[(hour + place) % 3] for place, name in enumerate(WHO)}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))


@pytest.fixture
def weigh_in_context(tmp_path: Path, journal: Journal) -> WeighInContext:
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    for hotkey in WHO:
        register(file, hotkey)
        announce(file, hotkey, "127.0.0.1:8000")
    advance(file, 21)
    ledger, chain = Ledger(journal.store, "paid-recall"), LocalChain(file, ALICE)
    chain.file = file
    return WeighInContext(PaidRecall(), PARAMS, journal, ledger, chain, ALICE.address, averaging=SHORT)


def fill(weigh_in_context: WeighInContext, first: int, last: int) -> None:
    """A round and a weigh-in every hour."""
    for hour in range(first, last):
        play(weigh_in_context.journal, PaidRecall(), hour, START + hour * HOUR, say(hour))
        asyncio.run(weigh_in(weigh_in_context, START + hour * HOUR + 60))
        advance(weigh_in_context.chain.file, 6)


def run(journal: Journal, given: dict[str, object], anyway: bool = False) -> Backtest:
    return run_backtest(journal.store, parse_overrides(given), BacktestCourse(find), AllowedDifferences(anyway=anyway))


def test_a_journal_that_was_cleaned_up_goes_on_from_its_checkpoint(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 12)
    whole = run(weigh_in_context.journal, {"weigh_in.ema_alpha": 0.9})
    clean_up(weigh_in_context.journal.store, START + 12 * HOUR, SHORT, ALICE.address, ALICE.sign)
    assert run(weigh_in_context.journal, {}).comparison.is_equal
    rest = run(weigh_in_context.journal, {"weigh_in.ema_alpha": 0.9})
    before, after = (found.comparison.mechanisms["paid-recall"].weigh_ins for found in (whole, rest))
    assert 0 < after.weigh_ins < before.weigh_ins
    assert after.after.last == before.after.last
    assert "the journal begins with a checkpoint: the state in it is kept as recorded" in rest.notes


def test_a_longer_lookback_than_is_kept_is_refused(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 12)
    longer = {"weigh_in.ema_lookback_hours": 6.0, "weigh_in.db_retention_hours": 12.0}
    assert run(weigh_in_context.journal, longer).comparison.mechanisms["paid-recall"].weigh_ins.differ > 0
    clean_up(weigh_in_context.journal.store, START + 12 * HOUR, SHORT, ALICE.address, ALICE.sign)
    with pytest.raises(WeighbeamError, match=r"not_observed: weigh_in\.ema_lookback_hours"):
        run(weigh_in_context.journal, longer)
    assert run(weigh_in_context.journal, {"weigh_in.ema_lookback_hours": 1.0}).comparison.faults == []


def test_a_mechanism_that_does_not_say_what_reads_its_parameters(
    weigh_in_context: WeighInContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PaidRecall, "read_by", {})
    fill(weigh_in_context, 0, 3)
    with pytest.raises(WeighbeamError, match="does not declare its readers"):
        run(weigh_in_context.journal, {"paid-recall.words_per_keyword": 1})
    found = run(weigh_in_context.journal, {"paid-recall.words_per_keyword": 1}, anyway=True)
    assert found.comparison.mechanisms["paid-recall"].rounds.changed == 3
    assert any("does not declare its readers" in note for note in found.notes)


def test_a_journal_that_was_never_weighed_is_weighed_at_its_end(journal: Journal) -> None:
    for hour in range(5):
        for mechanism in (KeywordRecall(), PaidRecall()):
            play(journal, mechanism, hour, START + hour * HOUR, say(hour))
    found = run(journal, {"weigh_in.ema_alpha": 0.9})
    assert any("no weigh-in in the journal" in note for note in found.notes)
    assert any("as by default" in note for note in found.notes)
    paid, own = found.comparison.mechanisms["paid-recall"], found.comparison.mechanisms["keyword-recall"]
    assert paid.weigh_ins.made == own.weigh_ins.made == 1
    assert sum(paid.weigh_ins.before.last.values()) == pytest.approx(1)
    assert paid.weigh_ins.differ == 1
    assert own.is_equal, "an average of its own is no business of the weigh-in's"
    assert describe_verdict(paid).startswith("1")


class Halving(PaidRecall):
    """The same mechanism in another version: it weighs half."""

    def weigh(self, params, standings, eligible) -> Weights:
        raw = super().weigh(params, standings, eligible).raw
        return Weights({hotkey: value / 2 for hotkey, value in raw.items()})


def test_a_journal_that_differs_is_told_and_compared_only_if_asked(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 3)
    course = BacktestCourse(lambda _: Halving())
    with pytest.raises(WeighbeamError, match="journal_differs: entry 2, weigh-in of paid-recall"):
        run_backtest(weigh_in_context.journal.store, BacktestOverrides(), course)
    found = run_backtest(weigh_in_context.journal.store, BacktestOverrides(), course, AllowedDifferences(anyway=True))
    assert len(found.comparison.faults) == 3
    with pytest.raises(WeighbeamError, match="journal_differs: entry 2, weigh-in of paid-recall"):
        list(list_outcomes(weigh_in_context.journal.store, course=course))
    assert (
        len(list(list_outcomes(weigh_in_context.journal.store, course=course, allowed=AllowedDifferences(anyway=True))))
        == 7
    )


def test_what_is_written_after_the_survey_is_not_read(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 3)
    store = weigh_in_context.journal.store
    survey = survey_journal(store)
    fill(weigh_in_context, 3, 12)
    play(weigh_in_context.journal, KeywordRecall(), 0, START + 12 * HOUR, say(0))
    played = list(play_sides(store, survey, [BacktestSide(BacktestOverrides(), survey.start)], BacktestCourse(find)))
    assert len(played) == 7, "three rounds, three weigh-ins, and the end"
    assert list(played[-1].outcomes[0].standings) == ["paid-recall"]
    clean_up(store, START + 12 * HOUR, SHORT, ALICE.address, ALICE.sign)
    with pytest.raises(WeighbeamError, match="journal_changed"):
        list(play_sides(store, survey, [BacktestSide(BacktestOverrides(), survey.start)], BacktestCourse(find)))


def test_weigh_ins_that_are_made_are_like_those_that_are_recorded(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 4)
    play(weigh_in_context.journal, KeywordRecall(), 0, START + 4 * HOUR, say(0))
    store = weigh_in_context.journal.store
    for course in (
        BacktestCourse(find, weigh_every=HOUR),
        BacktestCourse(find),
        BacktestCourse(find, only="keyword-recall"),
    ):
        survey = survey_journal(store, course.only)
        side = BacktestSide(BacktestOverrides(), survey.start)
        assert list(play_sides(store, survey, [side], course))
        assert {averaging for _, averaging in side.averaging.values()} == {SHORT}
    notes = run_backtest(store, BacktestOverrides(), BacktestCourse(find, only="keyword-recall")).notes
    assert any("are those of other mechanisms" in note for note in notes)


def test_a_spoilt_journal_is_refused(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 2)
    with weigh_in_context.journal.store.write() as connection:
        connection.execute(text("DELETE FROM blobs WHERE digest = (SELECT body FROM rounds LIMIT 1)"))
    with pytest.raises(WeighbeamError, match="blob_missing"):
        run(weigh_in_context.journal, {})
    empty = Store("sqlite://")
    with pytest.raises(WeighbeamError, match="empty_journal"):
        run_backtest(empty, BacktestOverrides(), BacktestCourse(find))


def test_what_no_later_weigh_in_needs_is_forgotten_on_the_way(weigh_in_context: WeighInContext) -> None:
    fill(weigh_in_context, 0, 20)
    store = weigh_in_context.journal.store
    survey = survey_journal(store)
    side, limit = BacktestSide(BacktestOverrides(), survey.start), 0
    for _ in play_sides(store, survey, [side], BacktestCourse(find)):
        limit = max(limit, *(len(rows) for rows in side.reached["paid-recall"].emissions.values()))
    assert limit <= 6, "four hours of one round an hour, and the one that is just noted"
