"""Old rounds go, a signed checkpoint takes their place, and what is left still replays to the bit."""

import asyncio
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import text

from engine.recall import PARAMS, PaidRecall, find, play
from postgres import on_sqlite
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import CleanupResult, clean_up, is_cleanup_due
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

ALICE = Hotkey.from_uri("//Alice")
START, HOUR = 1_800_000_000.0, 3600.0
AVERAGING = Averaging()
TEXTS = {"a": "tide moon", "b": "tide", "c": None}


@pytest.fixture
def journal(store_url: str) -> Journal:
    return Journal(Store(store_url))


def fill(journal: Journal, hours: int) -> None:
    for hour in range(hours):
        for mechanism in (KeywordRecall(), PaidRecall()):
            play(journal, mechanism, hour, START + hour * HOUR, TEXTS)


def clean(journal: Journal, now: float, averaging: Averaging = AVERAGING) -> CleanupResult:
    return clean_up(journal.store, now, averaging, ALICE.address, ALICE.sign)


def faults(journal: Journal) -> list[str]:
    return [f"{r.ref}: {r.fault}" for r in replay(journal.store, find) if r.fault]


def count(journal: Journal, table: str) -> int:
    with journal.store.read() as connection:
        return int(connection.execute(text(f"SELECT COUNT(*) FROM {table}")).scalar_one())


def test_what_is_older_than_retention_goes_and_the_rest_replays(journal: Journal) -> None:
    fill(journal, 60)
    before = journal.standings("keyword-recall")
    done = clean(journal, START + 60 * HOUR)
    assert (done.entries, done.rounds) == (24, 24)
    assert count(journal, "rounds") == count(journal, "entries") == 96
    assert count(journal, "scores") == 96 * 3
    assert count(journal, "evaluations") == 96 * 3 + 12 * 3, "emissions stay for averages that may need them"
    assert journal.standings("keyword-recall") == before
    assert faults(journal) == []
    fill_more = START + 61 * HOUR
    play(journal, KeywordRecall(), 61, fill_more, TEXTS)
    assert faults(journal) == []


@on_sqlite
def test_again_and_again_from_checkpoint_to_checkpoint(journal: Journal) -> None:
    for day in range(5):
        for hour in range(day * 24, day * 24 + 24):
            play(journal, PaidRecall(), hour, START + hour * HOUR, TEXTS)
        clean(journal, START + (day * 24 + 24) * HOUR)
        assert faults(journal) == []
    assert count(journal, "rounds") == 48
    assert count(journal, "checkpoints") == 3


def test_the_file_shrinks(tmp_path: Path) -> None:
    journal = Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))
    fill(journal, 200)

    def size() -> int:
        with journal.store.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return (tmp_path / "journal.db").stat().st_size

    full = size()
    clean(journal, START + 200 * HOUR)
    assert size() < full * 0.6


@on_sqlite
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE checkpoints SET signature = replace(signature, substr(signature, 1, 2), '00')", "not signed"),
        ("UPDATE checkpoints SET hash = replace(hash, substr(hash, 1, 2), '00')", "differs from its row"),
        ("UPDATE checkpoints SET hotkey = 'somebody'", "differs from its row"),
        ("UPDATE checkpoints SET body = (SELECT data FROM blobs LIMIT 1)", "cannot be read"),
        ("DELETE FROM checkpoints", "does not follow"),
        ("DELETE FROM entries WHERE sequence = (SELECT MIN(sequence) FROM entries)", "is missing"),
    ],
)
def test_a_changed_checkpoint_is_found(journal: Journal, damage: str, told: str) -> None:
    fill(journal, 60)
    clean(journal, START + 60 * HOUR)
    with journal.store.write() as connection:
        connection.execute(text(damage))
    assert told in faults(journal)[0]


@on_sqlite
def test_a_leap_of_the_clock_does_not_take_the_lookback(journal: Journal) -> None:
    fill(journal, 60)
    clean(journal, START + 1000 * 24 * HOUR)
    with journal.store.read() as connection:
        oldest = connection.execute(text("SELECT MIN(at) FROM evaluations")).scalar_one()
    assert oldest <= START + 59 * HOUR - AVERAGING.ema_lookback_hours * HOUR
    assert faults(journal) == []


def test_it_is_due_by_the_stores_own_memory(journal: Journal) -> None:
    assert is_cleanup_due(journal.store, START, AVERAGING)
    clean(journal, START)
    assert not is_cleanup_due(journal.store, START + 23.9 * HOUR, AVERAGING)
    assert is_cleanup_due(journal.store, START + 24 * HOUR, AVERAGING)
    assert is_cleanup_due(journal.store, START - HOUR, AVERAGING)


