"""The desk: one atomic step, the later sees the earlier, the books always balance, what is answered is kept."""

import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from mechanisms.novelty.desk.books import check_books
from mechanisms.novelty.desk.tiny_senses import TinySenses
from postgres import Server, on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.accounts import (
    count_all,
    select_balances,
    select_contributor_balance,
    select_history,
    select_receipts,
)
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.desk.settlement import settle_held, withdraw
from weighbeam.mechanisms.novelty.desk.vector_corpus import VectorCorpus
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.tables import pieces
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import check_receipt
from weighbeam.senses.adapters.corpus.flat import FlatIndex
from weighbeam.senses.adapters.corpus.int8_bound import BoundIndex
from weighbeam.senses.adapters.corpus.open_index import GrowingIndex
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

NODE = Hotkey.from_uri("//Node", "ed25519")
TOKEN = 1_000_000_000
EACH_ALONE = NoveltyParams(second_look=False, parts=False, kin_similarity=2.0)
"""Texts of one mould are strangers by their vectors here, each with its own cap."""
SENTENCE = "Glaciers grind the rock below them to a flour that colours the lakes turquoise."
NOISE = "xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"
RACER = """
import sys
from mechanisms.novelty.desk.tiny_senses import TinySenses
from weighbeam.network.keys import Hotkey
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.store.database import Store
desk = open_desk(Store(sys.argv[1]), TinySenses(), Hotkey.from_uri("//Node", "ed25519"), scan=sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    print(desk.submit(sys.argv[2], f"Round {number} of the race is run on the hill behind the old harbour.")["status"])
"""


class Hand:
    """A clock set by hand."""

    at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture(params=["sqlite", "postgres", "pgvector"])
def make_store_url(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], str]]:
    """On each kind of database; on a server with the embedded index and with the server's own vectors."""
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path / 'store.db'}"
        return
    server: Server = request.getfixturevalue("postgres")
    if request.param == "pgvector":
        monkeypatch.setattr(
            "weighbeam.mechanisms.novelty.desk.desk.open_corpus", lambda store, size, _: VectorCorpus(store, size)
        )
    yield server.make_database
    server.drop_databases()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    made = Store(store_url)
    yield made
    with made.read() as connection:
        assert list(check_books(connection)) == []
    made.close()


@pytest.fixture(scope="module")
def senses() -> TinySenses:
    return TinySenses()


@pytest.fixture
def desk(store: Store, senses: TinySenses) -> NoveltyDesk:
    return open_desk(store, senses, NODE, EACH_ALONE, now=Hand())


def refusal(desk: NoveltyDesk, *given: object, **named: object) -> str:
    with pytest.raises(WeighbeamError) as caught:
        desk.submit(*given, **named)
    return caught.value.code


def test_a_receipt_verifies_offline_and_no_other(desk: NoveltyDesk) -> None:
    receipt = desk.submit("ada", SENTENCE)
    assert check_receipt(receipt) == NODE.address
    assert (receipt["status"], receipt["units"], receipt["nearest"], receipt["micro"]) == (
        "paid",
        100 * TOKEN,
        None,
        None,
    )
    assert SENTENCE not in str(receipt)
    for name in receipt:
        forged = {**receipt, name: "0" if name != "units" else receipt["units"] + 1}
        with pytest.raises(WeighbeamError, match="bad_receipt"):
            check_receipt(forged)
    for broken in (None, [], {}, {**receipt, "signature": "zz"}, {**receipt, "at": float("nan")}):
        with pytest.raises(WeighbeamError, match="bad_receipt"):
            check_receipt(broken)
    with pytest.raises(WeighbeamError, match="bad_receipt"):
        check_receipt(receipt, Hotkey.from_uri("//Other").address)


def test_check_writes_nothing_and_tells_what_submit_gives(desk: NoveltyDesk, store: Store) -> None:
    for text in ("near hill: the first of these lines", "near hill: the second of these lines", NOISE, SENTENCE):
        before = count_all(store)
        told = desk.check(text)
        assert count_all(store) == before
        given = desk.submit("ada", text)
        assert (told.status, told.units, told.nearest) == (given["status"], given["units"], given["nearest"])
        assert desk.check(text).status == "duplicate"


