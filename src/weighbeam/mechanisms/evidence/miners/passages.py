"""The sentences of an archive that an honest miner may quote, by the rules validators publish."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weighbeam.mechanisms.evidence.excerpt.forms import parse_words
from weighbeam.mechanisms.evidence.excerpt.text import split_sentences
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES
from weighbeam.mechanisms.evidence.url.lists import Lists, parse_lists
from weighbeam.mechanisms.evidence.url.search import is_results_page
from weighbeam.mechanisms.evidence.url.verdict import judge_url
from weighbeam.senses.adapters.lists import FolderRulebook
from weighbeam.senses.adapters.pages.archive.index import load_index
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.ports.page import Page

MIN_WORDS = 8
MAX_WORDS = 60
STATES = re.compile(r"[.!][\"'”’)]*$")
RULES = EvidenceParams()


@dataclass(frozen=True, slots=True)
class QuotablePassage:
    """A sentence as it stands on its page."""

    url: str
    domain: str
    text: str


def load_passages(folder: Path) -> list[QuotablePassage]:
    """Every sentence worth quoting, page by page. The folder's own lists say what is forbidden, if it has any."""
    pages = ArchivePages(folder)
    lists = _load_lists(folder / "lists")
    try:
        return [passage for saved in load_index(folder).pages for passage in _load_page(saved.url, pages, lists)]
    finally:
        pages.close()


def split_quotable(text: str, skip: tuple[tuple[int, int], ...] = ()) -> Iterator[str]:
    """Whole sentences of a fair length that state something; none that overlaps what is to be skipped.

    >>> list(split_quotable("Menu\\nIs it so? It is so, as all who looked have seen. Yes."))
    ['It is so, as all who looked have seen.']
    """
    for start, end in split_sentences(text):
        sentence = text[start:end].strip()
        fits = STATES.search(sentence) and MIN_WORDS <= len(parse_words(sentence)) <= MAX_WORDS
        if fits and not any(start < behind and first < end for first, behind in skip):
            yield sentence


def _load_page(url: str, pages: ArchivePages, lists: Lists) -> Iterator[QuotablePassage]:
    page = pages.read(url)
    verdict = judge_url(url, (), None, lists, RULES)
    if not verdict.ok or verdict.domain is None or not _is_source(page):
        return
    age = pages.age_days(verdict.domain)
    if age is None or age >= RULES.recent_days:
        yield from (QuotablePassage(url, verdict.domain, text) for text in split_quotable(page.text, page.user_spans))


def _is_source(page: Page) -> bool:
    """A page of its own: no detour to another one, and no list of search results."""
    results = is_results_page([page.title, *page.headings], page.search_box, page.noindex)
    return page.outcome == "read" and not page.redirects and not results


def _load_lists(folder: Path) -> Lists:
    rulebook = FolderRulebook(folder if folder.is_dir() else None)
    blacklist, approved = (list(rulebook.in_force(name).entries) for name in ("blacklist", "approved"))
    return parse_lists(blacklist, approved, list(BANK_SUFFIXES))
