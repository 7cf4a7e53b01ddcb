"""The OpenAI-compatible embedder against a real HTTP server on loopback that serves our own vectors."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.embedding import openai_embedder
from weighbeam.senses.local import LocalSenses, load_embedder


class EmbeddingsServer:
    """`POST /v1/embeddings`; `spoil` changes the rows of the reply, `refuse` answers that many requests with 503."""

    def __init__(self, senses: LocalSenses) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.refuse = 0
        self.spoil: Any = lambda rows: rows
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers["Authorization"])
                if outer.refuse:
                    outer.refuse -= 1
                    self.send_error(503)
                    return
                vectors = senses.embedder.embed(body["input"]) / 1e6
                rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors.tolist())]
                reply = {"object": "list", "data": outer.spoil(rows), "model": body["model"]}
                data = json.dumps(reply).encode()
                self.send_response(200 if self.path == "/v1/embeddings" else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server(senses: LocalSenses) -> Iterator[EmbeddingsServer]:
    server = EmbeddingsServer(senses)
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_vectors_come_back_in_order_whatever_the_reply_s_order(server, senses, monkeypatch) -> None:
    monkeypatch.setenv("WEIGHBEAM_EMBEDDINGS_KEY", "secret-key")
    server.spoil = lambda rows: rows[::-1]
    embedder = load_embedder(f"openai:minilm@{server.url}", Path("unused"))
    texts = [f"Text number {i}." for i in range(100)]
    assert np.abs(embedder.embed(texts) - senses.embedder.embed(texts)).max() <= 1
    assert embedder.dimensions == 384
    assert [len(request["input"]) for request in server.requests] == [1, 64, 36]
    assert set(server.keys) == {"Bearer secret-key"}
    assert "secret-key" not in embedder.id + embedder.digest


def test_a_server_that_stumbles_is_asked_again(server) -> None:
    server.refuse = 1
    assert load_embedder(f"openai:minilm@{server.url}", Path("unused")).dimensions == 384


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: rows[:-1],
        lambda rows: [{**row, "index": 0} for row in rows],
        lambda rows: [
            {**row, "embedding": row["embedding"][:9] if i else row["embedding"]} for i, row in enumerate(rows)
        ],
        lambda rows: [{**row, "embedding": [float("nan")] * 384} for row in rows],
        lambda rows: [{**row, "embedding": ["x"] * 384} for row in rows],
        lambda rows: [{**row, "embedding": row["embedding"][:9]} for row in rows],
        lambda rows: [{**row, "embedding": []} for row in rows],
    ],
    ids=["one short", "same index", "ragged", "NaN", "text", "other width", "empty"],
)
def test_a_reply_that_is_not_what_was_asked_for_is_our_fault_by_name(server, spoil) -> None:
    embedder = load_embedder(f"openai:minilm@{server.url}", Path("unused"))
    server.spoil = spoil
    with pytest.raises(WeighbeamError, match="embedder_fault"):
        embedder.embed(["one", "two"])


def test_a_server_that_is_gone_is_named(monkeypatch) -> None:
    monkeypatch.setattr(openai_embedder, "RETRIES", 0)
    with pytest.raises(WeighbeamError, match=r"embedder_fault.*check the address"):
        load_embedder("openai:minilm@http://127.0.0.1:9/v1", Path("unused"))
