"""One glossary: in order, with every word used, and with the words of the code in it."""

import re
from typing import get_args

from tests_root import ROOT
from weighbeam.engine.rules.intents import State
from weighbeam.engine.rules.mode import MODES
from weighbeam.mechanism.records import Status

DOCS = ROOT / "docs"
(PAGE,) = DOCS.rglob("glossary.md")
ROWS = re.findall(r"^\| ([^|]+?) \| (.+) \|$", PAGE.read_text("utf-8"), re.M)[2:]
WORDS = [word for cell, _ in ROWS for word in cell.split(", ")]


def test_the_words_are_in_order_and_none_is_there_twice() -> None:
    keys = [cell.split(", ")[0].casefold() for cell, _ in ROWS]
    assert len(keys) > 70
    assert keys == sorted(keys)
    assert len(set(WORDS)) == len(WORDS)


def test_every_word_is_used_on_another_page() -> None:
    others = "\n".join(page.read_text("utf-8") for page in DOCS.rglob("*.md") if page != PAGE).casefold()
    assert [word for word in WORDS if not re.search(rf"\b{re.escape(word.casefold())}(s|es)?\b", others)] == []


def test_the_states_that_a_reader_meets_are_explained() -> None:
    page = PAGE.read_text("utf-8")
    names = {*MODES, *get_args(State), *get_args(Status)}
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", page)) == []


def test_no_page_says_that_a_seed_is_drawn_after_the_answers() -> None:
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    told = re.compile(r"(seed|draw\w*|phase)[^.]{0,80}\bafter\b[^.]{0,20}\banswers", re.I)
    assert [(page.name, found[0]) for page in pages if (found := told.search(page.read_text("utf-8")))] == []
