"""Pages from a WARC file: as live ones, without a socket; a file that is not whole, or lies, is refused in no time."""

import gzip
import io
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from senses.adapters.pages.tls_servers import Network, page, reading, redirect, serve_site, watching_sockets
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.adapters.pages.archive.warc import MAX_HEADER
from weighbeam.senses.adapters.pages.archive.warc_recorder import WarcRecorder
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool

URL = "https://www.example.org/"
TALE = "<title>A</title><p>Light is fast.</p><p hidden>no</p>"


def record(block: bytes, target: str = URL, kind: str = "response", **headers: str) -> bytes:
    """One record, every header as given; `length` for another length than the true one."""
    named = {"WARC-Type": kind, "WARC-Target-URI": target, "Content-Length": headers.pop("length", str(len(block)))}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in {**named, **headers}.items()]
    return "\r\n".join(["WARC/1.1", *lines]).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def answer(body: bytes = TALE.encode(), *headers: str, status: int = 200) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "Content-Type: text/html", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def open_warc(folder: Path, parsers: ParserPool, *records: bytes, name: str = "a.warc.gz") -> ArchivePages:
    pack = gzip.compress if name.endswith(".gz") else bytes
    (folder / name).write_bytes(b"".join(map(pack, records)))
    return ArchivePages(folder / name, parsers)


PATHS = {
    "/a": page("<title>A</title><p class=comment>ﬁrst</p><p hidden>x</p>", "X-Robots-Tag: noindex, ünï"),
    "/to": redirect("/a"),
    "/loop": redirect("/loop"),
    "/out": redirect("http://www.example.org/"),
    "/inside": redirect("https://inside.example.org/"),
    "/nowhere": page(b"", status=302),
    "/empty": page("<p hidden>x</p>"),
    "/json": page(b"{}", "Content-Type: application/json"),
    "/large": page(b"x" * (4 << 20)),
    "/busy": page("later", status=503),
}
ENDS = "read read unreachable refused refused unreachable empty not_text too_large server_error gone".split()


@pytest.mark.parametrize("name", ["saved.warc", "saved.warc.gz"])
def test_what_was_recorded_reads_the_same(name: str, tmp_path: Path, parsers: ParserPool) -> None:
    recorder = WarcRecorder(tmp_path / name)
    with serve_site(dict(PATHS)) as site:
        network = Network(site.port, {"inside.example.org": ["10.0.0.1"]})
        with reading(network, parsers, keep=recorder.keep) as live:
            pages = live.read_all([URL + path[1:] for path in (*PATHS, "/missing")])
    recorder.keep_age("example.org", 12.5)
    recorder.close()
    assert [one.outcome for one in pages] == ENDS
    archive = ArchivePages(tmp_path / name, parsers)
    with watching_sockets() as watch:
        saved = [archive.read(one.hops[0].url) for one in pages]
    assert (watch.connected, watch.looked_up) == ([], [])
    for now, then in zip(saved, pages, strict=True):
        assert replace(now, seconds={}) == replace(then, seconds={})
    assert (archive.age_days("example.org"), archive.read(URL + "never").fault) == (12.5, "not_saved")
    assert not list(tmp_path.glob("*.half"))


def test_what_we_write_others_read(tmp_path: Path, parsers: ParserPool) -> None:
    recorder = WarcRecorder(tmp_path / "a.warc.gz")
    with serve_site(dict(PATHS)) as site, reading(Network(site.port), parsers, keep=recorder.keep) as live:
        live.read(URL + "to")
    recorder.close()
    with (tmp_path / "a.warc.gz").open("rb") as file:
        rows = [
            (one.rec_headers["WARC-Target-URI"], one.http_headers.get_statuscode(), one.content_stream().read()[:7])
            for one in ArchiveIterator(file)
        ]
    assert rows == [(URL + "to", "302", b""), (URL + "a", "200", b"<title>")]


def write_with_warcio(entries: Sequence[tuple[str, str, list[tuple[str, str]], bytes]]) -> bytes:
    packed = io.BytesIO()
    writer = WARCWriter(packed, gzip=True)
    for url, status, headers, body in entries:
        said = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
        writer.write_record(writer.create_warc_record(url, "response", io.BytesIO(body), http_headers=said))
    return packed.getvalue()


