"""What a journal is read by: pages that neither skip nor double, whole rounds, and texts that are not everyone's."""

import itertools
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keyword_recall.mechanism import KeywordRecall

from engine.organic_round import HOSTILE, SECRET, play_organic
from engine.recall import play
from postgres import on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import recall_round
from weighbeam.engine.outbox.enqueue import enqueue_round_jobs
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.scoring import explain_answer
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.views.copies import MAX_READ, list_copies, select_copies
from weighbeam.engine.views.miner import list_scores
from weighbeam.engine.views.paging import ListPage, format_cursor, parse_cursor
from weighbeam.engine.views.round_view import RoundView, find_answer, is_asker, select_round_view, withhold_texts
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanism.records import Scored
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.database import Store

RECALL = KeywordRecall()
START, HOUR = 1_800_000_000.0, 3600.0


@pytest.fixture
def journal(store_url: str) -> Journal:
    return Journal(Store(store_url))


def read_all(read: Callable[[str | None], ListPage[Any]]) -> list[Any]:
    page = read(None)
    found = list(page.items)
    while page.next is not None:
        page = read(page.next)
        found += page.items
    return found


times, numbers = st.lists(st.integers(0, 3), max_size=12), itertools.count()


@pytest.mark.parametrize("shared_store", ["sqlite"], indirect=True)
@settings(max_examples=20)
@given(before=times, meanwhile=st.lists(times, max_size=5), limit=st.integers(1, 4))
def test_pages_give_everything_once_while_more_arrives(shared_store, before, meanwhile, limit) -> None:
    mechanism, left = f"of-example-{next(numbers)}", list(meanwhile)
    add(shared_store, mechanism, before)
    there = {line.id for line in list_rounds(shared_store, mechanism, limit=1000).items}

    def read(cursor: str | None) -> ListPage[Any]:
        page = list_rounds(shared_store, mechanism, cursor=cursor, limit=limit)
        add(shared_store, mechanism, left.pop() if left else [])
        return page

    keys = [(line.at, line.id) for line in read_all(read)]
    assert len(keys) == len(set(keys))
    assert there <= {name for _, name in keys}
    assert keys == sorted(keys, reverse=True)
    scores = read_all(lambda cursor: list_scores(shared_store, "a", mechanism, cursor, limit))
    assert {line.round for line in scores} == {
        line.id for line in list_rounds(shared_store, mechanism, limit=1000).items
    }


def add(store: Store, mechanism: str, at: list[int]) -> None:
    """Rounds at some seconds, many of them the same."""
    row = {"mechanism": mechanism, "state": "scored", "block": 1, "body": "0" * 64}
    rows = [{**row, "id": f"r{next(numbers)}", "at": float(second)} for second in at]
    score = {"hotkey": "a", "status": "valid", "value": 1.0, "reasons": []}
    if rows:
        with store.write() as connection:
            connection.execute(tables.rounds.insert(), rows)
            connection.execute(tables.scores.insert(), [{"round": row["id"], **score} for row in rows])