@pytest.fixture
def weigh_in_context(tmp_path: Path, journal: Journal) -> WeighInContext:
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    for hotkey in TEXTS:
        register(file, hotkey)
        announce(file, hotkey, "127.0.0.1:8000")
    advance(file, 21)
    chain = LocalChain(file, ALICE)
    chain.file = file
    return WeighInContext(PaidRecall(), PARAMS, journal, Ledger(journal.store, "paid-recall"), chain, ALICE.address)


def test_weigh_ins_after_the_cut_still_replay(weigh_in_context: WeighInContext) -> None:
    """The first weigh-in kept rests on emissions from before the cut; the checkpoint carries them."""
    for hour in range(80):
        play(weigh_in_context.journal, PaidRecall(), hour, START + hour * HOUR, TEXTS)
        if hour % 7 == 0:
            advance(weigh_in_context.chain.file, 6)
            done = asyncio.run(weigh_in(weigh_in_context, START + hour * HOUR + 1))
            assert done.submission is not None
    clean(weigh_in_context.journal, START + 80 * HOUR)
    assert count(weigh_in_context.journal, "entries") < 60
    assert faults(weigh_in_context.journal) == []


@on_sqlite
def test_an_emergency_before_and_after_a_clean_up_replays(weigh_in_context: WeighInContext) -> None:
    """It rests on what retention keeps, which the checkpoint carries beyond the rounds that went."""
    for hour in range(120):
        play(
            weigh_in_context.journal,
            PaidRecall(),
            hour,
            START + hour * HOUR,
            {**TEXTS, "b": "tide" if hour < 60 else "moon tide"},
        )
        if hour in (50, 100):
            advance(weigh_in_context.chain.file, 260)
            done = asyncio.run(weigh_in(weigh_in_context, START + hour * HOUR))
            assert done.mode.mode == "EMERGENCY"
            assert done.submission is not None
        if hour in (72, 96, 119):
            assert clean(weigh_in_context.journal, START + hour * HOUR).rounds > 0
            assert faults(weigh_in_context.journal) == []
    advance(weigh_in_context.chain.file, 260)
    assert asyncio.run(weigh_in(weigh_in_context, START + 121 * HOUR)).mode.mode == "EMERGENCY"
    assert faults(weigh_in_context.journal) == []


def test_the_last_entry_always_stays_and_the_chain_goes_on(weigh_in_context: WeighInContext) -> None:
    for hour in range(4):
        asyncio.run(weigh_in(weigh_in_context, START + hour * HOUR))
    clean(weigh_in_context.journal, START + 100 * HOUR)
    assert count(weigh_in_context.journal, "entries") == 1
    asyncio.run(weigh_in(weigh_in_context, START + 101 * HOUR))
    assert faults(weigh_in_context.journal) == []
    clean(weigh_in_context.journal, START + 200 * HOUR)
    play(weigh_in_context.journal, PaidRecall(), 1, START + 201 * HOUR, TEXTS)
    assert faults(weigh_in_context.journal) == []


@on_sqlite
def test_a_round_of_a_clock_that_was_ahead_holds_nothing_back(journal: Journal) -> None:
    fill(journal, 30)
    play_at(journal, 999, START + 9999 * HOUR, int((START + 30 * HOUR) // 12))
    fill_from(journal, 31, 150)
    clean(journal, START + 150 * HOUR)
    assert count(journal, "rounds") == 48
    assert faults(journal) == []


@on_sqlite
def test_a_clean_up_under_a_clock_ahead_leaves_the_lookback(journal: Journal) -> None:
    fill(journal, 60)
    ahead = START + 9999 * HOUR
    with journal.store.read() as connection:
        block = connection.execute(text("SELECT MAX(block) FROM rounds")).scalar_one()
    play_at(journal, 999, ahead, block + 25)
    clean(journal, ahead + 60)
    assert count(journal, "rounds") >= 2 * 24
    assert faults(journal) == []


def fill_from(journal: Journal, first: int, last: int) -> None:
    for hour in range(first, last):
        play(journal, PaidRecall(), hour, START + hour * HOUR, TEXTS)


def play_at(journal: Journal, number: int, at: float, block: int) -> None:
    """A round whose clock and block disagree."""
    play(journal, PaidRecall(), number, at, TEXTS, block)
