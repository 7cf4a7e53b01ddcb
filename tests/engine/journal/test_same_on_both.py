"""The same rounds in a file and on a server give the same entries, standings and weights, to the bit."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select
from typer.testing import CliRunner

from engine.recall import PARAMS, PaidRecall, find, play
from engine.small_subnet import ALICE
from lab.golden_journal import VERSIONS
from postgres import Server
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.cli.main import app
from weighbeam.core.canonical import digest_json
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.hash_chain import append_entry
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.weights import weigh_in as run
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.lab.backtest.diff import find_difference
from weighbeam.lab.backtest.sources import list_outcomes, load_dump
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.transfer import list_tables

START, HOUR = 1_800_000_000.0, 3600.0
HOTKEYS = ("Zed", "alpha", "ärger", "Ωmega", "_under", "a-b", "ab", "a b")
SHOWN = (tables.entries, tables.standings, tables.scores, tables.evaluations, tables.folds, tables.submissions)


def test_the_same_workload_gives_the_same_weights_hash(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weigh-ins are named by chance: here by what they say."""
    monkeypatch.setattr(run, "append_entry", lambda *given: append_entry(given[0], given[1], given[3][:32], given[3]))
    places = {"file": f"sqlite:///{tmp_path / 'journal.db'}", "server": postgres.make_database()}
    found = {kind: work(Store(place), tmp_path / kind) for kind, place in places.items()}
    assert found["file"]["entries"][-1] == found["server"]["entries"][-1]
    assert found["file"] == found["server"]
    assert len(found["file"]["submissions"]) == 3


def work(store: Store, folder: Path) -> dict[str, Any]:
    """Thirty hours of rounds with a weigh-in now and then, and a clean-up of the oldest."""
    folder.mkdir()
    weigh_in_context, file = make_weigh_in_context(store, folder)
    for hour in range(30):
        texts = {name: ("tide moon", "tide", None)[(place + hour) % 3] for place, name in enumerate(HOTKEYS)}
        play(weigh_in_context.journal, PaidRecall(), hour, START + hour * HOUR, texts)
        if hour % 10 == 9:
            advance(file, 6)
            asyncio.run(weigh_in(weigh_in_context, START + hour * HOUR + 1))
    averaging = Averaging(ema_lookback_hours=10.0, db_retention_hours=24.0)
    done = clean_up(store, START + 31 * HOUR, averaging, ALICE.address, ALICE.sign)
    assert done.rounds > 0
    assert [one for one in replay(store, find) if one.fault] == []
    with store.read() as connection:
        shown = {table.name: read_rows(connection, table) for table in SHOWN}
    store.close()
    return {**shown, "weights": digest_json([row["row"] for row in shown["submissions"]])}


def make_weigh_in_context(store: Store, folder: Path) -> tuple[WeighInContext, ChainFile]:
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)
    file = ChainFile.create(folder / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    for hotkey in HOTKEYS:
        register(file, hotkey)
        announce(file, hotkey, "127.0.0.1:8000")
    advance(file, 21)
    chain, ledger = LocalChain(file, ALICE), Ledger(store, "paid-recall")
    return WeighInContext(PaidRecall(), PARAMS, Journal(store), ledger, chain, ALICE.address), file


def read_rows(connection: Any, table: Any) -> list[dict[str, Any]]:
    rows = connection.execute(select(table).order_by(*table.primary_key.columns))
    return [{name: shown(value) for name, value in row._mapping.items()} for row in rows]


def shown(value: Any) -> Any:
    """-0.0 is not 0.0 here."""
    return repr(value) if isinstance(value, float) else value


@pytest.mark.parametrize("place", VERSIONS, ids=lambda place: place.name)
def test_a_journal_moved_to_a_server_replays_to_the_bit(postgres: Server, place: Path) -> None:
    """Every mechanism's recorded rounds: read from there they lead to what they led to."""
    url = postgres.make_database()
    source, target = view_journal(str(place / "journal.sqlite")), Store(url)
    with source.read() as old, target.write() as new:
        for table in (*list_tables(), tables.locks):
            rows = [dict(row._mapping) for row in old.execute(select(table))]
            if rows:
                new.execute(insert(table), rows)
    assert [one for one in replay(target, load_mechanism) if one.fault] == []
    assert find_difference(load_dump(place / "outcomes.jsonl"), list_outcomes(target)).is_equal
    for command in ("replay", "journal rounds", "journal leaderboard", "journal weights"):
        done = CliRunner().invoke(app, [*command.split(), "--store", url])
        assert done.exit_code == 0, done.output
    source.close()
    target.close()


def test_recorded_rounds_played_again_give_the_same_entries(make_store_url: Callable[[], str]) -> None:
    store = Store(make_store_url())
    play(Journal(store), PaidRecall(), 0, START, {"a": "tide \x00 moon", "b\x00": "tide"})
    assert [score.hotkey for score in select_round(store, "paid-recall-0", PaidRecall()).scored.scores] == [
        "a",
        "b\x00",
    ]
    assert [one for one in replay(store, find) if one.fault] == []
    store.close()
