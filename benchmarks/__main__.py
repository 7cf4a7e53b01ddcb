"""Run the benchmarks, print the table, and write it to benchmarks/RESULTS.md.

`python -m benchmarks service` runs the parts with that word in their titles, and leaves the lines of all others alone.
"""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.cluster import measure_cluster
from benchmarks.embedder import measure_embedder
from benchmarks.embedder_int8 import measure_int8
from benchmarks.evidence import measure_evidence
from benchmarks.growth import measure_grown_journals, measure_grown_rounds, measure_grown_services
from benchmarks.inference import measure_inference
from benchmarks.lab import measure_lab
from benchmarks.measure import Line, show_line
from benchmarks.novelty_desk import measure_desk
from benchmarks.novelty_index import measure_novelty_index
from benchmarks.novelty_vectors import measure_vectors
from benchmarks.past_one_machine import measure_past
from benchmarks.replay import measure_replay
from benchmarks.reward import measure_reward
from benchmarks.round import measure_round
from benchmarks.score import measure_score
from benchmarks.service import measure_service
from benchmarks.start import measure_start
from benchmarks.steady import measure_steady
from benchmarks.weigh_in import measure_weigh_in

RESULTS = Path(__file__).with_name("RESULTS.md")
PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "Start of a command": measure_start,
    "Reward from given vectors": measure_reward,
    "From an observation to weights": measure_score,
    "A journal computed again": measure_replay,
    "A weigh-in on an old journal": measure_weigh_in,
    "A round of 25 answers on 50,000 characters": measure_round,
    "Steady rewards of chunkings, 200,000 characters": measure_steady,
    "A round of 100 long answers, and consensus of 1,000 vectors": measure_inference,
    "Evidence: the small model, a round, a large page": measure_evidence,
    "The exact index of the novelty corpus, 384 dimensions": measure_novelty_index,
    "The novelty corpus on pgvector, 384 dimensions": measure_vectors,
    "The novelty desk": measure_desk,
    "The embedder": measure_embedder,
    "minilm-int8 against minilm-fp32": measure_int8,
    "Rounds embedded by a Ray cluster": measure_cluster,
    "The service on a month of 256 miners": measure_service,
    "Past one machine: what one of everything costs, and what a large load needs": measure_past,
    "The lab: epochs, standings, weigh-ins, a year": measure_lab,
    "Growth of rounds: answers and characters": measure_grown_rounds,
    "Growth of journals: days": measure_grown_journals,
    "Growth of a service: miners": measure_grown_services,
}
LONG = tuple(title for title in PARTS if title.startswith("Growth"))
"""Only run by name; what was measured of them before stays."""
HEAD = "| what | measured | wanted | met |\n| --- | --- | --- | --- |\n"


def main(*words: str) -> int:
    named = [title for title in PARTS if any(word.lower() in title.lower() for word in words)]
    chosen = named if words else [title for title in PARTS if title not in LONG]
    known = read_sections(RESULTS.read_text())
    sections = known if words else {title: known.get(title, "") if title in LONG else "" for title in PARTS}
    met = True
    for title in chosen:
        print(title, flush=True)
        rows = []
        for line in PARTS[title]():
            met &= line.met
            rows.append(f"| {line.what} | {line.measured} | {line.wanted} | {'yes' if line.met else '**no**'} |\n")
            show_line(line)
        sections[title] = HEAD + "".join(rows)
    RESULTS.write_text(introduce() + "".join(f"\n## {title}\n\n{rows}" for title, rows in sections.items() if rows))
    return 0 if met and chosen else 1


def introduce() -> str:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    how = "A ratio compares two things timed in one run; milliseconds alone are the best of several laps."
    return f"# Measured by `make bench`\n\n{machine}. {how} Each part can be run alone: `python -m benchmarks WORD`.\n"


def read_sections(text: str) -> dict[str, str]:
    """What was measured before, by title.

    >>> read_sections("# All\\n\\n## One\\n\\n| a |\\n\\n## Two\\n\\n| b |\\n")
    {'One': '| a |\\n', 'Two': '| b |\\n'}
    """
    parts = [part.partition("\n\n") for part in text.split("\n## ")[1:]]
    return {title: rows.rstrip("\n") + "\n" for title, _, rows in parts}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
