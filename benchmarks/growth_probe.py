"""One step of growth in a process of its own: `chunking|embedded ANSWERS CHARACTERS`, `inference ANSWERS`, or `command`
and a command of weighbeam. Prints one JSON object: CPU seconds, those of the embedder, MB at the largest."""

import contextlib
import io
import json
import resource
import sys
import time
from pathlib import Path

from benchmarks.inference import make_long_round
from benchmarks.made_rounds import RandomSenses, make_asked
from benchmarks.round import Timed
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Asked
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses

CHUNK_CHARACTERS = 2_500


class Drawn(LocalSenses):
    """The senses of this machine, but vectors are drawn: what is measured is everything else."""

    def __init__(self) -> None:
        super().__init__(remember=False, workers=1)
        self.embedder.inner = RandomSenses().embedder


def main(kind: str, *words: str) -> None:
    if kind == "command":
        found = run_command(words)
    elif kind == "inference":
        local = LocalSenses(remember=False, workers=1)
        found = play(load_mechanism("inference"), make_long_round(int(words[0])), local)
    else:
        answers, characters = map(int, words)
        asked = make_asked(1, answers, answers, characters, characters // CHUNK_CHARACTERS)
        local = LocalSenses(remember=False, workers=1) if kind == "embedded" else Drawn()
        found = play(load_mechanism("chunking"), asked, local)
    print(json.dumps({**found, "memory": read_peak()}))


def play(mechanism: Mechanism, asked: Asked, local: LocalSenses) -> dict[str, float]:
    """Observe and score one round."""
    params = make_params(mechanism)
    local.embedder.inner.embed(["warm up"])
    senses, start = Timed(local), time.process_time()
    mechanism.score(params, mechanism.observe(params, asked, senses))
    return {"cpu": time.process_time() - start, "embedding": senses.seconds, "texts": len(senses.texts)}


UNSIGNED = "the journal has no head"
"""All that a proof may find: journals are made without the hotkey that signs them."""


def run_command(words: tuple[str, ...]) -> dict[str, float]:
    from weighbeam.cli.main import app

    with contextlib.redirect_stdout(io.StringIO()) as shown:
        try:
            app([*words], prog_name="weighbeam")
        except SystemExit as end:
            text = shown.getvalue()
            if end.code and not (UNSIGNED in text and text.rstrip().endswith(", 1 differ")):
                raise RuntimeError(text[-2000:]) from end
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"cpu": sum(one.ru_utime + one.ru_stime for one in used)}


def read_peak(process: str = "self") -> float:
    """Megabytes of a process at its largest."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
