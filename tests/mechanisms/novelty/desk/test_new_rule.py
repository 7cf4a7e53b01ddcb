"""The rule of the default parameters at the desk, from end to end: in a new store, and in one that 0.2.0 made."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import select

from mechanisms.novelty.desk.books import check_books
from mechanisms.novelty.desk.desks import KEY, OTTERS
from mechanisms.novelty.desk.tiny_senses import HashEmbedder, TinySenses
from weighbeam.core.quantise import unit_millionths
from weighbeam.mechanisms.novelty.desk.audit import audit_store
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.known import select_owners_of
from weighbeam.mechanisms.novelty.desk.opening import open_novelty, view_kept
from weighbeam.mechanisms.novelty.desk.record import select_record
from weighbeam.mechanisms.novelty.facts import parse_facts, value_contribution
from weighbeam.mechanisms.novelty.known import read_known
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.tables import contributions
from weighbeam.network.receipts import check_receipt
from weighbeam.senses.local import LocalSenses

TOKEN = 1_000_000_000
OLD = Path(__file__).with_name("store_0_2_0.sql")
"""Made by the code of 0.2.0 with vectors by hash: two texts paid, one held, nothing known of facts and runs."""
WHOLE = (
    "Ada sold the red boat to Bob before the storm came. The old harbour was built when herring still filled the bay. "
    "Fishermen from three villages shared the cost of the stone pier."
)
CLAIM = "Marie won against Helen in the final of the chess tournament last spring."


def find_faults(path: Path) -> list[str]:
    store = view_kept(str(path))
    with store.read() as connection:
        _, faults = audit_store(connection, path, KEY.address, deep=True)
        found = list(faults)
    store.close()
    return found


def replay(desk: NoveltyDesk) -> dict[int, int]:
    """Units of each contribution again, from its recorded facts alone."""
    with desk.store.read() as connection:
        record = select_record(connection)
        kept = {id: parse_facts(row["facts"]) for id, row in record.facts.items()}
        rows = [dict(row) for row in record.contributions]
    return {
        row["id"]: value_contribution(row["micro"] or 0, kept.get(row["id"]), NoveltyParams()).units for row in rows
    }


def test_the_default_rule_from_submission_to_audit(tmp_path: Path, senses: LocalSenses) -> None:
    desk = open_novelty(str(tmp_path / "novelty.db"), KEY, senses=senses)
    given = {
        "whole": ("ada", WHOLE),
        "claim": ("cleo", CLAIM),
        "exchanged": ("bob", "Helen won against Marie in the final of the chess tournament last spring."),
        "part": ("bob", "Fishermen from three villages shared the cost of the stone pier."),
        "window": ("eve", "from three villages"),
        "recombined": ("dan", "Fishermen from three villages shared the cost. Ada sold the red boat to Bob."),
        "reworded": ("dan", "Last spring Marie defeated Helen in the chess tournament's final."),
        "respelt": ("eve", "Marie won against Hxelen in the lanif of the ch3ss tournment last sprіng."),
        "new": ("bob", "Glaciers grind the rock below them to a flour that colours the lakes turquoise."),
    }
    receipts = {name: desk.submit(*one) for name, one in given.items()}
    units = {name: receipt["units"] for name, receipt in receipts.items()}
    assert units["whole"] == units["claim"] == 100 * TOKEN
    assert [units[name] for name in ("part", "window", "recombined", "respelt")] == [0] * 4
    assert units["reworded"] < 10 * TOKEN
    assert 0 < units["exchanged"] <= 10 * TOKEN
    assert units["new"] == 100 * TOKEN
    for receipt in receipts.values():
        check_receipt(receipt, KEY.address)
        assert len(receipt["facts"]) == 64
    assert replay(desk) == {receipt["id"]: receipt["units"] for receipt in receipts.values()}
    with desk.store.read() as connection:
        assert list(check_books(connection)) == []
    desk.store.close()
    assert find_faults(tmp_path / "novelty.db") == []


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "novelty.db") as db:
        db.executescript(OLD.read_text())
    return tmp_path / "novelty.db"


def test_a_store_of_0_2_0_goes_on_by_the_new_rule(old: Path) -> None:
    with sqlite3.connect(old) as db:
        before = db.execute("SELECT id, status, units, micro, receipt FROM contributions ORDER BY id").fetchall()
    desk = open_novelty(str(old), KEY, senses=TinySenses())
    with desk.store.read() as connection:
        first = read_known(str(connection.scalar(select(contributions.c.text).where(contributions.c.id == 1))))
        assert set(select_owners_of(connection, list(first.list_kept())).values()) == {1}
    assert desk.submit("zoe", f"{OTTERS} So they say.")["units"] < 50 * TOKEN
    assert desk.submit("zoe", "the current does not")["units"] == 0
    new = desk.submit("zoe", "Glaciers grind the rock below them to a flour that colours the lakes turquoise.")
    assert new["units"] == 100 * TOKEN
    assert "facts" in new
    with desk.store.read() as connection:
        assert list(check_books(connection)) == []
    desk.store.close()
    assert find_faults(old) == []
    with sqlite3.connect(old) as db:
        after = db.execute("SELECT id, status, units, micro, receipt FROM contributions ORDER BY id").fetchall()
    assert after[: len(before)] == before
    assert [row[2] for row in before] == [100 * TOKEN] * 3


class TopicEmbedder(HashEmbedder):
    """A text is made of what its first three words are about, and of itself."""

    id = "topics"

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        drawn = [super(TopicEmbedder, self).embed([*text.split()[:3], text]) for text in texts]
        return unit_millionths(np.stack([rows.sum(axis=0) for rows in drawn]).astype(np.float64))


class TopicSenses(TinySenses):
    embedder = TopicEmbedder()


def open_topics(folder: Path) -> NoveltyDesk:
    params = {"gate": "off", "second_look": False, "parts": False}
    return open_novelty(str(folder / "novelty.db"), KEY, params, senses=TopicSenses())


def test_worthless_contributions_do_not_push_kin_out(tmp_path: Path) -> None:
    desk = open_topics(tmp_path)
    assert desk.submit("ada", "otters kelp sleep while tides turn")["units"] == 100 * TOKEN
    desk.submit("bob", "bridges steel summer grow longer")
    spam = ["bridges steel summer grow longer" + "!" * number for number in range(1, 102)]
    desk.take_in([desk.prepare("ada", text) for text in spam])
    assert desk.submit("ada", "otters kelp drift when storms come")["units"] < TOKEN
    desk.store.close()
