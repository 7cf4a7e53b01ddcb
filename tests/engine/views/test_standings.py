"""What people are shown is what the journal says: standings over time, how sure they are, pay, reasons, advice."""

from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import delete, insert, select, text, update

from engine.naive_standings import list_standings
from engine.recall import PaidRecall, find
from engine.recall import play as play_recall
from engine.small_subnet import ALICE, CHUNKING, HOUR, PARAMS, START, list_faults, observe_example, play
from postgres import on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.views.attacks import select_attacks
from weighbeam.engine.views.leaderboard import place_all, select_leaderboard
from weighbeam.engine.views.miner import KNOWN, select_miner
from weighbeam.engine.views.overview import select_overview
from weighbeam.engine.views.trends import StandingTrend
from weighbeam.mechanism.records import Task
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.database import Store

AVERAGING = Averaging()
ROUNDS = 6
TEXTS = {"a": "tide moon", "b": "tide", "c": None}


@pytest.fixture(scope="module")
def observed(senses: LocalSenses):
    return observe_example(senses)


@pytest.fixture
def store(store_url: str, observed) -> Store:
    opened = Store(store_url)
    for number in range(ROUNDS):
        play(Journal(opened), observed, f"r{number}", START + 300 * number)
    return opened


def list_history(store: Store, hotkey: str) -> list[float | None]:
    columns = tables.standing_history.c
    with store.read() as connection:
        query = select(columns.value).where(columns.hotkey == hotkey).order_by(columns.at)
        return list(connection.scalars(query))


def test_each_round_leaves_the_standing_after_it(store_url: str, observed) -> None:
    journal = Journal(Store(store_url))
    expected = []
    for number in range(3):
        play(journal, observed, f"r{number}", START + 300 * number)
        expected.append({s.hotkey: s.value for s in journal.standings("chunking")}["whole"])
    assert list_history(journal.store, "whole") == expected
    assert list_history(journal.store, "our-fault") == []
    assert list_faults(journal.store) == []


def test_a_round_that_does_not_count_leaves_none(store_url: str, senses: LocalSenses) -> None:
    asked = CHUNKING.examples()[0]
    task = Task(asked.task.id, asked.task.body, "organic", ranked=False)
    unranked = type(asked)(task, asked.group, asked.answers, asked.seed)
    journal = Journal(Store(store_url))
    play(journal, (unranked, CHUNKING.observe(PARAMS, unranked, senses)), "r0")
    assert list_history(journal.store, "whole") == []
    assert list_faults(journal.store) == []


def test_replay_finds_a_changed_and_a_missing_row(store: Store) -> None:
    history = tables.standing_history
    with store.write() as connection:
        connection.execute(
            update(history).where(history.c.round == "r2", history.c.hotkey == "whole").values(value=0.5)
        )
    assert list_faults(store) == ["r2: the standings over time do not match"]
    with store.write() as connection:
        connection.execute(delete(history))
    assert "r1: the standings over time do not match" in list_faults(store)
    lines = select_leaderboard(store, CHUNKING, AVERAGING)
    assert {(line.spread, line.trend) for line in lines} == {(None, ())}
    assert select_miner(store, CHUNKING, "whole", AVERAGING).points[0].standing is None


def test_retention_takes_standings_and_metagraphs_with_their_rounds(store_url: str) -> None:
    journal = Journal(Store(store_url))
    for hour in range(60):
        play_recall(journal, KeywordRecall(), hour, START + hour * HOUR, TEXTS)
    row = {"mechanism": "keyword-recall", "body": {}}
    with journal.store.write() as connection:
        rows = [{**row, "block": hour, "at": START + hour * HOUR} for hour in range(60)]
        connection.execute(insert(tables.metagraphs), rows)
    clean_up(journal.store, START + 60 * HOUR, AVERAGING, ALICE.address, ALICE.sign)
    with journal.store.read() as connection:
        kept = set(connection.scalars(text("SELECT id FROM rounds")))
        assert set(connection.scalars(text("SELECT DISTINCT round FROM standing_history"))) == kept
        assert connection.scalar(text("SELECT COUNT(*) FROM metagraphs")) == 48
    assert [found for found in replay(journal.store, find) if found.fault] == []


def test_the_leaderboard_is_in_order_and_counts_what_happened(store: Store) -> None:
    lines = select_leaderboard(store, CHUNKING, AVERAGING)
    before = list_standings(store, CHUNKING, AVERAGING)
    assert [(line.hotkey, line.standing, line.rounds, line.valid, line.last_reason) for line in lines] == [
        (line.hotkey, line.standing, line.rounds, line.valid, line.last_reason) for line in before
    ]
    values = [line.standing for line in lines]
    assert [line.place for line in lines] == [values.index(value) + 1 for value in values], "equals share a place"
    best = lines[0]
    assert best.trend == tuple(list_history(store, best.hotkey))
    assert best.trend[-1] == best.standing
    assert best.spread == pytest.approx(0, abs=1e-9)
    assert (best.uid, best.share, best.incentive) == (None, None, None)


@on_sqlite
@pytest.mark.parametrize("later", [3, 60])
def test_a_trend_is_in_the_order_of_the_journal_whatever_the_clock_did(store_url: str, later: int) -> None:
    journal, recall = Journal(Store(store_url)), KeywordRecall()
    times = [START + number * 300 for number in range(40)] + [START - HOUR + number * 300 for number in range(later)]
    known = []
    for number, at in enumerate(times):
        play_recall(journal, recall, number, at, {"a": "tide moon" if number % 3 else "tide"})
        known.append(select_leaderboard(journal.store, recall, AVERAGING)[0].standing)
    (line,) = select_leaderboard(journal.store, recall, AVERAGING)
    assert line.trend[-1] == line.standing
    assert list(line.trend[-3:]) == known[-3:]
    if later < 32:
        assert list(line.trend) == known[-32:]


