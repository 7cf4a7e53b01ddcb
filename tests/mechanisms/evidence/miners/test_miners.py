"""Honest evidence miners are paid for what they find; each trick is caught by its own code and pays less."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mechanisms.evidence.miners.evidence_rounds import HONEST, PARAMS, Played, ask, play
from weighbeam.app.miner import load_handler
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.excerpt.forms import parse_words
from weighbeam.mechanisms.evidence.miners import library
from weighbeam.mechanisms.evidence.miners.handlers import archive_answerer, hostile_answerer
from weighbeam.mechanisms.evidence.miners.library import VARIANTS
from weighbeam.mechanisms.evidence.miners.tricks import TRICKS
from weighbeam.mechanisms.evidence.task import find_archive, load_bank
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.local import LocalSenses

ROWS = [row for kind in ("supported", "refuted", "undecidable") for row in load_bank() if row["expect"] == kind][::3]
CODES = {
    "invalid": "invalid_response",
    "empty": "no_statements",
    "malformed-url": "malformed_url",
    "insecure": "non_https",
    "blacklisted": "blacklisted_domain",
    "inward": "forbidden_target",
    "search-url": "search_url",
    "short": "invalid_excerpt",
    "parrot": "too_similar",
    "newborn": "recent_domain",
    "gone": "page_gone",
    "unavailable": "page_unavailable",
    "results": "search_page",
    "forger": "fake_snippet",
    "inventor": "snippet_not_found",
    "unrelated": "unrelated_page",
    "copycat": "duplicate_statements",
    "stuffer": "snippet_not_found",
}
TASK = {"statement": load_bank()[0]["statement"], "max_snippets": PARAMS.max_snippets}


@pytest.fixture(scope="module")
def played(cache: Path) -> list[Played]:
    archive = find_archive()
    senses = LocalSenses(cache=cache, pages=f"archive:{archive}", lists=archive / "lists", extra_suffixes=("example",))
    return [play(row, senses) for row in ROWS]


def test_every_trick_but_hoarding_has_a_code() -> None:
    assert set(TRICKS) - set(CODES) == {"hoarder"}
    assert len(ROWS) == 25


@pytest.mark.parametrize("name", HONEST)
def test_what_honest_miners_quote_is_accepted(played: list[Played], name: str) -> None:
    reasons = Counter(reason for one in played if one.row["expect"] != "undecidable" for reason in one.reasons[name])
    assert reasons[None] >= 0.8 * reasons.total()
    assert set(reasons) <= {None, "unrelated_page"}, "nothing that costs anything"


def test_honest_miners_do_not_copy_each_other(played: list[Played]) -> None:
    assert not [one.row["id"] for one in played for name in HONEST if "duplicate_statements" in one.codes[name]]


@pytest.mark.parametrize("trick", sorted(CODES))
def test_each_trick_is_caught_by_its_code(played: list[Played], trick: str) -> None:
    assert [one.row["id"] for one in played if CODES[trick] not in one.codes[trick]] == []


@pytest.mark.parametrize("trick", sorted(set(CODES) - {"unrelated"}))
def test_no_trick_pays(played: list[Played], trick: str) -> None:
    for one in played:
        earned = [one.values[name] for name in HONEST]
        assert one.values[trick] <= 0
        assert all(one.values[trick] < value for value in earned if value > 0), one.row["id"]


@pytest.mark.parametrize("trick", ["hoarder", "unrelated"])
def test_two_tricks_pay_less_in_the_long_run(played: list[Played], trick: str) -> None:
    """Not on every statement: five good sentences of one approved page can be worth more than two weak sources, and
    the floor of relevance lets some strays pass."""
    means = {name: sum(one.values[name] for one in played) / len(played) for name in (*HONEST, trick)}
    assert all(means[trick] < 0.75 * means[name] for name in HONEST)


def ask_archive(variant: int, task: dict[str, Any] = TASK) -> list[dict[str, str]]:
    found: list[dict[str, str]] = ask(archive_answerer(find_archive(), variant), task)["snippets"]
    return found


def test_quotes_are_whole_sentences_as_they_stand_on_their_pages() -> None:
    pages = ArchivePages(find_archive())
    try:
        for row in ROWS:
            chosen = ask_archive(0, {"statement": row["statement"], "max_snippets": 3})
            assert 1 <= len(chosen) <= 3
            for snippet in chosen:
                assert snippet["excerpt"] in pages.read(snippet["url"]).text
                assert 8 <= len(parse_words(snippet["excerpt"])) <= 60
                assert snippet["excerpt"] != row["statement"]
    finally:
        pages.close()


def test_the_first_quotes_are_of_different_domains() -> None:
    for row in ROWS:
        chosen = library.open_library(find_archive()).choose(row["statement"], 2, 0)
        assert len({passage.domain for passage in chosen}) == len(chosen)


def test_variants_bring_different_words_and_a_statement_without_words_brings_none() -> None:
    told = [{snippet["excerpt"] for snippet in ask_archive(variant)} for variant in range(VARIANTS)]
    assert sum(map(len, told)) == len(set.union(*told))
    assert ask_archive(0, {"statement": "xylophonists"}) == []


def test_the_copycat_says_what_variant_0_says() -> None:
    assert ask(hostile_answerer("copycat"), TASK)["snippets"] == ask_archive(0)


def test_settings_name_evidence_miners(tmp_path: Path) -> None:
    senses = LocalSenses()
    for variant, name in enumerate(("archive", "archive#1", f"archive:{find_archive()}#2")):
        assert ask(load_handler("evidence", name, senses, tmp_path), TASK)["snippets"] == ask_archive(variant)
    assert ask(load_handler("evidence", "hostile:empty", senses, tmp_path), TASK) == {"snippets": []}
    for name, code in (
        ("archive#9", "bad_config"),
        ("archive#x", "bad_config"),
        (f"archive:{tmp_path}", "bad_archive"),
    ):
        with pytest.raises(WeighbeamError) as fault:
            load_handler("evidence", name, senses, tmp_path)
        assert fault.value.code == code
