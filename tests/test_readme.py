"""The README's numbers are those that were measured, and what it shows of the demo is what the demo printed."""

import re

import pytest

from tests_root import ROOT

README = (ROOT / "README.md").read_text("utf-8")
RESULTS = (ROOT / "benchmarks/RESULTS.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in README.partition("## Measured")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and "`" in line.rpartition("| ")[2]
]


def test_many_numbers_are_told() -> None:
    assert len(ROWS) >= 10


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_number_was_measured_by_the_part_it_names(row: list[str]) -> None:
    _, _, measured, word = row
    sections = {part.partition("\n")[0].lower(): part for part in RESULTS.split("\n## ")[1:]}
    found = "".join(text for title, text in sections.items() if word.strip("`") in title)
    told = re.findall(r"\d[\d.,]*\d|\d", re.sub(r"\([^)]*wanted\)", "", measured))
    assert told
    assert [number for number in told if not re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d,]|\.\d)", found)] == []


def test_the_excerpt_is_of_the_whole_transcript() -> None:
    shown = re.search("<!-- demo -->\n```text\n(.*?)\n```", README, re.S)
    assert shown is not None
    whole = (ROOT / "docs/start/demo.md").read_text("utf-8")
    assert [line for line in shown[1].splitlines() if line != "…" and line not in whole] == []


def test_as_many_attacks_pay_as_it_says() -> None:
    page = (ROOT / "docs/attacks/README.md").read_text("utf-8")
    pays = page.partition("## Pays")[2].partition("\n## ")[0].count("\n| [")
    (all_attacks,) = re.findall(r"(\d+) attacks of", page)
    assert f"of {all_attacks} attacks in the catalogue, {pays} [pay]" in " ".join(README.split())
