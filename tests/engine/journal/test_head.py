"""Heads: signed with every commit, on top of the one before, and witnessed by a file."""

import shutil
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import delete, select, update

from engine.recall import find, play
from postgres import on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.head import (
    JOURNAL_ROWS,
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
from weighbeam.engine.rounds.recovery import finish_rounds
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.network.keys import Hotkey
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import collect_seals, insert_sealed, select_sums, touch

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
    assert "the chain ends at entry 2, head 7 signs entry 3" in said(prove(journal.store, find))
    with pytest.raises(WeighbeamError, match="differs from its last signed head"):
        play(journal, KeywordRecall(), 3, START + 3 * HOUR, TEXTS)
    with pytest.raises(WeighbeamError) as refused:
        open_signed(store_url)
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
    assert "the seals of alerts differ from those that were signed (2 rows, 1 signed)" in said(
        prove(journal.store, find)
    )


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
    assert "its newest entries or its log are missing" in said(found)
    with pytest.raises(WeighbeamError, match="its newest entries or its log are missing"):
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
    with pytest.raises(WeighbeamError, match="this store belongs to"):
        open_signed(store_url, key=BOB)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"name": 1}', b"\xff"])
def test_what_is_no_head_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "head").write_bytes(content)
    with pytest.raises(WeighbeamError, match="not the head of a journal"):
        load_head(tmp_path / "head")
    with pytest.raises(WeighbeamError, match="not the head of a journal"):
        parse_head(content)


def tell(journal: Journal, text: str = "ours") -> None:
    """An honest write of a running validator; one that is refused is logged."""
    Alerts(journal.store, lambda: START).tell("clock_skew", "warning", text)


def forge_alert(store: Store) -> None:
    """A row, its seal and the sums as our own code makes them, and a head that says so without a signature."""
    with store.write() as connection:
        insert_sealed(connection, tables.alerts, {"at": 1.0, "code": "forged", "level": "info", "text": "forged"})
    with store.write() as connection:
        sums = select_sums(connection, JOURNAL_ROWS)
        connection.execute(update(tables.heads).where(tables.heads.c.name == "journal").values(sums=sums))


def test_a_running_validator_does_not_sign_on_top_of_a_forged_head(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(2))
    tell(journal)
    forge_alert(Store(store_url))
    tell(journal, "next")
    assert "forged" in said(prove(journal.store, find))
    with pytest.raises(WeighbeamError, match="forged"):
        open_signed(store_url)


def test_a_head_that_is_removed_is_not_begun_again(store_url: str, tmp_path: Path) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(2))
    with Store(store_url).write() as connection:
        connection.execute(delete(tables.heads))
    tell(journal)
    assert "the journal has no head" in said(prove(journal.store, find))
    with pytest.raises(WeighbeamError, match="it has no head"):
        open_signed(store_url)


def test_an_entry_that_somebody_else_appends_is_not_signed(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(2))
    play(Journal(Store(store_url)), KeywordRecall(), 2, START + 2 * HOUR, TEXTS)
    with pytest.raises(WeighbeamError, match="differs from its last signed head"):
        play_hours(journal, range(3, 4))
    assert "the chain ends at entry 3, head" in said(prove(journal.store, find))


def test_a_row_that_takes_the_place_of_a_removed_one_is_no_disguise(store_url: str) -> None:
    """SQLite gives the number of a removed row to the next."""
    journal = open_signed(store_url)
    tell(journal)
    tell(journal, "removed")
    with Store(store_url).write() as connection:
        connection.execute(delete(tables.alerts).where(tables.alerts.c.text == "removed"))
    tell(journal, "next")
    assert "alerts: row [2] was" in said(prove(journal.store, find))


def test_a_forged_round_is_not_scored_after_a_crash(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(2))
    with Store(store_url).write() as connection:
        row = connection.execute(select(tables.rounds).limit(1)).mappings().one()
        forged = {**row, "id": "forged", "state": "observed", "sequence": None}
        connection.execute(tables.rounds.insert().values(**forged))
    assert "observed: forged is not what was sealed" in said(prove(journal.store, find))
    assert finish_rounds(journal, {"keyword-recall": KeywordRecall()}) == []
    assert said(prove(journal.store, find)) == ""


def test_nothing_is_built_on_forged_standings(store_url: str) -> None:
    """Neither a round nor a checkpoint after it."""
    journal = open_signed(store_url)
    play_hours(journal, range(2))
    with Store(store_url).write() as connection:
        connection.execute(update(tables.standings).values(value=5.0))
    with pytest.raises(WeighbeamError, match="differ from those of its newest round"):
        play_hours(journal, range(2, 3))
    assert "standings table differs from what the rounds give" in said(prove(journal.store, find))


def test_a_clean_up_does_not_sign_for_a_broken_chain(store_url: str) -> None:
    journal = open_signed(store_url)
    play_hours(journal, range(60))
    with Store(store_url).write() as connection:
        connection.execute(update(tables.entries).where(tables.entries.c.sequence == 3).values(hash="0" * 64))
    with pytest.raises(WeighbeamError, match="its hash does not match its content"):
        clean_up(journal.store, START + 60 * HOUR, Averaging(), ALICE.address, ALICE.sign)


def test_a_commit_that_fails_leaves_no_head_beside_the_store(store_url: str, tmp_path: Path) -> None:
    """Not even if another thread commits between signing and failing."""
    file = tmp_path / "journal.head"
    journal = open_signed(store_url, file)
    (signer,) = journal.store.signers
    with journal.store.write() as connection:
        touch(connection, "entries")
    committed = load_head(file)
    with pytest.raises(ZeroDivisionError):
        fail_after_signing(journal.store, signer)
    tell(journal)
    assert load_head(file).number == committed.number + 1
    assert said(prove(journal.store, find, Pins(heads=(load_head(file),)))) == ""


def fail_after_signing(store: Store, signer: HeadSigner) -> None:
    with store.engine.begin() as connection, collect_seals(connection) as pending:
        touch(connection, "entries")
        assert signer.before_commit(connection, pending) is not None
        raise ZeroDivisionError


def test_two_processes_with_one_hotkey_take_turns(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "journal.head"
    one = open_signed(store_url, file)
    other = open_signed(store_url, file)
    for hour in range(4):
        play(one if hour % 2 else other, KeywordRecall(), hour, START + hour * HOUR, TEXTS)
    assert said(prove(one.store, find, Pins(ALICE.address, (load_head(file),)))) == ""