@pytest.mark.parametrize(
    "same",
    [
        SENTENCE.upper(),
        f"  {SENTENCE}\n",
        SENTENCE.replace(" ", "\u00a0\t"),
        SENTENCE.replace("fl", "\ufb02"),
        "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in SENTENCE),
        SENTENCE.replace("rock", "ro\u200bck").replace("lakes", "la\u00adkes"),
    ],
)
def test_the_same_text_in_another_form_is_a_duplicate(desk: NoveltyDesk, store: Store, same: str) -> None:
    first = desk.submit("ada", SENTENCE)
    again = desk.submit("bob", same)
    assert (again["status"], again["units"], again["nearest"], again["micro"]) == ("duplicate", 0, first["id"], 10**6)
    assert count_all(store)["pieces"] == 1
    assert select_contributor_balance(store, "bob") == {"contributor": "bob", "units": 0, "held": 0}


def test_what_cannot_be_taken_leaves_nothing(desk: NoveltyDesk, store: Store) -> None:
    texts = {
        "": "too_short",
        " \n\t": "too_short",
        "two words": "too_short",
        "?! ... --- !!! ???": "too_short",
        "x " * 500_000: "too_long",
        "\ufdfa " * 2000: "too_long",
        "a bell \x07 rings in here": "bad_text",
        "a zero \x00 byte in here": "bad_text",
        "half \ud800 a character in here": "bad_text",
    }
    for text, code in texts.items():
        assert refusal(desk, "ada", text) == code
    assert refusal(desk, "ada", 7) == "bad_text"
    for name in ("", " ada", "a\nb", "x" * 129, "\x00", 7, None):
        assert refusal(desk, name, SENTENCE) == "bad_contributor"
    for key in ("", "with blank", "x" * 129, "ä", 7):
        assert refusal(desk, "ada", SENTENCE, key=key) == "bad_key"
    assert set(count_all(store).values()) == {0}
    with pytest.raises(WeighbeamError, match="unknown_contributor"):
        select_contributor_balance(store, "ada")


def test_keys_make_retries_safe(desk: NoveltyDesk, store: Store) -> None:
    first = desk.submit("ada", SENTENCE, key="k-1")
    assert desk.submit("ada", SENTENCE, key="k-1") == first
    assert refusal(desk, "ada", "Another text under the same old key.", key="k-1") == "key_conflict"
    assert refusal(desk, "bob", SENTENCE, key="k-1") == "key_conflict"
    assert desk.submit("bob", SENTENCE, key="k-1", scope="another app")["status"] == "duplicate"
    unkeyed = desk.submit("cleo", "A line without any key, handed in twice.")
    assert desk.submit("cleo", "A line without any key, handed in twice.") == unkeyed
    assert count_all(store)["contributions"] == 3


def test_held_is_released_or_rejected_once(desk: NoveltyDesk, store: Store) -> None:
    good, bad = desk.submit("ada", NOISE), desk.submit("ada", NOISE[::-1])
    assert {good["status"], bad["status"]} == {"held"}
    assert select_contributor_balance(store, "ada") == {"contributor": "ada", "units": 0, "held": 200 * TOKEN}
    released = settle_held(desk, good["id"], "released", 1.0)
    assert settle_held(desk, good["id"], "released", 2.0) == released
    assert check_receipt(released) == NODE.address
    assert settle_held(desk, bad["id"], "rejected", 3.0)["status"] == "rejected"
    assert select_contributor_balance(store, "ada") == {"contributor": "ada", "units": 100 * TOKEN, "held": 0}
    for id, outcome in ((good["id"], "rejected"), (bad["id"], "released")):
        with pytest.raises(WeighbeamError, match="not_held"):
            settle_held(desk, id, outcome, 4.0)
    with pytest.raises(WeighbeamError, match="unknown_contribution"):
        settle_held(desk, 99, "released", 5.0)
    assert [row["status"] for row in select_history(store)] == ["rejected", "released"]
    assert select_receipts(store, good["id"]) == {"receipt": good, "settlement": released}
    assert count_all(store)["treasury"] == -100 * TOKEN


def test_the_gate_can_deny_or_be_off(store: Store, senses: TinySenses) -> None:
    deny = open_desk(store, senses, NODE, NoveltyParams(gate="deny"))
    assert refusal(deny, "ada", NOISE) == "implausible"
    assert count_all(store)["contributions"] == 0
    assert open_desk(store, senses, NODE, NoveltyParams(gate="off")).submit("ada", NOISE)["status"] == "paid"


def test_withdrawn_text_is_gone_and_never_paid_again(desk: NoveltyDesk, store: Store) -> None:
    receipt = desk.submit("ada", SENTENCE)
    desk.submit("bob", "A line of somebody else, which stays.")
    withdraw(desk, receipt["id"])
    row = select_history(store)[-1]
    assert (row["text"], row["withdrawn"], row["units"]) == (None, True, 100 * TOKEN)
    assert desk.submit("bob", SENTENCE)["status"] == "duplicate"
    if store.engine.dialect.name == "sqlite":
        folder = Path(str(store.engine.url.database)).parent
        assert all(SENTENCE.encode() not in file.read_bytes() for file in folder.iterdir())


