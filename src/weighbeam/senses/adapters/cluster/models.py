"""The models as work for a cluster: texts to vectors, pairs to verdicts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.senses.adapters.cluster.spec import WorkPart, cut_by_size
from weighbeam.senses.ports.protocols import Embedder, Entailment
from weighbeam.senses.ports.vectors import check_rows

PART_ROWS = 32
PART_CHARACTERS = 16_384
MODEL_SECONDS = 30.0
CLASSES = 3
REMOTE = "openai:"
REMEDY = "run the same version of weighbeam on every node"
WORDS = "the scale of the old market was tried with weights of brass before anybody paid for a measure of grain".split()
KNOWN_TEXTS = tuple(" ".join((WORDS * 20)[:count]) for count in (1, 3, 9, 30, 100, 400))
KNOWN_PAIRS = tuple((premise, KNOWN_TEXTS[2]) for premise in KNOWN_TEXTS)

Rows = NDArray[np.int32]


def is_spread(name: str) -> bool:
    """An embedder behind somebody's API gains nothing from other machines, and its key stays on this one."""
    return not name.startswith(REMOTE)


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    inner: Embedder

    @property
    def digest(self) -> str:
        return self.inner.digest

    def try_known(self) -> str:
        return hash_rows(self.inner.embed(KNOWN_TEXTS))

    def do(self, items: Sequence[str]) -> bytes:
        return encode_result_rows(self.inner.embed(items))


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """An embedder by the name `load_embedder` knows."""

    name: str
    dimensions: int
    at_once: int = 1
    part_seconds: float = MODEL_SECONDS

    def cut(self, items: Sequence[str]) -> list[WorkPart]:
        return cut_by_size([min(len(text), PART_CHARACTERS) for text in items], PART_ROWS, PART_CHARACTERS)

    def open(self) -> OpenedEmbedder:
        from weighbeam.senses.adapters.model_files import cache_folder
        from weighbeam.senses.local import load_embedder

        return OpenedEmbedder(load_embedder(self.name, cache_folder()))

    def unpack(self, body: bytes, count: int) -> Rows:
        rows = parse_result_rows(body, count, self.dimensions)
        try:
            check_rows(rows, self.dimensions)
        except WeighbeamError as fault:
            raise WeighbeamError(
                "worker_fault", f"a worker returned vectors that are not unit vectors: {fault.message}", REMEDY
            ) from None
        return rows


@dataclass(frozen=True, slots=True)
class OpenedEntailment:
    inner: Entailment

    @property
    def digest(self) -> str:
        return self.inner.digest

    def try_known(self) -> str:
        return hash_rows(self.inner.judge(KNOWN_PAIRS))

    def do(self, items: Sequence[tuple[str, str]]) -> bytes:
        return encode_result_rows(self.inner.judge(items))


@dataclass(frozen=True, slots=True)
class EntailmentSpec:
    """An entailment sense by the name `load_entailment` knows."""

    name: str
    at_once: int = 1
    part_seconds: float = MODEL_SECONDS

    def cut(self, items: Sequence[tuple[str, str]]) -> list[WorkPart]:
        sizes = [min(len(premise) + len(hypothesis), PART_CHARACTERS) for premise, hypothesis in items]
        return cut_by_size(sizes, PART_ROWS, PART_CHARACTERS)

    def open(self) -> OpenedEntailment:
        from weighbeam.senses.local import load_entailment

        return OpenedEntailment(load_entailment(self.name))

    def unpack(self, body: bytes, count: int) -> Rows:
        rows = parse_result_rows(body, count, CLASSES)
        if (rows < 0).any() or (rows.sum(axis=1, dtype=np.int64) != MILLION).any():
            raise WeighbeamError("worker_fault", "a worker returned values that are not probabilities", REMEDY)
        return rows


def hash_rows(rows: Rows) -> str:
    return hashlib.sha256(encode_result_rows(rows)).hexdigest()


def encode_result_rows(rows: Rows) -> bytes:
    return rows.astype("<i4").tobytes()


def parse_result_rows(body: bytes, count: int, width: int) -> Rows:
    if len(body) != 4 * count * width:
        told = f"a worker returned {len(body)} bytes instead of {count} rows of {width}"
        raise WeighbeamError("worker_fault", told, REMEDY)
    return np.frombuffer(body, dtype="<i4").astype(np.int32).reshape(count, width)
