"""The embedder against sentence-transformers on torch, each in a fresh process, one thread each."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Line
from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.senses.adapters.embedding.minilm import load_minilm
from weighbeam.senses.adapters.model_files import cache_folder
from weighbeam.senses.adapters.text.sentences import RuleSentences

TORCH = Path(".venv-torch/bin/python")
PIECE_FLOPS = 6 * 2 * (4 * 384 * 384 + 2 * 384 * 1536)


def measure_embedder() -> Iterator[Line]:
    groups = make_texts()
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.json"
        texts.write_text(json.dumps(groups))
        load_minilm(cache_folder())
        _probe(TORCH, "torch", texts, folder)
        theirs, ours = _probe(TORCH, "torch", texts, folder), _probe(Path(sys.executable), "ours", texts, folder)
        torch_vectors = np.load(Path(folder) / "torch.npy").astype(np.float64)
        our_vectors = np.load(Path(folder) / "ours.npy") / 1e6
    cosines = np.sum(torch_vectors * our_vectors, axis=1) / np.linalg.norm(torch_vectors, axis=1)
    least = float(cosines.min())
    yield Line("least cosine to sentence-transformers", f"{least:.7f}", "≥ 0.9999", least >= 0.9999)
    for name in groups:
        ratio = ours["rates"][name] / theirs["rates"][name]
        rates = f"{theirs['rates'][name]:.0f}/s → {ours['rates'][name]:.0f}/s"
        yield Line(f"sentences per CPU second, {name}", f"{ratio:.2f}× ({rates})", "≥ 1.0×", ratio >= 1.0)
    cold = ours["cold"] / theirs["cold"]
    shown = f"{cold:.2f} ({theirs['cold']:.1f} s → {ours['cold']:.1f} s)"
    yield Line("cold start, share of torch's", shown, "≤ 1/3", cold <= 1 / 3)
    memory = f"{ours['memory']:.0f} MB (torch {theirs['memory']:.0f} MB)"
    yield Line("resident memory, largest", memory, "≤ 400 MB", ours["memory"] <= 400)
    yield _share_of_sgemm(groups["200 pieces"], ours["rates"]["200 pieces"])


def make_texts() -> dict[str, list[str]]:
    """Sentences and segments of the shipped bank, and groups of about equal length."""
    splitter = RuleSentences()
    sentences = [s for paragraphs in load_topics().values() for text in paragraphs for s in splitter.split(text)]
    segments = [" ".join(sentences[i : i + 3]) for i in range(0, len(sentences), 3)]
    pieces = load_minilm(cache_folder()).count_pieces
    groups = {"mixed": sentences[::4] + segments[::4]}
    pool = sentences + segments + [" ".join(sentences[i : i + 8]) for i in range(0, len(sentences), 8)]
    for wanted in (12, 40, 200):
        order = sorted(zip(pieces(pool), pool, strict=True), key=lambda pair: abs(pair[0] - wanted))
        groups[f"{wanted} pieces"] = [text for _, text in order[:48]]
    return groups


def _probe(python: Path, which: str, texts: Path, folder: str) -> Any:
    command = [str(python), "-m", "benchmarks.embedder_probe", which, str(texts), f"{folder}/{which}.npy"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _share_of_sgemm(texts: list[str], rate: float) -> Line:
    """How much of the machine's own matrix product rate the whole model reaches."""
    left = np.random.default_rng(0).random((512, 384), dtype=np.float32)
    right = np.random.default_rng(1).random((384, 1536), dtype=np.float32)
    best = 0.0
    for _ in range(7):
        start = time.process_time()
        for _ in range(20):
            left @ right
        best = max(best, 20 * 2 * 512 * 384 * 1536 / (time.process_time() - start))
    pieces = sum(load_minilm(cache_folder()).count_pieces(texts)) / len(texts)
    reached = rate * pieces * (PIECE_FLOPS + 6 * 4 * 384 * pieces)
    shown = f"{reached / best:.0%} ({reached / 1e9:.0f} of {best / 1e9:.0f} GFLOP/s)"
    return Line("share of the measured sgemm rate at 200 pieces", shown, "reported", True)