def test_budgets_refuse_whole_and_come_back(store: Store, senses: TinySenses) -> None:
    clock = Hand()
    limits = PayLimits(per_day=250 * TOKEN, per_contributor=150 * TOKEN)
    desk = open_desk(store, senses, NODE, EACH_ALONE, limits=limits, now=clock)
    lines = [f"Line {number} stands for itself and resembles no other." for number in range(8)]
    assert desk.submit("ada", lines[0])["units"] == 100 * TOKEN
    assert refusal(desk, "ada", lines[1]) == "budget_spent"
    assert desk.submit("bob", NOISE)["status"] == "held"
    assert refusal(desk, "cleo", lines[1]) == "budget_spent"
    assert [row["contributor"] for row in select_balances(store)] == ["ada", "bob"]
    clock.at += 86_400
    assert desk.submit("ada", lines[1])["units"] == 100 * TOKEN
    clock.at -= 86_400
    assert refusal(desk, "ada", lines[2]) == "budget_spent"
    assert desk.submit("ada", lines[0].upper())["status"] == "duplicate"


def test_one_of_64_threads_is_paid(desk: NoveltyDesk, store: Store) -> None:
    gate, said = threading.Barrier(64), []

    def submit(number: int) -> None:
        gate.wait()
        said.append(desk.submit(f"user-{number}", SENTENCE)["status"])

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(said) == {"paid": 1, "duplicate": 63}
    assert count_all(store)["paid"] == 100 * TOKEN


def test_paraphrases_at_once_are_paid_by_the_earlier(desk: NoveltyDesk, store: Store) -> None:
    gate, said = threading.Barrier(16), []

    def submit(number: int) -> None:
        gate.wait()
        said.append(desk.submit(f"user-{number}", f"near hill: this is the line of number {number}"))

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ordered = sorted(said, key=lambda receipt: receipt["id"])
    assert ordered[0]["nearest"] is None
    assert all(receipt["nearest"] < receipt["id"] and receipt["units"] < TOKEN for receipt in ordered[1:])


