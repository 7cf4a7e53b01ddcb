"""Hostile servers: every cap holds, and an honest page beside them is read before they are done."""

import asyncio
import gzip
import os
import resource
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from senses.adapters.pages.tls_servers import (
    PATIENT,
    QUICK,
    Network,
    Request,
    Site,
    Talk,
    page,
    reading,
    redirect,
    say,
    serve_site,
)
from weighbeam.core.zstd import zstd
from weighbeam.senses.adapters.pages.live import LivePages
from weighbeam.senses.adapters.pages.outcome import PageTooLarge, PageUnreadable
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.adapters.pages.web.content_encoding import decode_body

SMALL = replace(QUICK, wire_bytes=200_000, body_bytes=400_000)
ROOMY = replace(SMALL, read_seconds=6.0, connect_seconds=4.0)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
Writer = asyncio.StreamWriter


def zip_zeros(size: int) -> bytes:
    return gzip.compress(bytes(size), 9)


async def write_slowly(writer: Writer, pieces: bytes, seconds: float = 0.02) -> None:
    for place in range(len(pieces)):
        if writer.transport.is_closing():
            return
        writer.write(pieces[place : place + 1])
        await writer.drain()
        await asyncio.sleep(seconds)


async def pour(writer: Writer, piece: bytes) -> None:
    """The same again and again, until the other side has had enough."""
    while not writer.transport.is_closing():
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)


async def drip_head(_: Request, writer: Writer) -> None:
    await write_slowly(writer, HEAD + b"X-A: " + b"a" * 10_000)


