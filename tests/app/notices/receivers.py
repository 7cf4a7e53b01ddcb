"""Receivers of notices on loopback: a web server and a mail server, both real."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class Web:
    """`status` is what it answers; `hang` is set free at the end."""

    port: int = 0
    status: int = 200
    hangs: bool = False
    taken: list[dict[str, Any]] = field(default_factory=list)
    free: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self.port}/s3cret-path-of-mine"


@contextmanager
def serve_web(web: Web | None = None) -> Iterator[Web]:
    web = web or Web()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if web.hangs:
                web.free.wait(60)
                return
            if web.status == 200:
                web.taken.append(body)
            self.send_response(web.status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", web.port), Handler)
    server.daemon_threads = True
    web.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.free.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


class Mailbox:
    def __init__(self) -> None:
        self.taken: list[tuple[str, str]] = []
        vars(self)["handle_DATA"] = self.take

    async def take(self, _server: Any, _session: Any, envelope: Any) -> str:
        message = message_from_bytes(envelope.content, policy=policy.default)
        part = message.get_body(("plain", "html"))
        self.taken.append((message["Subject"], part.get_content() if part else ""))
        return "250 taken"


@contextmanager
def serve_mail() -> Iterator[tuple[Mailbox, str]]:
    mailbox = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield mailbox, f"mailto://127.0.0.1:{port}?from=beam@example.com&to=ops@example.com&format=text"
    finally:
        controller.stop()


def wait_for(reached: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
