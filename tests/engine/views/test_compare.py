"""Miners, rounds and validators side by side."""

from pathlib import Path

import pytest

from engine.organic_round import RECALL, START
from engine.recall import play
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.views.compare import (
    count_records,
    estimate_vtrust,
    find_round_before,
    list_shared_rounds,
    pair_answers,
    pair_weights,
    rank_valid,
)
from weighbeam.engine.views.round_view import select_round_view
from weighbeam.engine.views.weights import Share, WeightsLine
from weighbeam.engine.weights.metagraphs import GraphView, NeuronView
from weighbeam.store.database import Store

NAME = RECALL.name


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    journal = Journal(made)
    play(journal, RECALL, 0, START, {"a": "tide", "b": "tide moon", "c": None})
    play(journal, RECALL, 1, START + 60, {"a": "tide moon", "b": "tide"})
    play(journal, RECALL, 2, START + 120, {"a": "tide"})
    return made


def test_only_rounds_of_both_are_shared_newest_first(store: Store) -> None:
    shared = list_shared_rounds(store, NAME, "a", "b")
    assert [one.id for one in shared] == [f"{NAME}-1", f"{NAME}-0"]
    assert [(one.difference or 0) > 0 for one in shared] == [True, False]
    assert list_shared_rounds(store, "another", "a", "b") == []
    (failed,) = list_shared_rounds(store, NAME, "b", "c")
    assert failed.b.status == "failed"
    assert failed.b.reasons
    assert failed.gap is None


def test_the_part_that_differs_most_is_named(store: Store) -> None:
    newest = list_shared_rounds(store, NAME, "a", "b")[0]
    assert newest.gap is not None
    assert newest.gap.a > newest.gap.b


def test_answers_of_two_rounds_are_paired_by_miner(store: Store) -> None:
    first, second = (select_round_view(store, f"{NAME}-{number}", True, 0) for number in (0, 1))
    pairs = {one.hotkey: one for one in pair_answers(first, second)}
    assert set(pairs) == {"a", "b", "c"}
    assert (pairs["a"].place_a, pairs["a"].place_b, pairs["a"].climbed) == (2, 1, 1)
    assert pairs["b"].climbed == -1
    assert (pairs["c"].b, pairs["c"].climbed) == (None, None)
    assert rank_valid(first.answers) == {"b": 1, "a": 2}


def test_the_round_before_is_of_the_same_mechanism_and_there_is_none_before_the_first(store: Store) -> None:
    views = [select_round_view(store, f"{NAME}-{number}", True, 0) for number in range(3)]
    assert [find_round_before(store, view) for view in views] == [None, f"{NAME}-0", f"{NAME}-1"]
    play(Journal(store), RECALL, 3, START + 120, {"a": "tide"})
    newest = select_round_view(store, f"{NAME}-3", True, 0)
    assert [find_round_before(store, view) for view in (newest, views[2])] == [f"{NAME}-2", f"{NAME}-1"]


def test_records_count_a_day_of_judged_answers(store: Store) -> None:
    with store.read() as connection:
        records = count_records(connection, NAME)
        assert count_records(connection, "another") == {}
    assert (records["a"].rounds, records["a"].valid) == (3, 3)
    assert (records["c"].rounds, records["c"].valid, records["c"].mean) == (1, 0, 0.0)


def make_line(**shares: float) -> WeightsLine:
    made = tuple(Share(name, uid, 1, share) for uid, (name, share) in enumerate(shares.items()))
    return WeightsLine(1, START, "NORMAL", "confirmed", None, None, 1, 1, 1, made, 0, 0, 0, 1)


def make_graph(**consensus: float) -> GraphView:
    neurons = tuple(
        NeuronView(uid, name, 0, False, True, 0.0, 0.0, share, 0.0, 0, 0)
        for uid, (name, share) in enumerate(consensus.items())
    )
    return GraphView(NAME, 1, START, 1, 360, None, 5000, None, neurons)


def test_what_is_above_the_consensus_lowers_our_vtrust() -> None:
    pairs = pair_weights(make_graph(a=0.5, b=0.3, c=0.0), make_line(a=0.5, b=0.1, c=0.4), None, {})
    assert [one.hotkey for one in pairs] == ["c", "b", "a"]
    assert [round(one.clipped, 6) for one in pairs] == [0.4, 0.0, 0.0]
    assert estimate_vtrust(pairs) == pytest.approx(0.6)


def test_beside_another_validator_the_furthest_apart_come_first() -> None:
    theirs = make_line(a=0.1, b=0.9)
    pairs = pair_weights(make_graph(a=0.1, b=0.9, c=0.0), make_line(a=0.1, b=0.5, c=0.4), theirs, {}, {})
    assert [(one.hotkey, one.theirs) for one in pairs][:2] == [("b", 0.9), ("c", 0.0)]
