"""Run every benchmark, print the table, and write it to benchmarks/RESULTS.md."""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.embedder import measure_embedder
from benchmarks.evidence import measure_evidence
from benchmarks.inference import measure_inference
from benchmarks.measure import Line, show_line
from benchmarks.novelty_desk import measure_desk
from benchmarks.novelty_index import measure_novelty_index
from benchmarks.replay import measure_replay
from benchmarks.reward import measure_reward
from benchmarks.round import measure_round
from benchmarks.score import measure_score
from benchmarks.weigh_in import measure_weigh_in

RESULTS = Path(__file__).with_name("RESULTS.md")
PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "Reward from given vectors": measure_reward,
    "From an observation to weights": measure_score,
    "A journal computed again": measure_replay,
    "A weigh-in on an old journal": measure_weigh_in,
    "A round of 25 answers on 50,000 characters": measure_round,
    "A round of 100 long answers, and consensus of 1,000 vectors": measure_inference,
    "Evidence: the small model, a round, a large page": measure_evidence,
    "The exact index of the novelty corpus, 384 dimensions": measure_novelty_index,
    "The novelty desk": measure_desk,
    "The embedder": measure_embedder,
}


def main() -> int:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    how = "A ratio compares two things timed in this one run; milliseconds alone are the best of several laps."
    text = [f"# Measured by `make bench`\n\n{machine}. {how}\n"]
    met = True
    for title, measure in PARTS.items():
        text.append(f"\n## {title}\n\n| what | measured | wanted | met |\n| --- | --- | --- | --- |\n")
        print(title, flush=True)
        for line in measure():
            met &= line.met
            text.append(f"| {line.what} | {line.measured} | {line.wanted} | {'yes' if line.met else '**no**'} |\n")
            show_line(line)
    RESULTS.write_text("".join(text))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
