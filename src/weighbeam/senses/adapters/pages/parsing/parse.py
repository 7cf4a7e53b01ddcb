"""A body to everything a page says. Pure; run by `worker` where it can be stopped."""

import hashlib
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from weighbeam.senses.adapters.pages.limits import HTML, ParserLimits
from weighbeam.senses.adapters.pages.outcome import media_type
from weighbeam.senses.adapters.pages.parsing.charset import decode_text
from weighbeam.senses.adapters.pages.parsing.facts import (
    asks_noindex,
    find_date,
    find_moment,
    find_title,
    has_filled_search,
)
from weighbeam.senses.adapters.pages.parsing.lines import TextLines
from weighbeam.senses.adapters.pages.parsing.visible import extract_visible


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page without its way here. `full` is None if nothing is hidden."""

    title: str
    headings: tuple[str, ...]
    search_box: bool
    noindex: bool
    date: str | None
    published: float | None
    text: str
    full: str | None
    user_spans: tuple[tuple[int, int], ...]
    body_sha256: str
    text_sha256: str


def parse_page(body: bytes, content_type: str, robots: str = "", limits: ParserLimits | None = None) -> ParsedPage:
    """Read a decoded body; `TooLarge` or `Unreadable` beyond the limits.

    >>> parse_page(b"<h1>Water</h1><p>is H<sub>2</sub>O<s>2</s>", "text/html").text
    'Water\\nis H2O'
    """
    limits = limits or ParserLimits()
    html = media_type(content_type) in HTML
    characters = decode_text(body, content_type, html)
    said = _parse_html(characters, robots, limits) if html else _parse_plain(characters, robots, limits)
    return ParsedPage(
        **said,
        body_sha256=hashlib.sha256(body).hexdigest(),
        text_sha256=hashlib.sha256(said["text"].encode()).hexdigest(),
    )


def _parse_html(characters: str, robots: str, limits: ParserLimits) -> dict[str, Any]:
    tree = LexborHTMLParser(characters, options=LexborDocumentOptions.WO_EVENTS.value, scripting=True)
    root = tree.root
    if root is None:
        return _parse_plain("", robots, limits)
    seen = extract_visible(root, limits)
    full = extract_visible(root, limits, hidden_too=True).text if seen.hidden else seen.text
    return {
        "title": find_title(tree),
        "headings": tuple(seen.headings),
        "search_box": has_filled_search(tree),
        "noindex": asks_noindex(tree, robots),
        "date": find_date(tree),
        "published": find_moment(tree),
        "text": seen.text,
        "full": None if full == seen.text else full,
        "user_spans": tuple(seen.user_spans),
    }


def _parse_plain(characters: str, robots: str, limits: ParserLimits) -> dict[str, Any]:
    lines = TextLines(limits.characters)
    lines.add(characters, keep_lines=True)
    return {
        "title": "",
        "headings": (),
        "search_box": False,
        "noindex": asks_noindex(LexborHTMLParser(""), robots),
        "date": None,
        "published": None,
        "text": lines.finish(),
        "full": None,
        "user_spans": (),
    }
