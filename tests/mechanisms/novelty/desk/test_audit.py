"""An audit finds nothing in a sound store, and everything that was done to another."""

import json
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from mechanisms.novelty.desk.books import check_books
from mechanisms.novelty.desk.desks import KEY, OTTERS, fill_desk
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.audit import DeskAudit
from weighbeam.mechanisms.novelty.desk.opening import open_novelty, view_kept
from weighbeam.mechanisms.novelty.desk.record import select_record
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.local import LocalSenses


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> bytes:
    folder = tmp_path_factory.mktemp("audit")
    fill_desk(folder, senses).store.close()
    with sqlite3.connect(folder / "novelty.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / "novelty.db").read_bytes()


def find_faults(folder: Path, node: str | None = None) -> list[str]:
    store = view_kept(str(folder / "novelty.db"))
    with store.read() as connection:
        found = list(DeskAudit(select_record(connection), node, deep=True).find_faults())
    store.close()
    return found


def test_a_sound_store_has_no_fault(kept: bytes, tmp_path: Path) -> None:
    (tmp_path / "novelty.db").write_bytes(kept)
    assert find_faults(tmp_path) == find_faults(tmp_path, KEY.address) == []


def test_who_signed_can_be_told(kept: bytes, tmp_path: Path) -> None:
    (tmp_path / "novelty.db").write_bytes(kept)
    faults = find_faults(tmp_path, "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY")
    assert len(faults) == 8
    assert all(f"signed by {KEY.address}" in fault for fault in faults)


def test_other_parameters_are_known_by_their_hash(kept: bytes, tmp_path: Path, senses: LocalSenses) -> None:
    (tmp_path / "novelty.db").write_bytes(kept)
    desk = open_novelty(str(tmp_path / "novelty.db"), KEY, NoveltyParams(max_reward=7), senses=senses)
    assert desk.submit("cyd", "The moon moves a few centimetres away from the earth every year.")["units"] == 7 * 10**9
    desk.store.close()
    assert find_faults(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE novelty_ledger SET units = units + 1 WHERE sequence = 1", "entry 1 does not match its hash"),
        ("DELETE FROM novelty_ledger WHERE sequence = 2", "entry 3 does not follow"),
        ("UPDATE accounts SET units = units + 5 WHERE name = 'contributor:ada'", "account contributor:ada holds"),
        ("UPDATE accounts SET units = units + 5 WHERE name = 'contributor:ada'", "the accounts are off by 5"),
        ("UPDATE contributions SET units = units * 2 WHERE id = 1", "contribution 1: it got 200000000000 units"),
        ("UPDATE contributions SET units = units * 2 WHERE id = 1", "contribution 1: its receipt says another units"),
        ("UPDATE contributions SET micro = 700000 WHERE id = 2", "contribution 2: its receipt says another micro"),
        ("UPDATE contributions SET micro = 700000 WHERE id = 2", "it was paid for 700000 millionths"),
        ("UPDATE contributions SET contributor = 'eve' WHERE id = 1", "its entries in the ledger differ"),
        ("UPDATE contributions SET text = 'Something else was said.' WHERE id = 1", "its text does not match its hash"),
        ("UPDATE contributions SET text = NULL WHERE id = 1", "contribution 1: its text is missing"),
        ("UPDATE contributions SET status = 'paid' WHERE id = 4", "its entries in the ledger differ"),
        ("UPDATE contributions SET status = 'lost' WHERE id = 1", "its status is 'lost'"),
        ("UPDATE contributions SET units = 'many' WHERE id = 1", "contribution 1: its receipt says another units"),
        ("UPDATE contributions SET nearest = 9 WHERE id = 2", "its nearest is 9, which came later"),
        ("UPDATE contributions SET receipt = '{' WHERE id = 1", "contribution 1: this receipt differs from what"),
        ("DELETE FROM contributions WHERE id = 1", "a piece belongs to contribution 1, which is missing"),
        ("DELETE FROM forms WHERE contribution = 1", "contribution 1: 0 texts are known by it"),
        ("UPDATE forms SET contribution = 2 WHERE contribution = 1", "contribution 2: 2 texts are known by it"),
        ("DELETE FROM pieces WHERE id = 1", "contribution 1: it has 0 pieces, and says 1"),
        ("UPDATE pieces SET vector = substr(vector, 1, 100) WHERE id = 1", "piece 1 of contribution 1 is damaged"),
        ("UPDATE pieces SET crc = crc + 1 WHERE id = 1", "piece 1 of contribution 1 is damaged"),
        ("DELETE FROM settlements WHERE contribution = 5", "contribution 5: its entries in the ledger differ"),
        ("UPDATE settlements SET kind = 'released' WHERE contribution = 6", "its receipt says another status"),
        ("DELETE FROM memory WHERE key LIKE 'novelty:params%'", "the parameters under which it was paid are unknown"),
        ("UPDATE memory SET value = replace(value, '100.0', '90.0')", "do not match their hash"),
    ],
)
def test_what_was_changed_is_found(change: str, told: str, kept: bytes, tmp_path: Path) -> None:
    (tmp_path / "novelty.db").write_bytes(kept)
    with sqlite3.connect(tmp_path / "novelty.db") as db:
        assert db.execute(change).rowcount > 0
    faults = find_faults(tmp_path)
    assert [fault for fault in faults if told in fault], faults


