"""Heads: signed with every commit, on top of the one before, and witnessed by a file."""

import shutil
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import delete, update

from engine.recall import find, play
from postgres import on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.head import (
    Head,
    HeadSigner,
    list_witnesses,
    load_head,
    parse_head,
    select_head,
    sign_heads,
)
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.proof.prove import Pins, ProofSummary, parse_entry, prove
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.network.keys import Hotkey
from weighbeam.store import tables
from weighbeam.store.database import Store

ALICE, BOB = Hotkey.from_uri("//Alice"), Hotkey.from_uri("//Bob")
START, HOUR = 1_800_000_000.0, 3600.0
TEXTS = {"a": "tide moon", "b": "tide", "c": None}


def open_signed(url: str, file: Path | None = None, key: Hotkey = ALICE) -> Journal:
    store = Store(url)
    sign_heads(store, HeadSigner(key, lambda: START, file=file))
    return Journal(store)


def play_hours(journal: Journal, hours: range) -> None:
    for hour in hours:
        play(journal, KeywordRecall(), hour, START + hour * HOUR, TEXTS)


def newest(store: Store) -> Head:
    with store.read() as connection:
        head = select_head(connection)
    assert head is not None
    return head


def said(summary: ProofSummary) -> str:
    return "; ".join(f"{one.ref}: {one.fault}" for one in summary.faults)


def test_a_head_signs_every_entry_and_alert(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(3))
    before = newest(journal.store)
    Alerts(journal.store, lambda: START).tell("clock_skew", "warning", "late")
    head = newest(journal.store)
    assert (before.sequence, head.sequence, head.number) == (3, 3, before.number + 1)
    assert head.find_fault() is None
    assert head.sums["alerts"][0] == 1
    found = prove(journal.store, find, Pins(ALICE.address))
    assert (said(found), found.signer, found.rounds) == ("", ALICE.address, 3)


def test_a_cut_tail_is_found_and_nothing_is_signed_on_top_of_it(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(3))
    with journal.store.write() as connection:
        connection.execute(delete(tables.entries).where(tables.entries.c.sequence == 3))
    assert "the chain ends at entry 2, head 4 signs entry 3" in said(prove(journal.store, find))
    with pytest.raises(WeighbeamError, match="not what its last head signed"):
        play(journal, KeywordRecall(), 3, START + 3 * HOUR, TEXTS)
    with pytest.raises(WeighbeamError) as refused:
        sign_heads(Store(store_url), HeadSigner(ALICE, lambda: START))
    assert refused.value.code == "journal_differs"


def test_a_row_that_is_slipped_in_with_its_seal_is_not_signed(store_url: str) -> None:
    """Whoever writes to the database can make seal and sum, but the head says what the sum was before."""
    journal, stranger = open_signed(store_url), Store(store_url)
    alerts = Alerts(journal.store, lambda: START)
    alerts.tell("clock_skew", "warning", "ours")
    Alerts(stranger, lambda: START).tell("clock_skew", "warning", "forged")
    head = newest(journal.store)
    alerts.tell("clock_skew", "warning", "ours again")
    assert newest(journal.store) == head
    assert "the seals of alerts are not those that were signed (2 rows, 1 signed)" in said(prove(journal.store, find))


@on_sqlite
def test_a_log_that_is_missing_is_found_by_the_file_beside_it(store_url: str, tmp_path: Path) -> None:
    """Rounds that are still in the log when the file alone is copied are gone without a trace in the file."""
    place = tmp_path / "live.db"
    journal = open_signed(f"sqlite:///{place}", tmp_path / "live.db.head")
    play_hours(journal, range(2))
    with journal.store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    play_hours(journal, range(2, 5))
    assert (tmp_path / "live.db-wal").stat().st_size > 0
    copy = tmp_path / "copy.db"
    shutil.copy(place, copy)
    assert said(prove(view_journal(str(copy)), find)) == ""
    shutil.copy(tmp_path / "live.db.head", tmp_path / "copy.db.head")
    found = prove(view_journal(str(copy)), find, Pins(heads=list_witnesses(str(copy))))
    assert "the newest entries or the log are missing" in said(found)
    with pytest.raises(WeighbeamError, match="the newest entries or the log are missing"):
        open_signed(f"sqlite:///{copy}", tmp_path / "copy.db.head")


def test_pins_say_whose_journal_it_must_be(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(2))
    assert f"expected {BOB.address}" in said(prove(journal.store, find, Pins(BOB.address)))
    head = newest(journal.store)
    assert said(prove(journal.store, find, Pins(entry=(2, head.hash)))) == ""
    assert "it was published as" in said(prove(journal.store, find, Pins(entry=(1, head.hash))))
    assert "does not hold entry 9" in said(prove(journal.store, find, Pins(entry=(9, head.hash))))
    assert parse_entry(f"2:{head.hash}") == (2, head.hash)


def test_a_checkpoint_of_a_stranger_is_found(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(60))
    now, averaging = START + 60 * HOUR, Averaging()
    clean_up(journal.store, now, averaging, BOB.address, BOB.sign)
    assert f"a checkpoint is signed by {BOB.address}, the journal by {ALICE.address}" in said(
        prove(journal.store, find)
    )


def test_a_journal_after_a_clean_up_is_sound_and_its_checkpoints_are_checked(store_url: str) -> None:
    journal = open_signed(store_url)
    for hours in (range(60), range(60, 90)):
        play_hours(journal, hours)
        clean_up(journal.store, START + hours.stop * HOUR, Averaging(), ALICE.address, ALICE.sign)
    assert said(prove(journal.store, find, Pins(ALICE.address))) == ""
    first = tables.checkpoints.c.sequence == 12
    with journal.store.write() as connection:
        assert connection.execute(update(tables.checkpoints).where(first).values(at=1.0)).rowcount == 1
    assert "checkpoints: checkpoint 12" in said(prove(journal.store, find))


def test_a_journal_without_a_head_is_a_fault(store_url: str) -> None:
    journal = Journal(Store(store_url))
    play_hours(journal, range(1))
    assert "the journal has no head" in said(prove(journal.store, find))


def test_a_journal_of_another_hotkey_is_refused(store_url: str) -> None:
    open_signed(store_url)
    with pytest.raises(WeighbeamError, match="this journal belongs to"):
        open_signed(store_url, key=BOB)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"name": 1}', b"\xff"])
def test_what_is_no_head_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "head").write_bytes(content)
    with pytest.raises(WeighbeamError, match="not the head of a journal"):
        load_head(tmp_path / "head")
    with pytest.raises(WeighbeamError, match="not the head of a journal"):
        parse_head(content)
