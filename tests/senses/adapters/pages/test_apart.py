"""Parsers can be ended, are replaced, and hold nobody up but whoever asked for too much."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbeam.senses.adapters.pages.limits import ParserLimits
from weighbeam.senses.adapters.pages.outcome import PageUnreadable
from weighbeam.senses.adapters.pages.parsing import parsers as apart
from weighbeam.senses.adapters.pages.parsing.parsers import ParserLost, ParserPool, complete_page
from weighbeam.senses.adapters.pages.web.fetch import Fetched
from weighbeam.senses.ports.page import Hop

HOPS = (Hop("https://www.example.org/", 200, "8.8.8.8"),)
DEEP = b"<div>" * 200_000


def fetched(body: bytes) -> Fetched:
    return Fetched("read", HOPS, "text/html", "", body)


@pytest.fixture
def strict() -> Iterator[ParserPool]:
    own = ParserPool(ParserLimits(cpu_seconds=60, wall_seconds=2.0), workers=1)
    yield own
    own.close()


def test_a_parser_that_takes_too_long_is_ended_and_replaced(strict: ParserPool) -> None:
    assert strict.works()
    began = time.monotonic()
    page = complete_page(fetched(DEEP), strict)
    assert (page.outcome, page.fault, page.text) == ("unreadable", "parser", "")
    assert time.monotonic() - began < 10
    assert complete_page(fetched(b"<p>fine"), strict).text == "fine"


def test_the_kernel_ends_a_parser_that_works_too_long() -> None:
    own = ParserPool(ParserLimits(cpu_seconds=1, wall_seconds=300.0), workers=1)
    began = time.monotonic()
    with pytest.raises(PageUnreadable):
        own.parse(DEEP, "text/html")
    assert time.monotonic() - began < 150
    own.close()


def test_memory_is_limited() -> None:
    """With room it is the nodes that are too many; without, the parser does not get as far as to count them."""
    body = b"<p>x" * 600_000
    for memory, why in ((512 << 20, "nodes"), (150 << 20, "parser")):
        own = ParserPool(ParserLimits(memory_bytes=memory, wall_seconds=60.0), workers=1)
        assert own.works()
        with pytest.raises(PageUnreadable, match=why):
            own.parse(body, "text/html")
        assert own.works()
        own.close()


def test_a_large_attribute_is_no_matter(parsers: ParserPool) -> None:
    page = complete_page(
        fetched(b"<p title='" + b"x" * 1_000_000 + b"' style='" + b"y:z;" * 250_000 + b"'>fine"), parsers
    )
    assert (page.outcome, page.text) == ("read", "fine")


def test_too_many_nodes_are_unreadable(parsers: ParserPool) -> None:
    assert complete_page(fetched(b"<p>x" * 160_000), parsers).outcome == "unreadable"


def test_an_honest_page_beside_a_hostile_one_is_done_first() -> None:
    own = ParserPool(ParserLimits(cpu_seconds=2, wall_seconds=2.0), workers=2)
    ends: list[str] = []

    def parse(name: str, body: bytes) -> None:
        complete_page(fetched(body), own)
        ends.append(name)

    hostile = threading.Thread(target=parse, args=("hostile", DEEP))
    hostile.start()
    parse("honest", b"<p>fine")
    hostile.join()
    assert ends == ["honest", "hostile"]
    own.close()


def test_a_parser_that_died_alone_is_replaced_unseen(strict: ParserPool) -> None:
    assert strict.works()
    worker = strict._idle.get()
    strict._idle.put(worker)
    os.kill(worker.pid, signal.SIGKILL)
    time.sleep(0.1)
    assert strict.parse(b"<p>fine", "text/html").text == "fine"


def test_one_process_serves_many_pages(parsers: ParserPool) -> None:
    own = ParserPool(workers=1)
    own.works()
    first = own._idle.get()
    own._idle.put(first)
    for number in range(20):
        assert own.parse(f"<p>{number}".encode(), "text/html").text == str(number)
    again = own._idle.get()
    own._idle.put(again)
    assert again.pid == first.pid
    own.close()


def test_a_process_is_not_used_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "PAGES_EACH", 2)
    own = ParserPool(workers=1)
    pids = set()
    for _ in range(4):
        own.works()
        worker = own._idle.get()
        own._idle.put(worker)
        pids.add(worker.pid)
    assert len(pids) == 2
    own.close()


def test_if_no_process_starts_it_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ParserPool(workers=1)
    monkeypatch.setattr(apart.sys, "executable", "/nowhere/python")
    with pytest.raises(ParserLost):
        own.parse(b"<p>x", "text/html")
    assert complete_page(fetched(b"<p>x"), own).outcome == "fault"
    monkeypatch.undo()
    assert complete_page(fetched(b"<p>x"), own).outcome == "read"
    own.close()


def test_a_parser_has_no_keys_and_can_open_neither_file_nor_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEIGHBEAM_NARRATOR_KEY", "secret")
    assert "secret" not in apart._plain_environment().values()
    code = (
        "import socket\n"
        "from weighbeam.senses.adapters.pages.limits import ParserLimits\n"
        "from weighbeam.senses.adapters.pages.parsing.worker import drop_rights\n"
        "drop_rights(ParserLimits())\n"
        "for attempt in (lambda: open('/etc/hostname'), socket.socket):\n"
        "    try:\n"
        "        attempt()\n"
        "    except OSError as fault:\n"
        "        print(fault.errno)\n"
    )
    root = Path(__file__).parents[4]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["24", "24"]
