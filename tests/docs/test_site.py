"""The site builds without a word of complaint, holds every page, and no link of it leads nowhere or loads from afar."""

import importlib.util
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests_root import ROOT

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
TOLD = ("canonical", "prev", "next", "alternate")


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(given["id"] or "")
        if tag == "a" and given.get("href"):
            self.links.add(given["href"] or "")
        if tag in LOADED and given.get(LOADED[tag]) and given.get("rel") not in TOLD:
            self.loads.add(given[LOADED[tag]] or "")


def build_site(folder: Path) -> dict[Path, Page]:
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "tools/docs/make_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "No issues found" in module.build(folder)
    return {path: Page(path.read_text("utf-8")) for path in folder.rglob("site/**/*.html") if path.name != "404.html"}


def list_nav(entries: list) -> Iterator[str]:
    for entry in entries:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else list_nav(value)


def test_every_page_is_in_the_navigation_once() -> None:
    named = list(list_nav(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    there = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(named) == sorted(there)


def test_every_page_lies_in_the_folder_that_its_group_is_called() -> None:
    nav = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    for group in nav:
        for title, entries in group.items():
            pages = [page for page in list_nav(entries) if page != "index.md"]
            assert {page.partition("/")[0] for page in pages} == {title.lower()}
    assert {path.name for path in (ROOT / "docs").iterdir() if path.is_file()} == {"index.md", "site.css"}


def find_lost(pages: dict[Path, Page]) -> list[tuple[str, str]]:
    """Links and anchors of ours that lead nowhere."""
    lost = []
    for path, page in pages.items():
        for link in sorted(page.links | page.loads):
            aim = urlsplit(link)
            if aim.scheme or aim.netloc:
                continue
            target = (path.parent / unquote(aim.path)).resolve() if aim.path else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else {unquote(aim.fragment)}
            if not target.exists() or (aim.fragment and unquote(aim.fragment) not in anchors):
                lost.append((path.name, link))
    return lost


def test_the_site_builds_and_every_link_and_anchor_leads_somewhere(tmp_path: Path) -> None:
    pages = build_site(tmp_path)
    assert len(pages) > 60
    assert find_lost(pages) == []
    assert {link for page in pages.values() for link in page.loads if urlsplit(link).netloc} == set()
