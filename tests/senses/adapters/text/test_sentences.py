"""Sentence splitters: the rules of the specification, linear time, and Punkt as the original runs it."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.senses.adapters.text import sentences as punkt
from weighbeam.senses.adapters.text.sentences import AdaptiveSentences, RuleSentences
from weighbeam.senses.local import LocalSenses

RULES = RuleSentences()
PARAGRAPHS = [text for texts in load_topics().values() for text in texts][:12]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("(It rained.) We stayed.", ["(It rained.)", "We stayed."]),
        ("It is approx. 3.5 m. tall and e.g. 7 wide.", ["It is approx. 3.5 m. tall and e.g. 7 wide."]),
        ("J. R. Smith met Dr. Who. They left.", ["J. R. Smith met Dr. Who.", "They left."]),
        ("At 20 °C. Then it froze.", ["At 20 °C.", "Then it froze."]),
        ("wait... what? No... Yes.", ["wait... what?", "No...", "Yes."]),
        ("A title\n\nA text.\n \nMore", ["A title", "A text.", "More"]),
        ("one line\nnext line", ["one line\nnext line"]),
        ("他走了。她来了！「好。」再见", ["他走了。", "她来了！", "「好。」", "再见"]),
        ("Hadley v. Baxendale held. It did.", ["Hadley v. Baxendale held.", "It did."]),
        ("Costs 5.00. 7 remain.", ["Costs 5.00.", "7 remain."]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
    ],
)
def test_rules(text: str, expected: list[str]) -> None:
    assert RULES.split(text) == expected


@given(st.text() | st.lists(st.sampled_from(["A", "b", ". ", "!", "\n\n", '"', "。", " ", "Dr"])).map("".join))
def test_no_character_but_white_space_is_lost(text: str) -> None:
    assert "".join("".join(RULES.split(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("unit", [".", ". ", "\n ", '."', "\n\n", "。", "A. ", "a.b", ".\n", "…!?", ".'' "])
def test_hostile_texts_cost_linear_time(unit: str) -> None:
    start = time.process_time()
    RULES.split(unit * 200_000)
    assert time.process_time() - start < 3


def test_punkt_splits_as_the_original_does(senses: LocalSenses) -> None:
    splitter = senses.sentences("punkt")
    assert splitter.split("Dr. Smith left. He ran.") == ["Dr. Smith left.", "He ran."]
    assert splitter.digest.startswith("punkt-nltk-")


def test_rules_agree_with_punkt_on_most_borders(senses: LocalSenses) -> None:
    """Measured when the default was chosen: 96 % of borders, and most of the rest are Punkt's own slips."""
    splitter = senses.sentences("punkt")
    shared = every = 0
    for paragraphs in load_topics().values():
        for text in paragraphs:
            ours, theirs = _borders(text, RULES.split(text)), _borders(text, splitter.split(text))
            shared, every = shared + len(ours & theirs), every + len(ours | theirs)
    assert shared / every > 0.94


def _borders(text: str, sentences: list[str]) -> set[int]:
    at, found = 0, set()
    for sentence in sentences:
        at = text.index(sentence, at) + len(sentence)
        found.add(at)
    return found


def test_punkt_without_data_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(punkt, "CARRIER", "no-such-package-at-all")
    monkeypatch.setattr(punkt, "punkt_folder", lambda: Path("/nowhere"))
    monkeypatch.delitem(os.environ, "WEIGHBEAM_PUNKT", raising=False)
    with pytest.raises(WeighbeamError, match=r"no_punkt.*weighbeam setup"):
        punkt.find_punkt([])


def test_a_folder_that_is_named_and_holds_none_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "WEIGHBEAM_PUNKT", "/nowhere")
    for look in (punkt.check_punkt, punkt.PunktSentences):
        with pytest.raises(WeighbeamError, match=r"no_punkt.*/nowhere holds no .*WEIGHBEAM_PUNKT"):
            look()


def test_the_data_that_was_checked_is_the_data_that_splits(tmp_path: Path) -> None:
    """Whatever lies in the user's own folder."""
    other = tmp_path / punkt.PUNKT_DATA
    other.mkdir(parents=True)
    assert punkt.find_punkt([str(tmp_path)]) != tmp_path


def test_an_unknown_splitter_is_named(senses: LocalSenses) -> None:
    with pytest.raises(WeighbeamError, match="unknown_splitter"):
        senses.sentences("guess")


ADAPTIVE = AdaptiveSentences()
LOWER = "revenue rose by 4.5 percent in q3. costs fell, e.g. rents. was that all? no, margins held at 5 p.m. sharp. so"


def test_a_text_in_lower_case_has_sentences() -> None:
    assert RULES.split(LOWER) == [LOWER]
    assert ADAPTIVE.split(LOWER) == [
        "revenue rose by 4.5 percent in q3.", "costs fell, e.g. rents.", "was that all?",
        "no, margins held at 5 p.m. sharp.", "so",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["He paused... and left. She came.", '"Why?" asked Ann. Nobody knew.', *PARAGRAPHS])
def test_a_text_with_capitals_is_split_as_before(text: str) -> None:
    assert ADAPTIVE.split(text) == RULES.split(text)


def test_a_passage_in_lower_case_is_found_among_others() -> None:
    text = f"{'Capitals stand here. ' * 30}\n\n{LOWER * 20}\n\n{'Capitals stand here. ' * 30}"
    assert len(ADAPTIVE.split(text)) > len(RULES.split(text)) + 50


@pytest.mark.parametrize("unit", [". a", "a. ", "a b. ", ".\n", "A. b ", ".a. "])
def test_hostile_texts_cost_the_adaptive_splitter_linear_time(unit: str) -> None:
    start = time.process_time()
    ADAPTIVE.split(unit * 100_000)
    assert time.process_time() - start < 3


def test_the_digest_is_known_without_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.delenv("NLTK_DATA", raising=False)
    assert punkt.find_punkt_digest() == punkt.PunktSentences().digest
    usual = [folder for folder in punkt.list_nltk_folders() if folder in nltk.data.path]
    assert usual == punkt.list_nltk_folders()