def test_what_others_write_we_read(tmp_path: Path, parsers: ParserPool) -> None:
    html, tale = ("Content-Type", "text/html"), TALE.encode()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(tale), tale)
    content = write_with_warcio(
        [
            (URL + "plain", "200 OK", [html], tale),
            (URL + "packed", "200 OK", [html, ("Content-Encoding", "gzip")], gzip.compress(tale)),
            (URL + "chunks", "200 OK", [html, ("Transfer-Encoding", "chunked")], chunked),
            (URL + "joined", "200 OK", [html, ("Transfer-Encoding", "chunked")], tale),
            (URL + "moved", "301 Moved", [("Location", "/plain")], b""),
            (URL + "lost", "301 Moved", [("Location", "/nowhere")], b""),
            ("http://www.example.org/insecure", "200 OK", [html], tale),
        ]
    )
    (tmp_path / "a.warc.gz").write_bytes(content)
    (tmp_path / "a.warc.gz.json").write_text('{"ages": {"example.org": 4000}}')
    archive = ArchivePages(tmp_path / "a.warc.gz", parsers)
    for name in ("plain", "packed", "chunks", "joined", "moved"):
        assert (name, archive.read(URL + name).text) == (name, "Light is fast.")
    assert [hop.status for hop in archive.read(URL + "moved").hops] == [301, 200]
    assert archive.read(URL + "lost").fault == "not_saved"
    assert archive.read("https://www.example.org/insecure").outcome == "unreachable"
    assert archive.age_days("example.org") == 4000


def test_one_gzip_stream_of_many_records_is_read_too(tmp_path: Path, parsers: ParserPool) -> None:
    whole = b"".join(record(answer(b"<p>%d" % number), f"{URL}{number}") for number in range(50))
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(whole))
    archive = ArchivePages(tmp_path / "a.warc.gz", parsers)
    assert [archive.read(f"{URL}{number}").text for number in (49, 0, 7)] == ["49", "0", "7"]


def test_the_last_answer_counts_and_the_digest_follows(tmp_path: Path, parsers: ParserPool) -> None:
    first = open_warc(tmp_path, parsers, record(answer(b"<p>old")))
    second = open_warc(tmp_path, parsers, record(answer(b"<p>old")), record(answer(b"<p>new")))
    assert (second.read(URL).text, first.digest == second.digest) == ("new", False)


def test_recording_goes_on_in_the_same_file(tmp_path: Path, parsers: ParserPool) -> None:
    for path in ("a", "empty"):
        recorder = WarcRecorder(tmp_path / "a.warc.gz")
        with serve_site(dict(PATHS)) as site, reading(Network(site.port), parsers, keep=recorder.keep) as live:
            live.read(URL + path)
        recorder.close()
    archive = ArchivePages(tmp_path / "a.warc.gz", parsers)
    assert [archive.read(URL + path).outcome for path in ("a", "empty")] == ["read", "empty"]


def test_revisits_have_the_body_they_refer_to(tmp_path: Path, parsers: ParserPool) -> None:
    first = record(answer(), URL + "a", WARC_Record_ID="<urn:uuid:1>", WARC_Payload_Digest="sha1:X")
    archive = open_warc(
        tmp_path,
        parsers,
        first,
        record(b"", URL + "by-id", "revisit", WARC_Refers_To="<urn:uuid:1>"),
        record(b"", URL + "by-digest", "revisit", WARC_Payload_Digest="sha1:X"),
        record(b"", URL + "by-url", "revisit", WARC_Refers_To_Target_URI=URL + "a"),
        record(answer(b"", status=304), URL + "a", "revisit"),
        record(answer(b"", "X-Robots-Tag: noindex"), URL + "own", "revisit", WARC_Refers_To="<urn:uuid:1>"),
    )
    pages = [archive.read(URL + name) for name in ("by-id", "by-digest", "by-url", "a", "own")]
    assert [(one.text, one.noindex) for one in pages] == [("Light is fast.", False)] * 4 + [("Light is fast.", True)]


GOOD = record(answer())
HOSTILE = {
    "nothing of a record": b"hello",
    "cut off in the header": GOOD[:40],
    "cut off in the block": GOOD[:-40],
    "cut off before the end": GOOD[:-2],
    "a giant length": record(answer(), length="9" * 14),
    "a longer length": record(answer(), length="1000000"),
    "a shorter length": record(answer(), length="7"),
    "a negative length": record(answer(), length="-1"),
    "a length in other digits": record(answer(), length="١٢"),
    "a long number": record(answer(), length="1" * 5000),
    "a header of a megabyte": record(answer(), X="x" * (1 << 20)),
    "a header without end": b"WARC/1.1\r\nX: " + b"x" * (MAX_HEADER + 5000),
    "a line that is no header": b"WARC/1.1\r\nhello\r\n\r\n\r\n\r\n",
    "a revisit of nothing": record(b"", kind="revisit", WARC_Refers_To="<urn:uuid:0>"),
    "a note that is none": record(b"[]", kind="metadata", Content_Type="application/vnd.weighbeam.page+json"),
}


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_is_not_whole_is_refused(what: str, name: str, tmp_path: Path, parsers: ParserPool) -> None:
    began = time.monotonic()
    with pytest.raises(WeighbeamError, match="bad_archive"):
        open_warc(tmp_path, parsers, GOOD, HOSTILE[what], name=name)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("damage", ["cut", "bit", "rest", "checksum"])
