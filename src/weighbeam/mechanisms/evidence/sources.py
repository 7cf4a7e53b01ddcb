"""Which data of the package a verdict on a URL rests on: every observation names them."""

from typing import Any

from weighbeam.mechanisms.evidence.known_hosts import ANSWER_ENGINES, REDIRECTORS, SEARCH_ENGINES
from weighbeam.mechanisms.evidence.suffixes import SUFFIXES


def describe_sources() -> dict[str, Any]:
    """Version and SHA-256 by name.

    >>> sorted(describe_sources())
    ['answer-engines', 'public-suffixes', 'redirectors', 'search-engines']
    """
    known = {
        hosts.name: {"version": hosts.version, "sha256": hosts.sha256}
        for hosts in (SEARCH_ENGINES, ANSWER_ENGINES, REDIRECTORS)
    }
    return {**known, "public-suffixes": {"version": SUFFIXES.version, "sha256": SUFFIXES.sha256}}
