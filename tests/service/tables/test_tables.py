"""Tables: the same rows on a page, over HTTP and in a file; hostile words stay words in every one."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from sqlalchemy import update

from engine.organic_round import HOSTILE as ASKED
from engine.organic_round import RECALL, SECRET, START
from engine.recall import PARAMS, play
from service.read_api import NAME, Api, serve_reading
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.views.names import NameBook
from weighbeam.service.tables import catalogue, rounds
from weighbeam.service.tables.boards import STANDINGS
from weighbeam.service.tables.files import FORMULA, Column, FoundRows, escape_formula, make_csv, make_file
from weighbeam.service.tables.model import MAX_ROWS, Table, TableSource, parse_choice, select_rows
from weighbeam.service.tables.rounds import ANSWERS, ROUNDS, SCORES
from weighbeam.service.tables.shown import find_hotkeys
from weighbeam.service.tables.view import view_table
from weighbeam.store import tables
from weighbeam.store.database import Store

HOSTILE = (
    "=cmd|'/c calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r\n=1",
    "\u202e=1",
    " =1",
    "＝1",
    '"=1"',
    "\x00=1",
)
NEEDED = {"mechanism": NAME, "round": f"{NAME}-1", "hotkey": "a"}
STEERING = set("\x00\x07\x1b\r\t\u202e\u2066\u200f")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serve_reading(tmp_path_factory.mktemp("tables"), registry=CollectorRegistry(), reading="open") as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'journal.db'}")


def open_source(store: Store, now: float = START + 7200) -> TableSource:
    return TableSource(store, {NAME: (RECALL, PARAMS)}, Averaging(), now)


def fill(store: Store, count: int = 4) -> None:
    journal = Journal(store)
    for number in range(count):
        answers = {"a": "tide moon", "b": "tide", "c": None} if number % 2 else {"a": "tide"}
        play(journal, RECALL, number, START + number * 600, answers)


def ask(table: Table, store: Store, **query: str) -> list[str]:
    """The first column of what a query finds."""
    found = select_rows(table, open_source(store), parse_choice(table, query))
    return [str(table.columns[0].value(row)) for row in found.rows]


def test_rounds_are_found_by_each_filter(store: Store) -> None:
    fill(store)
    whole = [f"{NAME}-{number}" for number in (3, 2, 1, 0)]
    assert ask(ROUNDS, store) == whole
    assert ask(ROUNDS, store, miner="c") == [whole[0], whole[2]]
    assert ask(ROUNDS, store, miner="C", status="scored") == [whole[0], whole[2]]
    assert ask(ROUNDS, store, miner="%") == []
    assert ask(ROUNDS, store, mechanism="another") == []
    (reason,) = {
        one for row in select_rows(ANSWERS, open_source(store), parse_choice(ANSWERS, {"round": whole[0]})).rows
        for one in row.answer.reasons
    }  # fmt: skip
    assert ask(ROUNDS, store, reason=reason) == [whole[0], whole[2]]
    assert ask(ROUNDS, store, reason=reason, miner="a") == []
    assert ask(ROUNDS, store, until=str(START + 600)) == whole[2:]
    assert ask(ROUNDS, store, since=str(START + 600), until=str(START + 1200)) == whole[1:3]
    late = TableSource(store, {}, Averaging(), START + 1800 + 3600)
    found = select_rows(ROUNDS, late, parse_choice(ROUNDS, {"range": "1h"}))
    assert [line.id for line in found.rows] == whole[:1]


def test_a_void_round_is_found_as_void_alone(store: Store) -> None:
    fill(store, 2)
    with store.write() as connection:
        scores = tables.scores.c
        connection.execute(update(tables.scores).where(scores.round == f"{NAME}-0").values(status="unscored"))
    assert ask(ROUNDS, store, status="void") == [f"{NAME}-0"]
    assert ask(ROUNDS, store, status="scored") == [f"{NAME}-1"]
    assert ask(ROUNDS, store, status="observed") == []


def test_every_column_sorts_both_ways_and_what_has_no_value_is_last(store: Store) -> None:
    fill(store)
    for table in catalogue.TABLES.values():
        scope = {name: value for name, value in NEEDED.items() if name in table.needs}
        for column in table.columns:
            for sign in ("", "-"):
                found = select_rows(
                    table, open_source(store), parse_choice(table, {**scope, "sort": sign + column.name})
                )
                values = [column.value(row) for row in found.rows]
                known = [one for one in values if one is not None and one != ()]
                assert values[: len(known)] == known, (table.name, column.name)
                keys = [one.casefold() if isinstance(one, str) else one for one in known]
                assert keys == sorted(keys, reverse=sign == "-"), (table.name, column.name)


def test_answers_are_filtered_by_whom_how_and_why(store: Store) -> None:
    fill(store, 2)
    scope = {"round": f"{NAME}-1"}
    rows = select_rows(ANSWERS, open_source(store), parse_choice(ANSWERS, scope)).rows
    assert [row.answer.hotkey for row in rows] == ["a", "b", "c"]
    failed = select_rows(ANSWERS, open_source(store), parse_choice(ANSWERS, {**scope, "status": "failed"})).rows
    assert [row.answer.hotkey for row in failed] == ["c"]
    assert ask(ANSWERS, store, **scope, miner="nobody") == []


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "body"}, {"sort": "--at"}, {"page": "0"}, {"page": "x"}, {"page": "٣"}, {"status": "bogus"},
        {"range": "1y"}, {"since": "yesterday"}, {"until": "2026-02-30"}, {"since": "2026-01-01T25:00"},
        {"miner": "W" * 101},
    ],
)  # fmt: skip
def test_what_a_table_does_not_take_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(WeighbeamError) as refusal:
        parse_choice(ROUNDS, query)
    assert refusal.value.code == "bad_query"


def test_what_a_table_needs_is_asked_for() -> None:
    with pytest.raises(WeighbeamError, match="round is missing"):
        parse_choice(ANSWERS, {"round": " "})


def test_the_links_of_a_table_keep_what_else_is_chosen(store: Store) -> None:
    fill(store)
    query = {"status": "scored", "miner": "a", "sort": "-block", "page": "2"}
    view = view_table(ROUNDS, open_source(store), "/rounds", query, rows=2)
    assert [row.id for row in view.rows] == [f"{NAME}-{number}" for number in (1, 0)]
    assert (view.first, view.last, view.counted, view.next) == (3, 4, 4, None)
    head = dict(parse_qsl(urlsplit(view.heads["round"].href).query))
    assert head == {"status": "scored", "miner": "a", "sort": "round"}
    assert view.heads["block"].sorted == "descending"
    assert "sort=block" in view.heads["block"].href
    assert view.previous == "/rounds?" + urlencode({"status": "scored", "miner": "a", "sort": "-block"})
    (saved,) = (address for form, address in view.exports if form == "csv")
    assert dict(parse_qsl(urlsplit(saved).query)) == {
        "status": "scored",
        "miner": "a",
        "sort": "-block",
        "format": "csv",
    }
    assert view.clear == "/rounds?sort=-block"


def test_a_filter_without_a_hit_is_known_as_one(store: Store) -> None:
    fill(store)
    view = view_table(ROUNDS, open_source(store), "/rounds", {"miner": "nobody"})
    assert (view.rows, view.chosen, view.counted) == ([], True, 0)
    assert not view_table(ROUNDS, open_source(store), "/rounds", {}).chosen


def test_no_more_is_read_than_the_cap_and_it_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    monkeypatch.setattr("weighbeam.service.tables.model.MAX_ROWS", 3)
    found = select_rows(ROUNDS, open_source(store), parse_choice(ROUNDS, {"sort": "block"}))
    assert [line.id for line in found.rows] == [f"{NAME}-{number}" for number in (1, 2, 3)]
    assert found.more


def test_a_search_of_answers_ends_somewhere_and_it_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    monkeypatch.setattr("weighbeam.engine.views.rounds.MAX_SEARCHED", 2)
    for query in ({"miner": "c"}, {"reason": "timeout"}):
        found = select_rows(ROUNDS, open_source(store), parse_choice(ROUNDS, query))
        assert [line.id for line in found.rows] == [f"{NAME}-3"]
        assert found.more
    older = {"miner": "c", "until": str(START + 600)}
    found = select_rows(ROUNDS, open_source(store), parse_choice(ROUNDS, older))
    assert [line.id for line in found.rows] == [f"{NAME}-1"]
    assert len(select_rows(ROUNDS, open_source(store), parse_choice(ROUNDS, {})).rows) == 4


def test_a_page_of_the_usual_order_reads_no_more_than_it_shows(store: Store) -> None:
    fill(store)
    found = select_rows(ROUNDS, open_source(store), parse_choice(ROUNDS, {}), 2)
    assert len(found.rows) == 2
    assert found.more


@pytest.mark.parametrize("name", sorted(catalogue.TABLES))
def test_every_table_is_given_in_every_format(api: Api, name: str) -> None:
    pyarrow = pytest.importorskip("pyarrow.parquet")
    table = catalogue.TABLES[name]
    query = {key: value for key, value in NEEDED.items() if key in table.needs}
    given = {
        form: api.get(f"/v1/tables/{name}?{urlencode({**query, 'format': form})}")
        for form in ("csv", "json", "parquet")
    }
    assert {form: one.status_code for form, one in given.items()} == dict.fromkeys(given, 200)
    rows = given["json"].json()["rows"]
    columns = [column.name for column in table.columns]
    written = list(csv.reader(io.StringIO(given["csv"].text)))
    assert written[0] == columns
    assert len(written) == 1 + len(rows)
    stored = pyarrow.read_table(io.BytesIO(given["parquet"].content))
    assert stored.column_names == columns
    assert stored.num_rows == len(rows)
    for form, one in given.items():
        assert one.headers["content-disposition"] == f'attachment; filename="weighbeam-{name}.{form}"'
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["x-weighbeam-more"] == "false"


def test_a_file_has_the_filter_and_the_order_of_its_page(api: Api) -> None:
    rows = api.get("/v1/tables/rounds?sort=block&miner=c").json()
    assert rows["filters"] == {"miner": "c"}
    assert [row["block"] for row in rows["rows"]] == sorted(row["block"] for row in rows["rows"])
    limited = api.get("/v1/tables/rounds?limit=1")
    assert len(limited.json()["rows"]) == 1
    assert limited.json()["more"] is True
    assert limited.headers["x-weighbeam-more"] == "true"
    tag = limited.headers["etag"]
    assert api.get("/v1/tables/rounds?limit=1", **{"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    "path",
    ["answers", "rounds?sort=body", "rounds?format=xlsx", "rounds?limit=5001", "rounds?since=soon",
     "standings?mechanism=x", "answers?round=nothing", "rounds?miner=a&miner=b", "rounds?who=a", "rounds?miner=%00"],
)  # fmt: skip
def test_what_cannot_be_given_is_refused_with_a_reason(api: Api, path: str) -> None:
    status, code = api.refuse(f"/v1/tables/{path}")
    assert (status, code) in ((400, "bad_query"), (404, "unknown_mechanism"), (404, "unknown_round"))


def test_who_may_not_read_gets_no_file(tmp_path: Path) -> None:
    with serve_reading(tmp_path, registry=CollectorRegistry()) as api:
        assert api.refuse("/v1/tables/rounds?format=csv", None) == (401, "bad_token")
        assert api.refuse("/v1/tables/rounds?format=csv", "asker") == (403, "missing_scope")
        assert api.get("/v1/tables/rounds?format=csv", "reader").status_code == 200


def test_a_users_words_are_in_no_table(api: Api) -> None:
    for name, table in catalogue.TABLES.items():
        query = {**NEEDED, "round": "mine"}
        given = {key: value for key, value in query.items() if key in table.needs}
        told = api.get(f"/v1/tables/{name}?{urlencode(given)}").text
        assert SECRET not in told
        assert ASKED not in told


def test_parquet_without_its_library_says_what_to_install(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused = api.get("/v1/tables/suspects?range=6h&format=parquet")
    assert refused.status_code == 400
    assert refused.json()["error"] == "no_parquet"
    assert "pip install" in refused.json()["remedy"]


WORD = Column("word", "text", str, "a word")
TWICE = Column("words", "list", lambda word: (word, word), "the same twice")
WORDS = Table("words", "Words.", (WORD, TWICE), lambda *_: FoundRows(()), "word")


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40)))
def test_no_spreadsheet_computes_a_cell(text: str) -> None:
    written = make_csv(WORDS, FoundRows([text]))
    ((_, *rest), *_rows) = [list(csv.reader(io.StringIO(written.decode(), newline="")))]
    for row in rest:
        for cell in row:
            assert not cell.lstrip().startswith(FORMULA)
            assert not STEERING & set(cell)
    assert len(rest) == 1, "one row stays one row"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_formula_becomes_text_in_a_sheet_and_stays_itself_in_json(text: str) -> None:
    assert escape_formula(text).startswith("'")
    choice = parse_choice(WORDS, {})
    assert json.loads(make_file(WORDS, choice, FoundRows([text]), "json").data)["rows"][0]["word"] == text


def test_half_characters_reach_every_format() -> None:
    pytest.importorskip("pyarrow")
    for form in ("csv", "json", "parquet"):
        assert make_file(WORDS, parse_choice(WORDS, {}), FoundRows(["\ud800<b>"]), form).data


def test_scores_are_those_of_one_miner(store: Store) -> None:
    fill(store)
    assert len(ask(SCORES, store, hotkey="a")) == 4
    assert len(ask(SCORES, store, hotkey="c", status="failed")) == 2
    assert ask(SCORES, store, hotkey="c", mechanism="other") == []
    assert MAX_ROWS >= 1000
    assert SCORES.options["status"] == rounds.STATUSES


def test_a_name_is_found_by_its_part_and_is_no_formula_in_a_file(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {"a": "tide moon", "b": "tide"})
    source = replace(open_source(store), book=NameBook(aliases={"a": "=cmd|'/c calc'!A0", "b": "Ben"}))
    asked = {"mechanism": NAME, "miner": "/C CALC"}
    found = select_rows(STANDINGS, source, parse_choice(STANDINGS, asked))
    assert [row.line.hotkey for row in found.rows] == ["a"]
    (row,) = csv.DictReader(io.StringIO(make_csv(STANDINGS, found).decode("utf-8-sig")))
    assert row["name"] == "'=cmd|'/c calc'!A0"
    assert find_hotkeys(source, "ben") == ("b",)
    (round_,) = select_rows(ROUNDS, source, parse_choice(ROUNDS, {"miner": "ben"})).rows
    assert round_.id == f"{NAME}-0"
    assert not select_rows(ROUNDS, source, parse_choice(ROUNDS, {"miner": "nobody"})).rows