def test_averages_of_emissions_are_those_that_weights_rest_on(store_url: str) -> None:
    journal, paid = Journal(Store(store_url)), PaidRecall()
    for number in range(40):
        words = {"a": "tide moon" if number % 3 else "tide", "b": "tide", "c": None}
        play_recall(journal, paid, number, START + number * HOUR, words)
    lines = select_leaderboard(journal.store, paid, AVERAGING)
    before = {line.hotkey: line.standing for line in list_standings(journal.store, paid, AVERAGING)}
    assert {line.hotkey: line.standing for line in lines} == before
    assert [len(line.trend) for line in lines] == [25, 25, 25]
    view = select_miner(journal.store, paid, "a", AVERAGING)
    assert view.points[0].standing == view.standing == view.trend[-1]
    assert view.spread is not None
    assert view.spread > 0
    assert view.points[39].standing is None
    assert view.advice == ()


def test_a_miner_sees_its_rounds_reasons_and_what_to_improve(store: Store) -> None:
    view = select_miner(store, CHUNKING, "inventor", AVERAGING)
    assert (view.place, view.of, view.standing) == (None, 12, None)
    assert [(reason.code, reason.count) for reason in view.reasons] == [("new_words", ROUNDS)]
    assert view.reasons[0].meaning.startswith("A chunk's words")
    assert view.advice[0].title == "Do not fail as new_words"
    assert [point.round for point in view.points] == [f"r{number}" for number in reversed(range(ROUNDS))]
    whole = select_miner(store, CHUNKING, "whole", AVERAGING)
    assert [point.standing for point in whole.points[::-1]] == list_history(store, "whole")
    assert "chunk_size" in whole.advice[0].text


def test_who_is_not_ranked_has_no_place(store: Store) -> None:
    """Its line stands below the others, by its name alone."""
    lines = select_leaderboard(store, CHUNKING, AVERAGING)
    unranked = [line.hotkey for line in lines if line.standing is None]
    assert unranked
    for line in lines:
        place = select_miner(store, CHUNKING, line.hotkey, AVERAGING).place
        assert place == (None if line.hotkey in unranked else line.place)


def test_nobody_is_an_error_and_lost_content_costs_the_advice_only(store: Store) -> None:
    for name in ("nobody", '%"', "'; DROP TABLE scores"):
        with pytest.raises(WeighbeamError, match="unknown_hotkey"):
            select_miner(store, CHUNKING, name, AVERAGING)
    with store.write() as connection:
        outcomes = select(tables.entries.c.body)
        connection.execute(delete(tables.blobs).where(tables.blobs.c.digest.in_(outcomes)))
    KNOWN.clear()
    view = select_miner(store, CHUNKING, "inventor", AVERAGING)
    assert view.advice == ()
    assert view.reasons


def test_an_overview_of_a_store_without_any_weigh_in(store: Store, tmp_path: Path) -> None:
    now = START + 300 * ROUNDS
    overview = select_overview(store, ["chunking", "nothing"], now)
    view, empty = overview.mechanisms
    assert view.last_round is not None
    assert (view.last_round.id, view.last_round.answers, view.last_round.valid) == ("r5", 12, 6)
    assert (view.rounds_last_hour, view.rounds_per_hour, view.waiting) == (ROUNDS, ROUNDS / 24, 0)
    assert (view.mode, view.blocks, view.last_weigh_in, view.next_weigh_in) == (None, None, None, None)
    assert (empty.last_round, empty.rounds_last_hour) == (None, 0)


def test_who_tries_what(store: Store) -> None:
    copied = {"round": "r1", "number": 0, "mechanism": "chunking", "cosine": 0.99, "overlap": 0.9}
    with store.write() as connection:
        connection.execute(insert(tables.copies).values(**copied, at=START + 300, hotkeys=["whole", "late"]))
    Alerts(store, lambda: START + 60).tell("duplicate_answers", "warning", "text", "chunking")
    Alerts(store, lambda: START + 60).tell("clock_skew", "warning", "text", "chunking")
    found = select_attacks(store, START + HOUR)
    assert [(one.hotkey, one.mechanism, one.counts, one.rounds) for one in found.suspects] == [
        ("inventor", "chunking", {"new_words": ROUNDS}, ROUNDS)
    ]
    assert [(group.round, group.hotkeys) for group in found.copies] == [("r1", ("whole", "late"))]
    assert [alert.code for alert in found.alerts] == ["duplicate_answers"]
    assert (found.duplicates, found.held) == (0, 0)
    assert select_miner(store, CHUNKING, "late", AVERAGING).copies == 1
    later = select_attacks(store, START + 30 * HOUR)
    assert (later.suspects, later.copies, later.alerts) == ((), (), ())


def test_equals_share_the_better_place() -> None:
    courses = {
        name: StandingTrend(value) for name, value in (("d", None), ("c", 0.5), ("a", 0.9), ("b", 0.5), ("e", None))
    }
    assert list(place_all(CHUNKING, courses).items()) == [("b", 1), ("c", 1), ("a", 3), ("d", 4), ("e", 4)]
