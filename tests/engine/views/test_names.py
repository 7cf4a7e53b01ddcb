"""A miner has a name, a uid and a hotkey; each finds it, and no name makes one miner pass for another."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbeam.chain.local.administer import register, set_names
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.names import MAX_NAME, clean_name, is_clean_name
from weighbeam.engine.views.names import CAST, CastAct, CastMember, NameBook, load_names, note_cast
from weighbeam.engine.weights.metagraphs import note_metagraph
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store
from weighbeam.store.memory import remember

ADA, BOB, EVE, NED = (Hotkey.from_uri(f"//names//{name}").address for name in ("ada", "bob", "eve", "ned"))
HOSTILE = "\u202e\u0007\u001b[31m<b>=cmd|' /C calc'!A0</b>\u200b\n" + "W" * 999


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    """A journal whose chain knows four miners; two call themselves the same, one attacks the reader."""
    file = ChainFile.create(tmp_path / "chain.sqlite")
    for hotkey in (ADA, BOB, EVE, NED):
        register(file, hotkey)
    set_names(file, {ADA: "ada", BOB: "twin", EVE: HOSTILE, NED: "twin"})
    chain = LocalChain(file, Hotkey.from_uri("//names//ada"), 0)
    graph, rules = asyncio.run(chain.metagraph()), asyncio.run(chain.rules())
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    note_metagraph(store, "chunking", graph, rules, time.time())
    yield store
    store.close()
    file.close()


def test_a_name_of_the_chain_is_known_beside_uid_and_hotkey(kept: Store) -> None:
    found = load_names(kept).find(ADA)
    assert (found.name, found.uid, found.hotkey) == ("ada", 0, ADA)
    assert (found.label, found.short) == ("ada · 0", f"{ADA[:6]}…{ADA[-5:]}")


def test_a_hostile_name_is_one_short_line_without_controls(kept: Store) -> None:
    name = load_names(kept).name(EVE)
    assert name is not None
    assert is_clean_name(name)
    assert len(name) <= MAX_NAME
    assert name.startswith("[31m<b>=cmd")
    assert not set(name) & set("\u202e\u200b\x07\x1b\n")


@pytest.mark.parametrize("text", ["\ufeff\u2066", "\u3164\u2800", "\ue000", b"\xff\xfe", 7, None, ["ada"]])
def test_what_shows_nothing_is_no_name(text: object) -> None:
    assert clean_name(text) is None


def test_marks_do_not_climb_out_of_their_line() -> None:
    assert clean_name("a" + "\u0301" * 30) == "\u00e1\u0301\u0301"


@pytest.mark.parametrize("given", [ADA, ADA[:8], f"{ADA[:6]}…{ADA[-5:]}", "0", "uid 0", "ada", " Ada ", "ADA"])
def test_each_of_them_finds_the_miner(kept: Store, given: str) -> None:
    assert load_names(kept).resolve(given) == ADA


def test_an_ambiguous_name_lists_who_may_be_meant(kept: Store) -> None:
    with pytest.raises(WeighbeamError) as told:
        load_names(kept).resolve("twin")
    assert told.value.code == "ambiguous_miner"
    assert all(part in told.value.message for part in ("2 miners", BOB, NED, "uid 1", "uid 3"))
    assert ADA not in told.value.message


def test_two_miners_of_one_name_are_told_apart(kept: Store) -> None:
    book = load_names(kept)
    assert book.find(BOB).name == book.find(NED).name == "twin"
    assert book.find(BOB).label != book.find(NED).label
    assert (book.resolve("1"), book.resolve("3")) == (BOB, NED)


def test_whoever_takes_a_uid_or_a_hotkey_as_a_name_is_not_found_by_it(kept: Store) -> None:
    book = load_names(kept, {EVE: "3", NED: ADA[:40]})
    assert book.resolve("3") == NED
    assert book.resolve(ADA) == ADA


def test_who_is_unknown_is_given_back(kept: Store) -> None:
    assert load_names(kept).resolve("nobody") == "nobody"
    assert load_names(kept).resolve("5") == "5"


def test_an_alias_comes_before_the_cast_and_the_cast_before_the_chain(kept: Store) -> None:
    acts = {"inference": CastAct("liar", "lies fluently")}
    note_cast(kept, {ADA: CastMember("actor", "hostile", acts), BOB: CastMember("actor-2", "honest")})
    book = load_names(kept, {BOB: "Our own"})
    assert (book.name(ADA), book.name(BOB), book.name(NED)) == ("actor", "Our own", "twin")
    found = book.find(ADA, "inference")
    assert (found.name, found.role, found.act) == ("liar", "hostile", acts["inference"])
    assert book.resolve("liar") == book.resolve("actor", "inference") == ADA


def test_a_cast_that_a_stranger_wrote_is_checked(kept: Store) -> None:
    rows = {
        ADA: {"name": "\u202e", "role": "honest"},
        BOB: {"name": "bob", "role": "<script>"},
        EVE: {"name": "eve\nadmin", "role": "hostile", "acts": {"chunking": ["x\x1b", 7], "inference": "no"}},
        NED: "nothing",
    }
    remember(kept, CAST, rows)
    cast = load_names(kept).cast
    assert cast == {EVE: CastMember("eve admin", "hostile", {"chunking": CastAct("x", "")})}


def test_a_journal_without_a_chain_has_no_names(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    assert load_names(store) == NameBook()
    store.close()
