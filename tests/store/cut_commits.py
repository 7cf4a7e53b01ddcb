"""A way to a PostgreSQL server that loses COMMITs: some never arrive, of others the answer is never heard."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

Fate = Literal["heard", "lost", "unheard"]
COMMIT = b"COMMIT\x00"


class CutCommits:
    """Forwards whatever is said to a port of this machine; `decide` says what becomes of each COMMIT."""

    def __init__(self, port: int, decide: Callable[[], Fate]) -> None:
        self._target = port
        self._decide = decide
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._door.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                Line(client, server, self._decide).start()


class Line:
    """One connection."""

    def __init__(self, client: socket.socket, server: socket.socket, decide: Callable[[], Fate]) -> None:
        self._client, self._server, self._decide = client, server, decide
        self._deaf = False

    def start(self) -> None:
        for work in (self._forward, self._answer):
            threading.Thread(target=work, daemon=True).start()

    def _forward(self) -> None:
        with suppress(OSError):
            while said := self._client.recv(65536):
                fate = self._decide() if COMMIT in said else "heard"
                if fate == "lost":
                    break
                self._deaf = fate == "unheard"
                self._server.sendall(said)
        if not self._deaf:
            self._cut()

    def _answer(self) -> None:
        """What answers an unheard COMMIT is dropped, and the line with it."""
        with suppress(OSError):
            while said := self._server.recv(65536):
                if self._deaf:
                    break
                self._client.sendall(said)
        self._cut()

    def _cut(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