@given(st.text(max_size=80))
def test_a_cursor_that_is_not_ours_is_refused(text: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_cursor"):
        parse_cursor(text, "rounds", float, str)


@given(st.floats(allow_nan=False, allow_infinity=False), st.text(st.characters(exclude_categories=["Cs"]), max_size=64))
def test_a_cursor_is_read_as_it_was_written(at: float, name: str) -> None:
    cursor = format_cursor("rounds", at, name)
    if "\0" not in name:
        assert parse_cursor(cursor, "rounds", float, str) == (at, name)
    for other in (format_cursor("scores", at, name), format_cursor("rounds", name, at), cursor + "=", f"{cursor}A"):
        with pytest.raises(WeighbeamError, match="bad_cursor"):
            parse_cursor(other, "rounds", float, str)


def test_a_round_in_full(journal: Journal) -> None:
    play(journal, RECALL, 1, START, {"a": "tide moon", "b": "tide", "c": None})
    view = select_round_view(journal.store, f"{RECALL.name}-1", withhold=True)
    assert (view.kind, view.state, view.withheld, view.heatmap) == ("synthetic", "scored", False, False)
    assert view.task == {"keywords": ["tide", "moon"]}
    assert view.entry is not None
    assert (view.entry.sequence, view.entry.previous) == (1, "0" * 64)
    first, _, silent = view.answers
    assert (first.status, first.best, first.payload) == ("valid", True, {"text": "tide moon"})
    assert (silent.reply, silent.status, silent.payload, silent.payload_bytes) == ("timeout", "failed", None, 0)
    (line,) = list_rounds(journal.store, hotkey="c").items
    assert (line.answers, line.valid, line.kind) == (3, sum(one.status == "valid" for one in view.answers), "synthetic")
    tree = explain_answer(recall_round(journal.store, view.id), view.id, "a")
    assert tree["text"]
    with pytest.raises(WeighbeamError, match="unknown_hotkey"):
        find_answer(view, "nobody")
    with pytest.raises(WeighbeamError, match="unknown_hotkey"):
        explain_answer(recall_round(journal.store, view.id), view.id, "nobody")


def test_a_stranger_reads_no_text_of_a_user(journal: Journal) -> None:
    play_organic(journal, "mine")
    told, hidden = (select_round_view(journal.store, "mine", withhold) for withhold in (False, True))
    assert SECRET in repr(told)
    assert told.narrative == f"They said {SECRET}."
    assert hidden.withheld
    assert "doctor" not in repr(hidden)
    assert "DROP" not in repr(hidden)
    assert [(one.hotkey, one.uid, one.value, one.best) for one in hidden.answers] == [
        (one.hotkey, one.uid, one.value, one.best) for one in told.answers
    ]
    assert told.answers[1].payload == {"text": HOSTILE}
    assert is_asker(journal.store, "mine", "token:app")
    assert not is_asker(journal.store, "mine", "anyone")
    assert [line.kind for line in list_rounds(journal.store).items] == ["organic"]


def test_a_round_that_is_not_scored_or_discarded_says_so(journal: Journal) -> None:
    play_organic(journal, "mine", commit=False)
    view = select_round_view(journal.store, "mine", withhold=False)
    assert (view.state, view.entry, view.summary) == ("observed", None, None)
    assert {(one.status, one.value) for one in view.answers} == {(None, None)}
    journal.discard("mine")
    assert select_round_view(journal.store, "mine", withhold=False).state == "discarded"


def test_a_round_that_was_removed_is_told_as_such_and_its_request_goes_with_it(journal: Journal) -> None:
    play_organic(journal, "mine")
    play(journal, RECALL, 2, START + 500 * HOUR, {"a": "tide"})
    with pytest.raises(WeighbeamError, match="no round is called 'never'"):
        select_round_view(journal.store, "never", withhold=True)
    clean_up(journal.store, START + 500 * HOUR, Averaging(), "me", lambda _: b"signed")
    with pytest.raises(WeighbeamError, match="the oldest round kept is keyword-recall-2"):
        select_round_view(journal.store, "mine", withhold=True)
    assert not is_asker(journal.store, "mine", "token:app")


@on_sqlite
def test_answers_too_large_for_a_page_are_counted_and_left_out(journal: Journal) -> None:
    play(journal, RECALL, 1, START, {"a": "x" * 500, "b": "tide"})
    view = select_round_view(journal.store, f"{RECALL.name}-1", withhold=False, max_payloads=400)
    assert [(one.payload, one.payload_bytes > 0) for one in view.answers] == [(None, True), (None, True)]
    whole: RoundView = select_round_view(journal.store, view.id, withhold=False)
    assert replace(whole, answers=()) == replace(view, answers=())


def test_alerts_and_copies_come_in_pages(journal: Journal) -> None:
    store = journal.store
    alerts = Alerts(store, lambda: START)
    for number in range(5):
        alerts.tell("stalled" if number % 2 else "clock_skew", "warning", f"{number}", "chunking")
    told = read_all(lambda cursor: list_alerts(store, cursor=cursor, limit=2))
    assert [line.text for line in told] == ["4", "3", "2", "1", "0"]
    assert [line.text for line in list_alerts(store, code="stalled").items] == ["3", "1"]
    with store.write() as connection:
        for number in range(3):
            groups = [{"hotkeys": [f"h{number}", "x"], "cosine": 0.9, "overlap": 0.8}] * 2
            enqueue_round_jobs(connection, f"r{number}", START + number, RECALL, Scored((), {"copies": groups}))
    found = read_all(lambda cursor: list_copies(store, cursor=cursor, limit=2))
    assert [(line.round, line.number) for line in found] == [(f"r{n}", k) for n in (2, 1, 0) for k in (1, 0)]
    assert len(select_copies(store, 9, "h1")) == 2


@on_sqlite
def test_a_search_among_very_many_copies_reads_so_many_at_once(journal: Journal) -> None:
    row = {"mechanism": "inference", "at": START, "cosine": 0.9, "overlap": 0.8, "number": 0}
    rows = [{**row, "round": f"r{n:06}", "hotkeys": ["rare" if n == 7 else "other"]} for n in range(MAX_READ + 900)]
    with journal.store.write() as connection:
        connection.execute(tables.copies.insert(), rows)
    page = list_copies(journal.store, "rare")
    assert page.items == ()
    assert page.next is not None
    assert [line.round for line in list_copies(journal.store, "rare", page.next).items] == ["r000007"]
    assert [line.round for line in select_copies(journal.store, 5, "rare")] == ["r000007"]


def list_texts(inner: Any) -> list[str]:
    if isinstance(inner, dict):
        return [text for one in inner.values() for text in list_texts(one)]
    if isinstance(inner, (list, tuple)):
        return [text for one in inner for text in list_texts(one)]
    return [inner] if isinstance(inner, str) else []


@settings(max_examples=40)
@given(
    st.recursive(st.text() | st.floats() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_what_is_withheld_holds_no_text(value: Any) -> None:
    assert set(list_texts(withhold_texts(value, {"5Alice"}))) <= {"withheld", "5Alice"}


@on_sqlite
@pytest.mark.parametrize("name", ["chunking", "inference", "evidence"])
def test_nothing_a_mechanism_keeps_tells_a_stranger_what_was_said(journal: Journal, senses: LocalSenses, name) -> None:
    mechanism = load_mechanism(name)
    params, example = make_params(mechanism), mechanism.examples()[0]
    asked = replace(example, task=replace(example.task, kind="organic"))
    observation = mechanism.observe(params, asked, senses)
    digest = hash_params(mechanism, params, observation.facts["senses"])
    facts = RoundFacts("mine", name, params.model_dump(mode="json"), digest, "s", 7, START)
    journal.record(facts, asked, observation)
    journal.commit("mine", mechanism)
    told, hidden = (json.dumps(asdict(select_round_view(journal.store, "mine", one))) for one in (False, True))
    said = [text for text in list_texts([asked.task.body, [one.payload for one in asked.answers]]) if len(text) > 12]
    assert said
    assert all(json.dumps(text)[1:] in told for text in said)
    for text in said:
        for start in range(0, len(text) - 12, 6):
            assert json.dumps(text[start : start + 12])[1:-1] not in hidden