def test_a_vector_changed_with_its_checksum_is_found_by_measuring_again(kept: bytes, tmp_path: Path) -> None:
    (tmp_path / "novelty.db").write_bytes(kept)
    with sqlite3.connect(tmp_path / "novelty.db") as db:
        (other,) = db.execute("SELECT vector FROM pieces WHERE id = 3").fetchone()
        db.execute("UPDATE pieces SET vector = ?, crc = ? WHERE id = 1", (other, zlib.crc32(other)))
    assert any("contribution 2: it was paid for" in fault for fault in find_faults(tmp_path))


def flip(vector: bytes) -> bytes:
    return vector[:7] + bytes([vector[7] ^ 0x10]) + vector[8:]


@pytest.mark.parametrize("harm", [flip, lambda vector: vector[:-1], lambda vector: b""])
def test_a_damaged_corpus_pays_nobody(
    harm: Callable[[bytes], bytes], kept: bytes, tmp_path: Path, senses: LocalSenses
) -> None:
    """The nearest neighbour could be the damaged one: whoever paid on would overpay."""
    (tmp_path / "novelty.db").write_bytes(kept)
    with sqlite3.connect(tmp_path / "novelty.db") as db:
        (vector,) = db.execute("SELECT vector FROM pieces WHERE id = 2").fetchone()
        db.execute("UPDATE pieces SET vector = ? WHERE id = 2", (harm(vector),))
    desk = open_novelty(str(tmp_path / "novelty.db"), KEY, senses=senses)
    for act in (lambda text: desk.submit("cyd", text), desk.check):
        with pytest.raises(WeighbeamError, match=r"corrupt_corpus: piece 2 .* \(restore a backup\)"):
            act("The moon moves a few centimetres away from the earth every year.")
    with desk.store.read() as connection:
        assert list(check_books(connection)) == []
    assert desk.submit("cyd", OTTERS)["status"] == "duplicate"


def test_a_record_that_is_no_json_any_more_is_a_fault_of_the_store(kept: bytes, tmp_path: Path) -> None:
    from weighbeam.mechanisms.novelty.desk.accounts import select_receipts

    (tmp_path / "novelty.db").write_bytes(kept)
    with sqlite3.connect(tmp_path / "novelty.db") as db:
        (text,) = db.execute("SELECT receipt FROM contributions WHERE id = 1").fetchone()
        assert json.loads(text)["id"] == 1
        db.execute("UPDATE contributions SET receipt = ? WHERE id = 1", (text[:40],))
    with pytest.raises(WeighbeamError, match="store_fault: a record is damaged"):
        select_receipts(view_kept(str(tmp_path / "novelty.db")), 1)


def audit_code(folder: Path) -> str:
    try:
        return "faults" if find_faults(folder) else "sound"
    except WeighbeamError as fault:
        return fault.code


def test_any_damage_to_the_file_ends_in_a_clear_error(kept: bytes, tmp_path: Path) -> None:
    """Every 4 KB page in turn is overwritten: an audit finds faults or refuses, and never breaks."""
    codes = []
    for page in range(0, len(kept) // 4096, 3):
        harmed = bytearray(kept)
        harmed[page * 4096 : page * 4096 + 2000] = b"\xa5" * 2000
        folder = tmp_path / str(page)
        folder.mkdir()
        (folder / "novelty.db").write_bytes(bytes(harmed))
        codes.append(audit_code(folder))
    assert set(codes) <= {"sound", "faults", "store_fault", "store_unusable"}
    assert len([code for code in codes if code != "sound"]) > 5
