"""A connection that is given up half-way, at any moment, costs nobody else theirs."""

import asyncio
import gc
import socket
from dataclasses import replace

from senses.adapters.pages.tls_servers import LOOPBACK, Network, page, serve_site
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard

STEPS = 12
HOST = "www.example.org"


async def give_up_and_go_on(guard: ConnectionGuard, usual: ConnectionGuard) -> list[BaseException | None]:
    ends: list[BaseException | None] = []
    for step in range(STEPS):
        given_up = [asyncio.ensure_future(guard.open(HOST, 5)) for _ in range(4)]
        for _ in range(step):
            await asyncio.sleep(0)
        for one in given_up:
            one.cancel()
        for one in await asyncio.gather(*given_up, return_exceptions=True):
            if not isinstance(one, BaseException):
                one.hang_up()
        lines = await asyncio.gather(*(usual.open(HOST, 5) for _ in range(4)), return_exceptions=True)
        for line in lines:
            ends.append(line if isinstance(line, BaseException) else line.hang_up())
    return ends


def connect_at_once(port: int) -> ConnectionGuard:
    """So that each step of the event loop is one of the handshake."""

    async def connect(*_: object) -> socket.socket:
        line = socket.create_connection((LOOPBACK, port))
        line.setblocking(False)
        return line

    return replace(Network(port).guard(), connect=connect)


def test_a_handshake_that_is_cancelled_takes_no_line_from_the_next() -> None:
    gc.collect()
    gc.disable()
    try:
        with serve_site({"/": page("<p>x")}) as site:
            assert (
                asyncio.run(give_up_and_go_on(connect_at_once(site.port), Network(site.port).guard()))
                == [None] * STEPS * 4
            )
    finally:
        gc.enable()
