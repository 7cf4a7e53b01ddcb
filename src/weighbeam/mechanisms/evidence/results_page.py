"""Check 10 (spec § 8): does a page show search results?"""

from collections.abc import Sequence

from weighbeam.mechanisms.evidence.forms import read_forms

OPENINGS = tuple(
    read_forms(phrase)
    for phrase in (
        "search results",
        "results for",
        "showing results for",
        "you searched for",
        "your search for",
        "no results for",
        "no results found",
        "nothing matched your search",
        "we couldn't find any results",
    )
)


def is_results_page(titles: Sequence[str], search_box: bool, noindex: bool) -> bool:
    """The title or a heading says so, and the page has a filled search box or asks not to be indexed.

    >>> is_results_page(["Search Results: giza"], True, False), is_results_page(["Search results"], False, False)
    (True, False)
    """
    return (search_box or noindex) and any(_opens(read_forms(title)) for title in titles)


def _opens(forms: list[str]) -> bool:
    return any(forms[: len(opening)] == opening for opening in OPENINGS)
