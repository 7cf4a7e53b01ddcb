"""An HTTP answer as a WARC record holds it: read from bytes at hand, under the caps of a live one."""

import h11

from weighbeam.senses.pages.decode import decode_body
from weighbeam.senses.pages.ends import TooLarge, Unreadable
from weighbeam.senses.pages.exchange import Head

BLANK = b"\r\n\r\n"
MOST_HEAD = 32 << 10


def read_head(block: bytes) -> Head:
    """Status and headers; `Unreadable` if the block does not begin with them.

    >>> read_head(b"HTTP/1.1 404 Gone\\r\\nA: b\\r\\n\\r\\n").status
    404
    """
    end = block.find(BLANK, 0, MOST_HEAD + len(BLANK))
    if end < 0:
        raise TooLarge("headers") if len(block) > MOST_HEAD else Unreadable("protocol")
    event = _next(_hear(block[: end + len(BLANK)]))
    if not isinstance(event, h11.Response):
        raise Unreadable("protocol")
    return Head(event.status_code, tuple((name.decode("ascii"), value) for name, value in event.headers))


def read_body(block: bytes, most: int) -> bytes:
    """The content, out of its chunks and its encoding. What says it is in chunks and is not, is taken as it is: many
    programs save it so."""
    head = read_head(block)
    body = block[block.find(BLANK) + len(BLANK) :]
    if "chunked" in head.find("transfer-encoding").lower():
        body = _join_chunks(block) or body
    return decode_body(body, head.find_all("content-encoding"), most)


def _hear(data: bytes) -> h11.Connection:
    talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD + len(BLANK))
    talk.send(h11.Request(method="GET", target="/", headers=[("Host", "saved")]))
    talk.send(h11.EndOfMessage())
    talk.receive_data(data)
    return talk


def _next(talk: h11.Connection) -> object:
    try:
        return talk.next_event()
    except h11.RemoteProtocolError:
        return None


def _join_chunks(block: bytes) -> bytes | None:
    """None if they are none."""
    talk, parts = _hear(block), list[bytes]()
    while not isinstance(event := _next(talk), h11.EndOfMessage):
        if isinstance(event, h11.Data):
            parts.append(bytes(event.data))
        elif not isinstance(event, h11.Response):
            return None
    return b"".join(parts)
