"""Rounds beside a service: `python -m benchmarks.live_rounds FOLDER SECONDS EVERY` commits to the journal in FOLDER.

Chunking and inference by turns, each a new document or prompt, its answers embedded and scored as a validator does it,
every commit on the disk. Prints how many there were and what they took.
"""

import json
import logging
import secrets
import sys
import time
from pathlib import Path

from benchmarks.service_answers import Answers, list_new
from benchmarks.service_journal import MECHANISMS, SEED, Player, list_hotkeys
from weighbeam.engine.journal.journal import Journal
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store


def commit_rounds(folder: Path, seconds: float, every: float) -> list[float]:
    """Seconds that each round took."""
    store, senses = Store(f"sqlite:///{folder / 'journal.db'}"), LocalSenses(remember=False, workers=1)
    player = Player(Journal(store), Answers(list_hotkeys(), {}, SEED), senses)
    spent, until = list[float](), time.monotonic() + seconds
    while (start := time.monotonic()) < until:
        mechanism, name = load_mechanism(MECHANISMS[len(spent) % len(MECHANISMS)]), secrets.token_hex(4)
        player.answers.pools = list_new(name, senses)
        player.play(mechanism, make_params(mechanism, {}), f"{mechanism.name}-live-{name}", len(spent), time.time())
        spent.append(time.monotonic() - start)
        time.sleep(max(0.0, every - spent[-1]))
    store.close()
    return spent


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    print(json.dumps(commit_rounds(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))))
