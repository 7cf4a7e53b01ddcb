"""Length-prefixed messages over a pipe."""

import struct
from typing import IO

LENGTH = struct.Struct(">Q")
MAX_BYTES = 64 << 20


def send_frame(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def receive_frame(pipe: IO[bytes]) -> bytes:
    """The next message; `EOFError` if there is none, or one longer than any of ours."""
    (length,) = LENGTH.unpack(_receive(pipe, LENGTH.size))
    if length > MAX_BYTES:
        raise EOFError
    return _receive(pipe, length)


def _receive(pipe: IO[bytes], length: int) -> bytes:
    content = pipe.read(length)
    if len(content) != length:
        raise EOFError
    return content
