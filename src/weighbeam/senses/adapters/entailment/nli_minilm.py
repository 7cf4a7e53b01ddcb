"""The default entailment sense: a small cross-encoder made for this project (`training/entailment/`), on onnxruntime.

Pairs of equal piece count share a batch, so nothing is padded. The layers multiply in whole numbers, each word piece
by its own scale, so a pair's row is the same to the bit whatever else is judged with it. That holds on one machine:
what lies between the products is float32, whose noise on another processor can move a probability by a few millionths.
A pair with a side of no words is neutral, without asking the model. A premise that is longer than what the model was
trained on is read in windows of whole sentences.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import softmax_millionths
from weighbeam.senses.adapters import model_files as files
from weighbeam.senses.adapters.entailment.windows import MAX_WINDOWS, cut_windows, join_windows
from weighbeam.senses.adapters.onnx import open_session
from weighbeam.senses.adapters.text.sentences import RuleSentences
from weighbeam.senses.adapters.text.word_pieces import (
    MAX_CHARACTERS,
    PairPieces,
    count_pieces,
    open_pair_tokenizer,
    tokenise_pairs,
)

MODEL = Path(__file__).parent / "models" / "nli-minilm" / "model.onnx"
MODEL_SHA256 = "0427d61b7564cab510283500ae17ebefac065e02c6e59d2ebe831093922008ab"
INSTALL = "pip install weighbeam --force-reinstall"
MAX_PIECES = 256
WINDOW_PIECES = 160
"""A longer pair is read in windows: the model was trained on pairs of at most this many pieces."""
LEAST_ROOM = 48
"""Pieces of a premise in a window, however long the hypothesis is."""
MARKERS = 3
BATCH_PIECES = 512
NEUTRAL = (-math.inf, 0.0, -math.inf)


class NliMiniLM:
    """Entailment over one onnxruntime session; `workers` threads share it, one core each."""

    def __init__(self, id: str, digest: str, session: Any, tokenizer: Any, workers: int = 1) -> None:
        self.id = id
        self.digest = digest
        self.workers = workers
        self._session = session
        self._tokenizer = tokenizer

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        """(n, 3) millionths: contradiction, neutral, entailment."""
        windows = [self._cut(*pair) for pair in pairs]
        logits = self.weigh_classes([pair for some in windows for pair in some])
        ends = np.cumsum([len(some) for some in windows]).tolist()
        parts = [logits[end - len(some) : end] for some, end in zip(windows, ends, strict=True)]
        rows = [softmax_millionths((part[0] if len(part) == 1 else join_windows(part)).tolist()) for part in parts]
        return np.array(rows, dtype=np.int32).reshape(len(pairs), 3)

    def _cut(self, premise: str, hypothesis: str) -> list[tuple[str, str]]:
        """The pair, or the pairs of its premise's windows."""
        given = (premise, hypothesis)
        if not all(isinstance(text, str) for text in given) or sum(map(len, given)) <= WINDOW_PIECES - MARKERS:
            return [given]
        before, after = count_pieces(self._tokenizer, [premise[:MAX_CHARACTERS], hypothesis[:MAX_CHARACTERS]])
        if before + after + MARKERS <= WINDOW_PIECES:
            return [given]
        room = max(LEAST_ROOM, WINDOW_PIECES - MARKERS - after)
        sentences = RuleSentences().split(premise[:MAX_CHARACTERS])
        windows = cut_windows(sentences, room, partial(count_pieces, self._tokenizer))
        return [(window, hypothesis) for window in windows]

    def weigh_classes(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """(n, 3) logits; only the first 256 pieces of a pair are read, the premise cut first."""
        pieces = tokenise_pairs(self._tokenizer, pairs, MAX_PIECES) if pairs else []
        batches = batch_by_length(pieces)
        logits = np.full((len(pairs), 3), NEUTRAL, dtype=np.float32)
        with ThreadPoolExecutor(self.workers) as pool:
            results = pool.map(self._run, [[pieces[row] for row in rows] for rows in batches])
            for rows, result in zip(batches, results, strict=True):
                logits[rows] = result
        return logits

    def _run(self, rows: Sequence[PairPieces]) -> NDArray[np.float32]:
        ids = np.array([row.ids for row in rows], dtype=np.int64)
        types = (np.arange(ids.shape[1]) >= np.array([[row.split] for row in rows])).astype(np.int64)
        logits: NDArray[np.float32] = self._session.run(["logits"], {"input_ids": ids, "token_type_ids": types})[0]
        if not np.isfinite(logits).all():
            raise WeighbeamError(
                "entailment_fault", f"{self.id} gave a number that is not finite", "run weighbeam doctor"
            )
        return logits


def batch_by_length(pieces: Sequence[PairPieces]) -> list[list[int]]:
    """Row numbers of each batch, longest pairs first; blank pairs are in none."""
    by_length: dict[int, list[int]] = {}
    for row, pair in enumerate(pieces):
        if not pair.is_blank:
            by_length.setdefault(len(pair.ids), []).append(row)
    batches: list[list[int]] = []
    for length in sorted(by_length, reverse=True):
        size = max(1, BATCH_PIECES // length)
        rows = by_length[length]
        batches += [rows[i : i + size] for i in range(0, len(rows), size)]
    return batches


class LateNli:
    """`nli-minilm`, verified and opened when it first judges; until then it only says which one it is."""

    id = "nli-minilm"

    def __init__(self, workers: int = 1) -> None:
        self.digest = _digest(MODEL_SHA256)
        self._workers = workers

    @cached_property
    def model(self) -> NliMiniLM:
        return load_nli(self._workers)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return self.model.judge(pairs)


def load_nli(workers: int = 1, model: Path = MODEL) -> NliMiniLM:
    """`nli-minilm`, as it is in this package; a file that is not the known one is refused."""
    if not model.is_file():
        raise WeighbeamError("no_weights", f"{model.name} of nli-minilm is missing", INSTALL)
    files.verify_file(model, MODEL_SHA256, INSTALL)
    return open_nli(model, "nli-minilm", MODEL_SHA256, workers)


def open_nli(model: Path, id: str, sha256: str, workers: int = 1) -> NliMiniLM:
    """Any model of the same graph, by its file."""
    tokenizer = files.find_minilm().tokenizer
    files.verify_file(tokenizer, files.TOKENIZER_SHA256)
    return NliMiniLM(id, _digest(sha256), open_session(model), open_pair_tokenizer(tokenizer), workers)


def _digest(sha256: str) -> str:
    return digest_json(
        {
            "model": sha256,
            "tokenizer": files.TOKENIZER_SHA256,
            "pieces": MAX_PIECES,
            "characters": MAX_CHARACTERS,
            "window": [WINDOW_PIECES, LEAST_ROOM, MAX_WINDOWS, RuleSentences.digest],
        }
    )
