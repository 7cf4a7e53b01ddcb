"""A real OpenAI-compatible chat endpoint on loopback, with every way of misbehaving a test needs."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["ChatHandler"], None]


def complete(text: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A completion as such servers write it."""
    said = {"role": "assistant", "content": text, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "teller",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


class ChatHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "ChatServer"

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(self.body)
        self.server.headers.append(dict(self.headers))
        if self.path != "/v1/chat/completions":
            self.reply(404, b"{}")
            return
        behave = self.server.behaviours.pop(0) if len(self.server.behaviours) > 1 else self.server.behaviours[0]
        behave(self)

    def reply(self, status: int, data: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class ChatServer(ThreadingHTTPServer):
    """Behaves as listed, one request after the other; the last behaviour stays."""

    daemon_threads = True

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.behaviours = list(behaviours)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.ending = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """A client that hung up is part of the tests."""


@contextmanager
def serve_chat(*behaviours: Behaviour) -> Iterator[ChatServer]:
    server = ChatServer(*behaviours)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ending.set()
        server.shutdown()
        server.server_close()


def say(text: str | None, **rest: Any) -> Behaviour:
    return send(complete(text, **rest))


def send(reply: object, status: int = 200, **headers: str) -> Behaviour:
    return lambda handler: handler.reply(status, json.dumps(reply).encode(), **headers)


def send_html(handler: ChatHandler) -> None:
    handler.reply(200, b"<html><body>Welcome to the gateway</body></html>", "text/html")


def hang(handler: ChatHandler) -> None:
    handler.server.ending.wait(30)


def hang_up(handler: ChatHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


def hang_up_midway(handler: ChatHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    hang_up(handler)


def trickle_body(handler: ChatHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "100000")
    handler.end_headers()
    _trickle(handler)


def trickle_headers(handler: ChatHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    _trickle(handler)


def _trickle(handler: ChatHandler) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and not handler.server.ending.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def flood(status: int) -> Behaviour:
    """A body of 50 MB."""

    def send_all(handler: ChatHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(50_000_000))
        handler.end_headers()
        for _ in range(500):
            handler.wfile.write(b"x" * 100_000)
            handler.server.sent = getattr(handler.server, "sent", 0) + 100_000

    return send_all
