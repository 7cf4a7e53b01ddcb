"""The archive of pages, the statements and the labelled snippets hold what they promise."""

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

EVIDENCE = files("weighbeam.mechanisms.evidence")
SNIPPETS = Path(__file__).parent / "labelled_snippets.jsonl"
UNSEEN = set("head script style template noscript iframe object svg textarea del s".split())
VOID = set("area base br col embed hr img input link meta source track wbr".split())
INLINE = set("a abbr b cite code em i label small span strong sub sup time u".split())
ATTACKS = set("dropped_not changed_number stitched invented typography cut_clause copy_of_statement".split())


class Visible(HTMLParser):
    """The visible text of a page, simply: no styles from elsewhere, well-formed nesting."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.parts: list[str] = []

    @property
    def hidden(self) -> bool:
        return any(unseen for _, unseen in self.open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        keys = dict(attrs)
        style = (keys.get("style") or "").replace(" ", "")
        if tag not in VOID:
            self.open.append((tag, tag in UNSEEN or "hidden" in keys or "display:none" in style))
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag, f"</{tag}> closes something else"
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def read_json(*names: str) -> Any:
    return json.loads(EVIDENCE.joinpath(*names).read_text("utf-8"))


def read_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@cache
def entries() -> dict[str, dict[str, Any]]:
    return {entry["url"]: entry for entry in read_json("archive", "index.json")["pages"]}


@cache
def visible(url: str) -> str:
    parser = Visible()
    parser.feed(EVIDENCE.joinpath("archive", entries()[url]["file"]).read_text("utf-8"))
    parser.close()
    assert not parser.open, url
    return "".join(parser.parts)


@cache
def statements() -> dict[str, dict[str, Any]]:
    rows = read_lines(EVIDENCE.joinpath("statements", "statements.jsonl").read_text("utf-8"))
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


@cache
def snippets() -> list[dict[str, Any]]:
    return read_lines(SNIPPETS.read_text("utf-8"))


def domain(url: str) -> str:
    """The registered domain, with `example` as the suffix.

    >>> domain("https://talk.hiveandmeadow.example/threads/do-drones-dance")
    'hiveandmeadow.example'
    """
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])


def collapse(text: str) -> str:
    return " ".join(text.split())


def forms(text: str) -> list[str]:
    """Lower-case words, roughly as the matcher sees them.

    >>> forms("The Sun’s 30,000 °C, [3] a lithium–ion cell")
    ['the', "sun's", '30000', 'c', 'a', 'lithium', 'ion', 'cell']
    """
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    text = re.sub(r"\[\s*\d{1,3}\s*\]", " ", text)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return re.findall(r"\w+(?:'\w+)*", text)


def has_run(page: list[str], run: list[str]) -> bool:
    return f" {' '.join(run)} " in f" {' '.join(page)} "


def sentences(url: str) -> list[list[str]]:
    return [forms(part) for part in re.split(r"(?<=[.!?])(?:\[\d+\])?\s|\n", visible(url)) if part.strip()]


def test_index_names_files_that_parse() -> None:
    assert read_json("archive", "index.json")["version"] == 1
    assert len(entries()) == len(read_json("archive", "index.json")["pages"])
    for url, entry in entries().items():
        assert set(entry) <= {"url", "file", "status", "age_days", "hops", "date"}
        assert url.startswith("https://")
        assert domain(url).endswith(".example")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.get("date", "2026-01-01"))
        visible(url)
    on_disk = {f"pages/{path.name}" for path in EVIDENCE.joinpath("archive", "pages").iterdir()}
    assert on_disk == {entry["file"] for entry in entries().values()}


def test_there_are_enough_pages_and_domains() -> None:
    plain = [url for url, entry in entries().items() if entry["status"] == 200 and "hops" not in entry]
    assert len(plain) >= 44
    assert len({domain(url) for url in plain}) >= 24


def test_special_pages_are_there() -> None:
    status = Counter(entry["status"] for entry in entries().values())
    assert status[404] == 1
    assert status[503] == 1
    assert [url for url, entry in entries().items() if entry.get("age_days") == 12]
    assert [url for url in entries() if not visible(url).strip()]
    assert [url for url in entries() if "/search?" in url]
    assert [url for url in entries() if collapse(visible(url)).find("Search results for “") >= 0]
    for entry in entries().values():
        if "hops" in entry:
            assert entries()[entry["hops"][-1]["url"]]["file"] == entry["file"]
    assert max(len(entry.get("hops", [])) for entry in entries().values()) == 2


@pytest.mark.parametrize("name", ["blacklist", "approved"])
def test_lists_match_pages(name: str) -> None:
    listed = read_json("archive", "lists", f"{name}.json")
    assert (listed["list"], listed["effective"]) == (name, "2026-01-01")
    assert all(set(entry) == {"match", "reason", "added"} for entry in listed["entries"])
    matches = {entry["match"] for entry in listed["entries"]}
    assert matches & {domain(url) for url in entries()}


def test_statements_point_at_pages_of_two_domains() -> None:
    expected = Counter(row["expect"] for row in statements().values())
    assert set(expected) == {"supported", "refuted", "undecidable"}
    assert sum(expected.values()) >= 66
    assert min(expected.values()) >= 18
    for row in statements().values():
        assert set(row) == {"id", "statement", "expect", "pages", "topic"}
        assert 6 <= len(row["statement"].split()) <= 25, row["id"]
        assert all(url in entries() for url in row["pages"]), row["id"]
        assert len({domain(url) for url in row["pages"]}) >= 2, row["id"]


def test_no_statement_is_copied_from_a_page() -> None:
    pages = {url: (forms(visible(url)), [set(words) for words in sentences(url)]) for url in entries()}
    for row in statements().values():
        words = forms(row["statement"])
        for url, (page, parts) in pages.items():
            assert not has_run(page, words), (row["id"], url)
            closest = max((len(set(words) & part) / len(set(words) | part) for part in parts), default=0)
            assert closest < 0.7, (row["id"], url)


def test_labelled_excerpts_stand_on_their_pages() -> None:
    rows = [row for row in snippets() if "attack" not in row]
    assert len(rows) >= 150
    assert len({(row["statement_id"], row["excerpt"]) for row in rows}) == len(rows)
    for row in rows:
        assert set(row) == {"statement_id", "url", "excerpt", "stance"}
        assert row["stance"] in {"entailment", "contradiction", "neutral"}
        assert row["statement_id"] in statements()
        assert row["excerpt"] in collapse(visible(row["url"])), row
        assert 8 <= len(row["excerpt"].split()) <= 40, row


def test_labels_agree_with_what_the_statements_expect() -> None:
    wanted = {"supported": "entailment", "refuted": "contradiction", "undecidable": "neutral"}
    seen = Counter((row["statement_id"], row["stance"]) for row in snippets() if "attack" not in row)
    for row in statements().values():
        assert seen[row["id"], wanted[row["expect"]]] >= 2, row["id"]


def test_attacks_are_found_or_not_as_marked() -> None:
    rows = [row for row in snippets() if "attack" in row]
    assert len(rows) >= 40
    assert {row["attack"] for row in rows} == ATTACKS
    for row in rows:
        assert row["statement_id"] in statements()
        page = visible(row["url"])
        assert has_run(forms(page), forms(row["excerpt"])) is row["found"], row
        if not row["found"] or row["attack"] == "typography":
            assert row["excerpt"] not in collapse(page), row
