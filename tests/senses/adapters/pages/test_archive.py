"""Saved pages read as live ones do, without a socket, and from nowhere but their folder."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from senses.adapters.pages.tls_servers import Network, page, reading, redirect, serve_site, watching_sockets
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.archive.folder import FolderRecorder
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.adapters.pages.live import load_pages
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool

URL = "https://www.example.org/"


def write_archive(folder: Path, *pages: dict, **others: object) -> Path:
    (folder / "index.json").write_text(json.dumps({"pages": pages, **others}))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.html").write_text("<title>A</title><h1>Known</h1><p>Light is fast.</p><p hidden>no</p>")
    (tmp_path / "b.txt").write_text("plain text")
    return write_archive(
        tmp_path,
        {"url": URL + "a", "file": "a.html", "age_days": 4000.5, "date": "2024-01-02"},
        {"url": URL + "b", "file": "b.txt", "content_type": "text/plain"},
        {"url": URL + "old", "status": 301, "hops": [{"url": URL + "a", "status": 200}], "file": "a.html"},
        {"url": URL + "gone", "status": 404},
        {"url": URL + "dead", "status": None, "outcome": "unreachable", "fault": "name"},
        {"url": URL + "lost", "file": "lost.html"},
        {"url": URL + "json", "file": "a.html", "content_type": "application/json"},
        ages={"young.example": 3.25, "unknown.example": None},
    )


@pytest.fixture
def archive(folder: Path, parsers: ParserPool) -> ArchivePages:
    return ArchivePages(folder, parsers)


def test_pages_are_read_by_url_without_a_socket(archive: ArchivePages) -> None:
    with watching_sockets() as watch:
        read = archive.read_all([URL + "a", "HTTPS://WWW.example.org/b#x", URL + "a"])
        other = archive.read("https://elsewhere.example/")
    assert (watch.connected, watch.looked_up) == ([], [])
    assert [page.outcome for page in read] == ["read", "read", "read"]
    assert (read[0].title, read[0].headings, read[0].date) == ("A", ("Known",), "2024-01-02")
    assert read[0].text == "Known\nLight is fast."
    assert read[0].full == "Known\nLight is fast.\nno"
    assert read[1].text == "plain text"
    assert (other.outcome, other.fault) == ("unreachable", "not_saved")


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("gone", "gone"), ("dead", "unreachable"), ("lost", "fault"), ("json", "not_text"), ("old", "read")],
)
def test_every_saved_outcome_comes_back(name: str, outcome: str, archive: ArchivePages) -> None:
    assert archive.read(URL + name).outcome == outcome


def test_the_way_is_kept(archive: ArchivePages) -> None:
    read = archive.read(URL + "old")
    assert [(hop.url, hop.status) for hop in read.hops] == [(URL + "old", 301), (URL + "a", 200)]


def test_what_live_refuses_an_archive_refuses(archive: ArchivePages) -> None:
    for url in ("http://www.example.org/a", "https://127.0.0.1/", "https://user@www.example.org/a"):
        assert archive.read(url).outcome == "refused"


def test_ages_by_domain_or_page(archive: ArchivePages) -> None:
    ages = [
        archive.age_days(name) for name in ("young.example", "unknown.example", "example.org", "ample.org", "x.org")
    ]
    assert ages == [3.25, None, 4000.5, None, None]


@pytest.mark.parametrize(
    "name", ["../outside.html", "/etc/hostname", "a/../../x", ".", "", "link.html", "linked/x.html"]
)
def test_a_file_outside_the_folder_is_refused(name: str, folder: Path, parsers: ParserPool) -> None:
    (folder / "link.html").symlink_to("/etc/hostname")
    (folder / "linked").symlink_to("/etc")
    write_archive(folder, {"url": URL, "file": name})
    with pytest.raises(WeighbeamError, match="bad_archive"):
        ArchivePages(folder, parsers)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pages": [{}]}', '{"pages": 1}', '{"what": 1}', "[" * 100_000])
def test_what_is_no_index_is_refused(content: str, tmp_path: Path, parsers: ParserPool) -> None:
    (tmp_path / "index.json").write_text(content)
    with pytest.raises(WeighbeamError, match="bad_archive"):
        ArchivePages(tmp_path, parsers)


def test_sources_by_name(folder: Path) -> None:
    archive = load_pages(f"archive:{folder}")
    assert archive.read(URL + "gone").outcome == "gone"
    live = load_pages("live")
    assert (live.id, live.read("http://www.example.org/").outcome) == ("live", "refused")
    live.close()
    archive.close()
    for name in ("", "archive", "archive:", "web"):
        with pytest.raises(WeighbeamError, match="unknown_pages"):
            load_pages(name)


def test_no_index_is_refused(tmp_path: Path, parsers: ParserPool) -> None:
    with pytest.raises(WeighbeamError, match="bad_archive"):
        ArchivePages(tmp_path, parsers)


def test_the_digest_follows_the_content(folder: Path, parsers: ParserPool) -> None:
    first = ArchivePages(folder, parsers).digest
    assert ArchivePages(folder, parsers).digest == first
    write_archive(folder, {"url": URL, "status": 404})
    assert ArchivePages(folder, parsers).digest != first


@pytest.fixture
def recorded(tmp_path: Path, parsers: ParserPool) -> tuple[list, ArchivePages]:
    """The same URLs, live and from the archive that was written meanwhile."""
    recorder = FolderRecorder(tmp_path / "saved")
    paths = {
        "/a": page("<title>A</title><p class=comment>ﬁrst</p><p hidden>x</p>", "X-Robots-Tag: noindex"),
        "/to": redirect("/a"),
        "/empty": page("<p hidden>x</p>"),
        "/out": redirect("http://www.example.org/"),
        "/json": page(b"{}", "Content-Type: application/json"),
    }
    urls = [URL + path for path in ("a", "to", "empty", "out", "json", "missing")]
    with serve_site(paths) as site, reading(Network(site.port), parsers, keep=recorder.keep) as live:
        pages = live.read_all(urls)
    recorder.keep_age("example.org", 12.5)
    return pages, ArchivePages(tmp_path / "saved", parsers)


def test_what_was_recorded_reads_the_same(recorded: tuple[list, ArchivePages]) -> None:
    pages, archive = recorded
    assert [page.outcome for page in pages] == ["read", "read", "empty", "refused", "not_text", "gone"]
    for live in pages:
        saved = archive.read(live.hops[0].url)
        assert replace(saved, seconds={}) == replace(live, seconds={})
    assert archive.age_days("example.org") == 12.5


def test_recording_goes_on_where_it_stopped(tmp_path: Path, parsers: ParserPool) -> None:
    from weighbeam.senses.adapters.pages.web.fetch import Fetched
    from weighbeam.senses.ports.page import Hop

    for number in (1, 2, 2):
        FolderRecorder(tmp_path).keep(
            Fetched("read", (Hop(f"{URL}{number}", 200),), "text/html", "", b"<p>x%d" % number)
        )
    archive = ArchivePages(tmp_path, parsers)
    assert [archive.read(f"{URL}{number}").text for number in (1, 2)] == ["x1", "x2"]
    assert not list(tmp_path.glob("*.half"))