def test_two_processes_share_a_store(store_url: str, request: pytest.FixtureRequest) -> None:
    Store(store_url).close()
    scan = "pgvector" if request.node.callspec.params["make_store_url"] == "pgvector" else "auto"
    run = [sys.executable, "-c", RACER, store_url]
    environment = {"PYTHONPATH": f"{Path(__file__).parents[3]}:src", "PATH": "/usr/bin:/bin"}
    racers = [
        subprocess.Popen([*run, name, scan], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("ada", "bob")
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    said = [racer.communicate(timeout=60)[0].split() for racer in racers]
    assert all({one, other} == {"paid", "duplicate"} for one, other in zip(*said, strict=True))
    assert len(said[0]) == 20
    store = Store(store_url)
    assert count_all(store)["pieces"] == 20
    with store.read() as connection:
        assert list(check_books(connection)) == []
    store.close()


def test_a_corpus_belongs_to_its_embedder(store: Store, senses: TinySenses) -> None:
    open_desk(store, senses, NODE)
    with pytest.raises(WeighbeamError, match="embedder_changed"):
        open_desk(store, LocalSenses(), NODE)


@pytest.mark.parametrize("damage", [256, 1, 255])
def test_a_damaged_piece_stops_payment(desk: NoveltyDesk, store: Store, senses: TinySenses, damage: int) -> None:
    desk.submit("ada", SENTENCE)
    with store.write() as connection:
        connection.execute(update(pieces).values(vector=bytes(damage)))
    again = open_desk(store, senses, NODE)
    assert refusal(again, "bob", "A line that resembles nothing else in here.") == "corrupt_corpus"
    assert count_all(store)["contributions"] == 1


def test_books_that_were_touched_are_told(desk: NoveltyDesk, store: Store) -> None:
    desk.submit("ada", SENTENCE)
    for change, undo in (
        (
            "UPDATE accounts SET units = units + 1 WHERE name = 'treasury'",
            "UPDATE accounts SET units = units - 1 WHERE name = 'treasury'",
        ),
        ("UPDATE novelty_ledger SET units = units + 1", "UPDATE novelty_ledger SET units = units - 1"),
        (
            "UPDATE novelty_ledger SET credit = 'contributor:eve'",
            "UPDATE novelty_ledger SET credit = 'contributor:ada'",
        ),
        ("UPDATE novelty_ledger SET sequence = 2", "UPDATE novelty_ledger SET sequence = 1"),
    ):
        with store.write() as connection:
            connection.exec_driver_sql(change)
            assert list(check_books(connection))
            connection.exec_driver_sql(undo)


def test_a_clock_far_ahead_locks_no_budget(store: Store, senses: TinySenses) -> None:
    clock = Hand()
    desk = open_desk(store, senses, NODE, EACH_ALONE, limits=PayLimits(per_contributor=150 * TOKEN), now=clock)
    clock.at += 600 * 86_400
    desk.submit("ada", "The first line was dated far in the future.")
    clock.at -= 600 * 86_400
    assert desk.submit("ada", "The second line has the day it was written.")["units"] == 100 * TOKEN
    assert refusal(desk, "ada", "A third line is too much for this day.") == "budget_spent"


def test_a_clock_in_whole_seconds_keeps_the_books(store: Store, senses: TinySenses) -> None:
    desk = open_desk(store, senses, NODE, now=lambda: 1000)
    desk.submit("ada", SENTENCE)
    with store.read() as connection:
        assert list(check_books(connection)) == []


def test_what_fails_after_the_insert_leaves_nothing(
    desk: NoveltyDesk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise WeighbeamError("wallet_locked", "no key")

    monkeypatch.setattr(Hotkey, "sign", fail)
    assert refusal(desk, "ada", SENTENCE) == "wallet_locked"
    assert set(count_all(store).values()) == {0}
    monkeypatch.undo()
    assert desk.submit("ada", SENTENCE)["status"] == "paid"


@on_sqlite
@pytest.mark.parametrize("fault", [MemoryError, KeyboardInterrupt, OSError])
def test_an_index_that_was_interrupted_is_built_anew(
    desk: NoveltyDesk, store: Store, senses: TinySenses, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException]
) -> None:
    """Whatever stops it between two rows: what is known stays known."""
    lines = [f"Line {number} stands for itself and resembles no other." for number in range(6)]
    for line in lines:
        desk.submit("ada", line)
    again = open_desk(store, senses, NODE)
    add = FlatIndex.add

    def stop(index: FlatIndex, rows: object) -> None:
        add(index, rows[:3])
        raise fault

    monkeypatch.setattr(FlatIndex, "add", stop)
    with pytest.raises(fault):
        again.check("near hill: another line altogether")
    monkeypatch.setattr(FlatIndex, "add", add)
    near = again.check(f"{lines[5]} ")
    assert near.status == "duplicate"
    assert again.submit("bob", "near hill: the first of them")["nearest"] is not None
    assert again.check("near hill: the second of them").nearest == 7


@on_sqlite
def test_a_withdrawal_waits_for_readers_and_tells(
    store_url: str, senses: TinySenses, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(f"{store_url}?timeout=0.1")
    desk = open_desk(store, senses, NODE)
    receipt = desk.submit("ada", SENTENCE)
    monkeypatch.setattr("weighbeam.store.database.ERASE_TRIES", 2)
    reader = sqlite3.connect(str(store.engine.url.database), isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM contributions").fetchone()
    with pytest.raises(WeighbeamError, match="a trace stays"):
        withdraw(desk, receipt["id"])
    reader.close()
    withdraw(desk, receipt["id"])
    store.close()
    folder = Path(str(store.engine.url.database)).parent
    assert all(SENTENCE.encode() not in file.read_bytes() for file in folder.iterdir())


@on_sqlite
@pytest.mark.parametrize("fault", [MemoryError, KeyboardInterrupt])
def test_a_switch_of_the_index_that_fails_forgets_no_neighbour(
    store: Store, senses: TinySenses, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException]
) -> None:
    monkeypatch.setattr("weighbeam.senses.adapters.corpus.open_index.SWITCH_ROWS", 20)
    monkeypatch.setattr(GrowingIndex.__init__, "__defaults__", (20,))
    desk = open_desk(store, senses, NODE)
    for number in range(19):
        desk.submit("ada", f"near hill: line {number} of those that were there first")
    add, calls = BoundIndex.add, []

    def stop(index: BoundIndex, rows: object) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise fault
        add(index, rows)

    monkeypatch.setattr(BoundIndex, "add", stop)
    desk.submit("ada", "near hill: the last line before the switch")
    with pytest.raises(fault):
        desk.check("near hill: what comes while it is switched")
    assert desk.check("near hill: what comes when it was switched").micro > 800_000
    assert len(calls) > 1
