"""Measure one embedder in a process of its own: `python -m benchmarks.embedder_probe ours|torch TEXTS OUT`.

Prints one JSON line: cold start, sentences per CPU second by length, resident memory; writes vectors to OUT.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
LAPS = 3


def main(which: str, texts_file: str, out: str) -> None:
    start = time.perf_counter()
    embed, batches = {"ours": _open_ours, "torch": _open_torch}[which]()
    embed(["The first sentence of the day."], batches[0])
    cold = time.perf_counter() - start
    groups: dict[str, list[str]] = json.loads(Path(texts_file).read_text())
    rates = {name: max(_rate(embed, texts, size) for size in batches) for name, texts in groups.items()}
    vectors = embed(groups["mixed"], batches[0])
    import numpy as np

    np.save(out, vectors)
    memory = _read_peak()
    print(json.dumps({"cold": cold, "rates": rates, "memory": memory}))


def _read_peak() -> float:
    """Megabytes of this process at its largest; what getrusage tells begins with the size of its parent."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _rate(embed: Callable[[list[str], int], Any], texts: list[str], size: int) -> float:
    """Sentences per CPU second, best of a few laps."""
    embed(texts[:8], size)
    best = 0.0
    for _ in range(LAPS):
        start = time.process_time()
        embed(texts, size)
        best = max(best, len(texts) / (time.process_time() - start))
    return best


def _open_ours() -> tuple[Callable[[list[str], int], Any], tuple[int, ...]]:
    from weighbeam.senses.adapters.embedding.minilm import load_minilm
    from weighbeam.senses.adapters.model_files import cache_folder

    minilm = load_minilm(cache_folder())
    return lambda texts, _: minilm.embed(texts), (0,)


def _open_torch() -> tuple[Callable[[list[str], int], Any], tuple[int, ...]]:
    import torch
    from sentence_transformers import SentenceTransformer

    from weighbeam.senses.adapters.model_files import find_minilm

    torch.set_num_threads(1)
    model = SentenceTransformer(str(find_minilm().weights.parent), device="cpu")
    return lambda texts, size: model.encode(texts, batch_size=size, show_progress_bar=False), (32, 8)


if __name__ == "__main__":
    main(*sys.argv[1:])
