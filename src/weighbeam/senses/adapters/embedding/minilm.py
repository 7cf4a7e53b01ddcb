"""The default embedder and its 8-bit form: all-MiniLM-L6-v2 on onnxruntime, mean pooled, unit length, in millionths.

Texts of equal token count share a batch, so nothing is padded, and a text's vector is the same to the bit whatever
else is embedded with it. That holds on one machine: another processor may pick another kernel, whose float32 noise
(about 1e-7) can move a component across a rounding edge by one millionth.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import unit_millionths
from weighbeam.senses.adapters import model_files as files
from weighbeam.senses.adapters.embedding.minilm_graph import REVISION, Weights, build_encoder, load_weights
from weighbeam.senses.adapters.embedding.packed_graph import (
    PACKED_LAYOUT,
    PACKED_REVISION,
    build_packed_encoder,
    multiplies_exactly,
)
from weighbeam.senses.adapters.model_files import cached_model
from weighbeam.senses.adapters.onnx import open_session

DIMENSIONS = 384
MAX_PIECES = 256
MAX_CHARACTERS = 16_384
BATCH_PIECES = 512


Progress = Callable[[int, int], None]


class MiniLM:
    """An embedder over one onnxruntime session; `workers` threads share it, one core each."""

    def __init__(self, id: str, digest: str, session: Any, tokenizer: Any, batch_pieces: int, workers: int) -> None:
        self.id = id
        self.digest = digest
        self.dimensions = DIMENSIONS
        self.workers = workers
        self._session = session
        self._tokenizer = tokenizer
        self._batch_pieces = batch_pieces
        self.on_progress: Progress | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n, 384) millionths; only the first 256 word pieces (of at most 16,384 characters) are read."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.int32)
        batches = self._batch(texts)
        pieces = sum(ids.size for _, ids in batches)
        done = 0
        with ThreadPoolExecutor(self.workers) as pool:
            results = pool.map(self._run, [ids for _, ids in batches])
            for (rows, ids), result in zip(batches, results, strict=True):
                vectors[rows] = result
                done += ids.size
                if self.on_progress is not None:
                    self.on_progress(done, pieces)
        return vectors

    def count_pieces(self, texts: Sequence[str]) -> list[int]:
        """Word pieces read of each text, the two markers included."""
        return [len(encoding.ids) for encoding in self._tokenise(texts)]

    def _tokenise(self, texts: Sequence[str]) -> list[Any]:
        try:
            encodings: list[Any] = self._tokenizer.encode_batch([text[:MAX_CHARACTERS] for text in texts])
        except (TypeError, UnicodeError) as fault:
            raise WeighbeamError(
                "bad_text", f"a text cannot be embedded: {fault}", "give valid Unicode strings"
            ) from None
        return encodings

    def _batch(self, texts: Sequence[str]) -> list[tuple[list[int], NDArray[np.int64]]]:
        """Row numbers and token ids of each batch, longest texts first."""
        by_length: dict[int, list[int]] = {}
        ids = [encoding.ids for encoding in self._tokenise(texts)] if texts else []
        for row, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(row)
        batches: list[tuple[list[int], NDArray[np.int64]]] = []
        for length in sorted(by_length, reverse=True):
            size = max(1, self._batch_pieces // length)
            rows = by_length[length]
            for i in range(0, len(rows), size):
                part = rows[i : i + size]
                batches.append((part, np.array([ids[row] for row in part], dtype=np.int64)))
        return batches

    def _run(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        hidden = self._session.run(["last_hidden_state"], {"input_ids": ids})[0]
        pooled = hidden.astype(np.float64).sum(axis=1) / ids.shape[1]
        if not np.isfinite(pooled).all():
            raise WeighbeamError(
                "embedder_fault", f"{self.id} gave a vector that is not finite", "run weighbeam doctor"
            )
        return unit_millionths(pooled)


class LateMiniLM:
    """A MiniLM that is verified and opened when it first embeds; until then it only says which one it is."""

    dimensions = DIMENSIONS

    def __init__(self, id: str, open_model: Callable[[], Any]) -> None:
        self.id = id
        self.digest = _digest(REVISION if id == "minilm-fp32" else PACKED_REVISION)
        self._open = open_model

    @cached_property
    def model(self) -> MiniLM:
        opened: MiniLM = self._open()
        return opened

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        return self.model.embed(texts)


def load_minilm(cache: Path, workers: int = 1) -> MiniLM:
    """`minilm-fp32`: the full-precision model, built from the package's weights once."""
    return _load("minilm-fp32", REVISION, str(REVISION), build_encoder, cache, workers)


def load_minilm_int8(cache: Path, workers: int = 1) -> MiniLM:
    """`minilm-int8`: the same weights in 8 bits, built once and multiplied in whole numbers; pair errors up to 0.03."""
    signed = multiplies_exactly()
    variant = f"{PACKED_REVISION}-{PACKED_LAYOUT}-{'signed' if signed else 'unsigned'}"
    return _load("minilm-int8", PACKED_REVISION, variant, partial(build_packed_encoder, signed=signed), cache, workers)


def _load(
    id: str, revision: int | str, variant: str, build: Callable[[Weights], bytes], cache: Path, workers: int
) -> MiniLM:
    """A graph of the package's weights, from the cache; every variant of a revision gives the same vectors."""
    found = files.find_minilm()
    files.verify_file(found.tokenizer, files.TOKENIZER_SHA256)

    def build_model() -> bytes:
        files.verify_file(found.weights, files.WEIGHTS_SHA256)
        return build(load_weights(found.weights))

    model = cached_model(cache / "models", f"{id}-{files.WEIGHTS_SHA256[:16]}-{variant}", build_model)
    tokenizer = _open_tokenizer(found.tokenizer)
    return MiniLM(id, _digest(revision), open_session(model), tokenizer, BATCH_PIECES, workers)


def _digest(revision: int | str) -> str:
    return digest_json(
        {
            "weights": files.WEIGHTS_SHA256,
            "graph": revision,
            "tokenizer": files.TOKENIZER_SHA256,
            "pieces": MAX_PIECES,
            "characters": MAX_CHARACTERS,
        }
    )


def _open_tokenizer(path: Path) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_PIECES)
    return tokenizer