def test_broken_gzip_is_refused_and_never_the_end(damage: str, tmp_path: Path, parsers: ParserPool) -> None:
    good = gzip.compress(GOOD)
    content = {
        "cut": good + good[:-12],
        "bit": good + good[:30] + bytes([good[30] ^ 255]) + good[31:],
        "rest": good + b"\x00" * 20,
        "checksum": good[:-8] + b"\x00" * 8 + good,
    }[damage]
    (tmp_path / "a.warc.gz").write_bytes(content)
    with pytest.raises(WeighbeamError, match="bad_archive"):
        ArchivePages(tmp_path / "a.warc.gz", parsers)


def test_bombs_do_not_go_off(tmp_path: Path, parsers: ParserPool) -> None:
    """A record of 9 MB, a body that unpacks to 64, one packed twice, a long header: each is what it would be live."""
    bomb = gzip.compress(b"x" * (64 << 20), 6)
    archive = open_warc(
        tmp_path,
        parsers,
        record(answer(b"x" * (9 << 20)), URL + "large"),
        record(answer(bomb, "Content-Encoding: gzip"), URL + "bomb"),
        record(answer(gzip.compress(bomb), "Content-Encoding: gzip, gzip"), URL + "nested"),
        record(answer(b"", "X: " + "x" * (40 << 10)), URL + "header"),
        record(b"not http at all", URL + "odd"),
        record(answer(b"<div>" * 600), URL + "deep"),
    )
    began = time.monotonic()
    ends = [archive.read(URL + name) for name in ("large", "bomb", "nested", "header", "odd", "deep")]
    assert [one.outcome for one in ends] == ["too_large"] * 4 + ["unreadable"] * 2
    assert time.monotonic() - began < 15


def test_a_member_that_unpacks_without_end_is_refused(tmp_path: Path, parsers: ParserPool) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(b"x" * (64 << 20)))
    began = time.process_time()
    with pytest.raises(WeighbeamError, match="bad_archive"):
        ArchivePages(tmp_path / "a.warc.gz", parsers)
    assert time.process_time() - began < 0.5


def test_a_url_is_never_written_into_a_header_as_it_came(tmp_path: Path, parsers: ParserPool) -> None:
    """Else whoever is quoted could write records of their own."""
    recorder = WarcRecorder(tmp_path / "a.warc")
    evil = f"{URL}\r\nWARC-Type: response\r\n\r\n"
    with reading(Network(1), parsers, keep=recorder.keep) as live:
        assert [one.outcome for one in live.read_all([evil, "http://www.example.org/"])] == ["refused", "refused"]
    recorder.close()
    assert (tmp_path / "a.warc").read_bytes() == b""


def test_no_file_and_a_changed_file(tmp_path: Path, parsers: ParserPool) -> None:
    with pytest.raises(WeighbeamError, match="bad_archive"):
        ArchivePages(tmp_path / "none.warc.gz", parsers)
    archive = open_warc(tmp_path, parsers, GOOD)
    (tmp_path / "a.warc.gz").write_bytes(b"\x1f\x8b")
    assert (archive.read(URL).outcome, archive.read(URL).fault) == ("fault", "disk")
    (tmp_path / "a.warc.gz.json").write_text(json.dumps({"ages": {"example.org": "old"}}))
    with pytest.raises(WeighbeamError, match="bad_archive"):
        open_warc(tmp_path, parsers, GOOD)


@pytest.mark.parametrize("place", ["saved.warc.gz", "saved"])
def test_a_command_saves_what_it_reads(place: str, tmp_path: Path, parsers: ParserPool) -> None:
    from weighbeam.mechanisms.evidence.ui.archives import record_pages
    from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings

    class Old:
        id = digest = "old"

        def age_days(self, domain: str) -> float:
            return 100.0

        def age_days_of(self, domains: Sequence[str]) -> list[float | None]:
            return [100.0 for _ in domains]

    with serve_site(dict(PATHS)) as site:
        guard = Network(site.port).guard()
        pages = record_pages(
            [URL + "to", "http://www.example.org/", URL + "missing"],
            tmp_path / place,
            lambda keep: LivePages(LiveSettings(probe_urls=()), guard, keep=keep),
            Old(),
        )
    archive = ArchivePages(tmp_path / place, parsers)
    assert [one.outcome for one in pages] == ["read", "refused", "gone"]
    assert [archive.read(one.hops[0].url).outcome for one in pages] == ["read", "refused", "gone"]
    assert archive.age_days("example.org") == 100.0