async def drip_body(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Content-Length: 100000\r\n\r\n<p>")
    await write_slowly(writer, b"a" * 10_000)


async def drip_chunks(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    await write_slowly(writer, b"1\r\na\r\n" * 10_000)


async def stay_silent(_: Request, writer: Writer) -> None:
    await asyncio.sleep(30)


async def send_forever(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"\r\n")
    await pour(writer, b"<p>more and more</p>" * 1_000)


async def chunk_forever(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    await pour(writer, b"1;" + b"x" * 2_000 + b"\r\na\r\n")


async def flood_headers(_: Request, writer: Writer) -> None:
    writer.write(HEAD)
    await pour(writer, b"X-Flood: " + b"f" * 900 + b"\r\n")


async def flood_one_header(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"X-Flood: ")
    await pour(writer, b"f" * 9_000)


async def flood_interim(_: Request, writer: Writer) -> None:
    await pour(writer, b"HTTP/1.1 103 Early\r\nLink: " + b"l" * 500 + b"\r\n\r\n")


async def flood_trailers(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
    await pour(writer, b"X-Flood: " + b"f" * 900 + b"\r\n")


async def big_headers(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"".join(b"X-%d: %s\r\n" % (n, b"f" * 900) for n in range(40)) + b"Content-Length: 1\r\n\r\na")


async def claim_much(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Content-Length: 99999999999\r\n\r\n")
    await asyncio.sleep(30)


async def be_garbage(_: Request, writer: Writer) -> None:
    writer.write(b"\x00\x01garbage\r\n\r\n")


async def two_lengths(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde")


async def hang_up(_: Request, writer: Writer) -> None:
    writer.transport.abort()


async def cut_short(_: Request, writer: Writer) -> None:
    writer.write(HEAD + b"Content-Length: 100\r\n\r\n<p>half")


async def switch(_: Request, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
    await asyncio.sleep(30)


def packed(body: bytes, encoding: str) -> Talk:
    return page(body, f"Content-Encoding: {encoding}")


HOSTILE: dict[str, tuple[Talk, str]] = {
    "/drip-head": (drip_head, "unreachable"),
    "/drip-body": (drip_body, "unreachable"),
    "/drip-chunks": (drip_chunks, "unreachable"),
    "/silent": (stay_silent, "unreachable"),
    "/forever": (send_forever, "too_large"),
    "/chunks-forever": (chunk_forever, "too_large"),
    "/flood": (flood_headers, "too_large"),
    "/flood-one": (flood_one_header, "too_large"),
    "/flood-interim": (flood_interim, "too_large"),
    "/flood-trailers": (flood_trailers, "too_large"),
    "/big-headers": (big_headers, "too_large"),
    "/claim": (claim_much, "too_large"),
    "/garbage": (be_garbage, "unreachable"),
    "/two-lengths": (two_lengths, "unreachable"),
    "/hang-up": (hang_up, "unreachable"),
    "/cut": (cut_short, "unreachable"),
    "/switch": (switch, "unreachable"),
    "/many-members": (packed(gzip.compress(bytes(1_000)) * 3_000, "gzip"), "too_large"),
    "/twice": (packed(gzip.compress(gzip.compress(b"<p>x")), "gzip, gzip"), "too_large"),
    "/two-kinds": (page(gzip.compress(b"x"), "Content-Encoding: gzip", "Content-Encoding: zstd"), "too_large"),
    "/not-gzip": (packed(b"<p>plain", "gzip"), "unreadable"),
    "/half-gzip": (packed(gzip.compress(os.urandom(5_000))[:3_000], "gzip"), "unreadable"),
    "/not-zstd": (packed(b"<p>plain", "zstd"), "unreadable"),
    "/unknown-packing": (packed(b"<p>plain", "br"), "unreadable"),
    "/loop": (redirect("/loop"), "unreachable"),
    "/ping": (redirect("/pong"), "unreachable"),
    "/pong": (redirect("https://other.example.net/ping"), "unreachable"),
    "/nowhere": (page(b"", status=302), "unreachable"),
    "/not-modified": (page(b"", status=304), "unreachable"),
    "/to-http": (redirect("http://www.example.org/"), "refused"),
    "/to-port": (redirect("https://www.example.org:8443/"), "refused"),
    "/to-inside": (redirect("https://10.0.0.1/"), "refused"),
    "/to-long": (redirect("https://www.example.org/" + "a" * 5_000), "refused"),
    "/gone": (page(b"", status=404), "gone"),
    "/gone-for-good": (page(b"", status=410), "gone"),
    "/forbidden": (page(b"", status=403), "blocked"),
    "/later": (page(b"", status=429), "blocked"),
    "/law": (page(b"", status=451), "blocked"),
    "/teapot": (page(b"", status=418), "blocked"),
    "/broken": (page(b"", status=503), "server_error"),
    "/json": (page(b"{}", "Content-Type: application/json"), "not_text"),
    "/pdf": (page(b"%PDF", "Content-Type: application/pdf"), "not_text"),
    "/no-type": (page(b"x", "Content-Type: "), "not_text"),
    "/nothing": (page(b""), "empty"),
    "/only-script": (page(b"<script>document.write('x')</script><p hidden>y</p>"), "empty"),
    "/invisible": (page("<p>\u200b\u2060&nbsp;</p>"), "empty"),
}


@cache
def load_bombs() -> dict[str, tuple[Talk, str]]:
    """Not before they are wanted: they take a while."""
    return {
        "/gzip-bomb": (packed(zip_zeros(100 << 20), "gzip"), "too_large"),
        "/deflate-bomb": (packed(zlib.compress(bytes(100 << 20), 9), "deflate"), "too_large"),
        "/zstd-bomb": (packed(zstd.compress(bytes(1 << 30)), "zstd"), "too_large"),
    }


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    paths = {path: talk for path, (talk, _) in (HOSTILE | load_bombs()).items()}
    for number in range(9):
        paths[f"/hop{number}"] = redirect(f"/hop{number - 1}" if number else "/fine")
    with serve_site({**paths, "/fine": page("<p>fine</p>")}) as running:
        yield running


@pytest.fixture(scope="module")
def pages(site: Site, parsers: ParserPool) -> Iterator[LivePages]:
    with reading(Network(site.port), parsers, ROOMY) as live:
        yield live


def test_every_hostile_answer_has_its_outcome_within_the_caps(pages: LivePages) -> None:
    hostile = HOSTILE | load_bombs()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    read = pages.read_all([f"https://www.example.org{path}" for path in hostile])
    assert {path: page.outcome for path, page in zip(hostile, read, strict=True)} == {
        path: outcome for path, (_, outcome) in hostile.items()
    }
    assert time.monotonic() - began < 40
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes"
    assert all(page.seconds["fetch"] < ROOMY.read_seconds + 10 for page in read)


@pytest.mark.parametrize(("start", "outcome", "hops"), [(4, "read", 6), (5, "unreachable", 7), (8, "unreachable", 7)])
def test_five_redirects_are_followed_and_no_more(start: int, outcome: str, hops: int, pages: LivePages) -> None:
    read = pages.read(f"https://www.example.org/hop{start}")
    assert (read.outcome, len(read.hops)) == (outcome, hops)
    assert len(read.redirects) == hops - 1


def test_an_honest_page_is_read_before_hostile_ones_are_done(site: Site, parsers: ParserPool) -> None:
    """As many hostile reads as there are places save one, of other domains: the honest one does not wait for any."""
    ends: list[str] = []
    slow = ("/drip-head", "/drip-body", "/drip-chunks", "/silent", "/claim")
    hostile = [f"https://h{number}.example.net{slow[number % 4]}" for number in range(SMALL.reads - 1)]
    network = Network(site.port)
    with reading(network, parsers, SMALL, keep=lambda fetched: ends.append(fetched.hops[0].url)) as live:
        read = live.read_all([*hostile, "https://www.example.org/fine"])
    assert read[-1].outcome == "read"
    assert ends[0] == "https://www.example.org/fine"


def test_who_waits_for_a_slow_domain_keeps_no_place_from_others(site: Site, parsers: ParserPool) -> None:
    ends: list[str] = []
    limits = replace(SMALL, reads=3, per_domain=2)
    hostile = [f"https://h{number}.example.net/silent" for number in range(6)]
    with reading(Network(site.port), parsers, limits, keep=lambda fetched: ends.append(fetched.hops[0].url)) as live:
        live.read_all([*hostile, "https://www.example.org/fine"])
    assert ends[0] == "https://www.example.org/fine"


def test_no_more_reads_at_once_than_allowed(parsers: ParserPool) -> None:
    now, limit = 0, 0

    async def count(_: Request, writer: Writer) -> None:
        nonlocal now, limit
        now += 1
        limit = max(limit, now)
        if now == expected:
            full.set()
        await asyncio.wait_for(full.wait(), 10)
        await asyncio.sleep(0.05)
        now -= 1
        await say(writer, 200, b"<p>x")

    for limits, expected in ((replace(PATIENT, reads=3), 3), (replace(PATIENT, per_domain=2), 2)):
        limit, full = 0, asyncio.Event()
        with serve_site({"/": count}) as site, reading(Network(site.port), parsers, limits) as live:
            read = live.read_all([f"https://h{number}.example.org/" for number in range(8)])
        assert {page.outcome for page in read} == {"read"}
        assert limit == expected


def test_reads_of_one_host_keep_a_distance_and_its_own_redirects_do_not(parsers: ParserPool) -> None:
    times: list[float] = []

    async def note(_: Request, writer: Writer) -> None:
        times.append(time.monotonic())
        await say(writer, 200, b"<p>x")

    limits = replace(PATIENT, host_gap_seconds=0.2)
    paths = {"/a": note, "/b": note, "/to": redirect("/b")}
    with serve_site(paths) as site, reading(Network(site.port), parsers, limits) as live:
        live.read_all(["https://www.example.org/a", "https://www.example.org/b"])
        assert times[1] - times[0] > 0.15
        assert [hop.status for hop in live.read("https://new.example.org/to").hops] == [302, 200]


def test_equal_urls_are_read_once(site: Site, pages: LivePages) -> None:
    before = len(site.requests)
    read = pages.read_all(["https://www.example.org/fine"] * 5)
    assert [page.text for page in read] == ["fine"] * 5
    assert len(site.requests) == before + 1


def test_decoding_stops_at_the_cap_whatever_the_ratio() -> None:
    for wire, encoding in (
        (zip_zeros(64 << 20), "gzip"),
        (zlib.compress(bytes(64 << 20)), "deflate"),
        (zstd.compress(bytes(64 << 20)), "zstd"),
        (bytes(2_000), "identity"),
    ):
        with pytest.raises(PageTooLarge):
            decode_body(wire, encoding, 1_000)


def test_a_body_of_many_empty_parts_is_not_opened() -> None:
    """Each costs as much as a large one: 3 MiB of them took most of a minute."""
    for part, encoding in ((gzip.compress(b""), "gzip"), (b"\x50\x2a\x4d\x18" + bytes(4), "zstd")):
        assert decode_body(part * 64, encoding, 1_000) == b""
        with pytest.raises(PageTooLarge, match="members"):
            decode_body(part * 65, encoding, 1_000)


def test_what_was_packed_comes_out_again() -> None:
    text = b"plain text " * 100
    raw = zlib.compressobj(wbits=-15)
    for wire, encoding in (
        (gzip.compress(text), "gzip"),
        (gzip.compress(text), "X-GZIP"),
        (gzip.compress(text[:500]) + gzip.compress(text[500:]), "gzip"),
        (zlib.compress(text), "deflate"),
        (raw.compress(text) + raw.flush(), "deflate"),
        (zstd.compress(text), "zstd"),
        (zstd.compress(text[:500]) + zstd.compress(text[500:]), " zstd "),
        (text, "identity, "),
    ):
        assert decode_body(wire, encoding, len(text)) == text


def test_what_ends_too_early_is_unreadable() -> None:
    text = os.urandom(1_000)
    for pack, encoding in ((gzip.compress, "gzip"), (zlib.compress, "deflate"), (zstd.compress, "zstd")):
        with pytest.raises(PageUnreadable):
            decode_body(pack(text)[:-200], encoding, 2_000)


def test_a_window_larger_than_ours_is_not_opened() -> None:
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    wire = stream.compress(os.urandom(100)) + stream.flush()
    with pytest.raises(PageUnreadable):
        decode_body(wire, "zstd", 1_000)
