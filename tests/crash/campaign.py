"""Shoot the worker again and again and look at what is left: `python campaign.py [KILLS] [SEED]`.

After each kill -9 everything it had called safe must be there once, the journal must replay to the bit from its
checkpoint on, each request must have one answer or wait for it, and the chain must have seen no submission that the
ledger does not own. In half of the lives the chain seals weights until their reveal.
"""

import asyncio
import multiprocessing
import os
import pickle
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from chain.administration import set_parameters
from crash.worker import ALICE, CHUNKING, PARAMS, live, open_scale, recover
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.engine.journal.checkpoint import select_checkpoint
from weighbeam.engine.journal.head import load_head
from weighbeam.engine.proof.prove import Pins, prove
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

MOST_WORDS = 8
"""A life is measured by what it gets done, not by a clock, so that a busy machine proves as much as a quiet one."""
FIRST_SECONDS, SLOWEST_SECONDS = 0.4, 60.0
PROCESSES = multiprocessing.get_context("forkserver")


@dataclass
class Tally:
    """What a campaign saw and what it found wrong; `answers` are request → round."""

    kills: int = 0
    rounds: dict[str, int] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    answers: dict[str, str] = field(default_factory=dict)
    unfinished: int = 0
    unsettled: int = 0
    submissions: int = 0
    sealed: int = 0
    checkpoint: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills: {len(self.rounds)} rounds called safe, {len(self.answers)} of {len(self.asked)} "
            f"requests answered, {self.unfinished} rounds and requests found half done, {self.unsettled} of "
            f"{self.submissions} submissions found open ({self.sealed} were sealed), everything up to entry "
            f"{self.checkpoint} in a checkpoint; {len(self.faults)} faults"
        )


def start_server() -> None:
    """A process that has everything imported and forks the workers, so that their lives begin at once."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    PROCESSES.set_forkserver_preload(["crash.worker", "crash.day", "crash.novelty_worker", "weighbeam.senses.local"])
    forkserver.ensure_running()
    os.environ.pop("PYTHONPATH")
    if before is not None:
        os.environ["PYTHONPATH"] = before


def set_up(folder: Path, senses: LocalSenses) -> None:
    """A chain with everybody on it, and one observed round for the worker to play over and over."""
    asked = CHUNKING.examples()[0]
    observation = CHUNKING.observe(PARAMS, asked, senses)
    (folder / "observed.pickle").write_bytes(pickle.dumps((asked, observation)))
    parameters = SubnetParameters(tempo=12, rate_limit=3, max_validators=1)
    file = ChainFile.create(folder / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    for answer in asked.answers:
        register(file, answer.hotkey)
        announce(file, answer.hotkey, "127.0.0.1:8000")
    advance(file, 60)
    file.close()


def shoot(folder: Path, words: int, linger: float, tally: Tally) -> None:
    """Start the worker, hear so many words, wait for `linger` of the time one took, kill it, note what it said."""
    ours, theirs = PROCESSES.Pipe(duplex=False)
    worker = PROCESSES.Process(target=live, args=(folder, theirs), daemon=True)
    worker.start()
    theirs.close()
    said: list[tuple[Any, ...]] = []
    began = time.monotonic()
    try:
        while len(said) < words and ours.poll(SLOWEST_SECONDS):
            said.append(ours.recv())
        time.sleep(linger * ((time.monotonic() - began) / len(said) if said else FIRST_SECONDS))
        worker.kill()
        while True:
            said.append(ours.recv())
    except (EOFError, OSError):
        worker.join()
    if worker.exitcode != -signal.SIGKILL:
        tally.faults.append(f"the worker ended by itself: {worker.exitcode}")
    for word in said:
        match word:
            case ("round", name, sequence):
                tally.rounds[name] = sequence
            case ("asked", request):
                tally.asked.add(request)
            case ("answered", request, name):
                _note_answer(tally, request, name)


def inspect(folder: Path, tally: Tally, finish: bool) -> None:
    """Count and compare; with `finish`, recover first as a start would, else the next life has to."""
    scale = open_scale(folder)
    store, ledger = scale.journal.store, scale.ledger
    if finish:
        tally.unfinished += len(recover(scale))
        tally.unsettled += ledger.unsettled() is not None
        asyncio.run(ledger.settle(scale.chain, ALICE.address))
        _check_submissions(folder, ledger, tally)
    _check_rounds(store, tally)
    _check_requests(store, tally, finish)
    pins = Pins(ALICE.address, (load_head(folder / "journal.db.head"),))
    tally.faults += [f"{found.ref}: {found.fault}" for found in prove(store, load_mechanism, pins).faults]
    store.close()


def _check_rounds(store: Store, tally: Tally) -> None:
    with store.read() as connection:
        rows = connection.exec_driver_sql("SELECT ref, sequence FROM entries WHERE kind = 'round'").all()
        kept, removed = dict(map(tuple, rows)), select_checkpoint(connection)
    tally.checkpoint = removed.sequence if removed else 0
    if len(kept) != len(rows):
        tally.faults.append("a round counts twice")
    due = {name: sequence for name, sequence in tally.rounds.items() if sequence > tally.checkpoint}
    lost = [name for name, sequence in due.items() if kept.get(name) != sequence]
    if lost:
        tally.faults.append(f"lost {sorted(lost)}")


def _check_requests(store: Store, tally: Tally, finished: bool) -> None:
    with store.read() as connection:
        rows = connection.exec_driver_sql("SELECT id, state, json_extract(result, '$.round') FROM requests").all()
    for request, state, name in rows:
        if state == "done":
            _note_answer(tally, request, name)
        elif request in tally.answers:
            tally.faults.append(f"request {request} was answered and is {state}")
        elif state not in (("waiting",) if finished else ("waiting", "taken")):
            tally.faults.append(f"request {request} is {state}")
    lost = tally.asked - {row[0] for row in rows} - set(tally.answers)
    if lost:
        tally.faults.append(f"lost requests {sorted(lost)}")
    if len(set(tally.answers.values())) != len(tally.answers):
        tally.faults.append("one round answered two requests")


def _note_answer(tally: Tally, request: str, name: str) -> None:
    if tally.answers.setdefault(request, name) != name:
        tally.faults.append(f"request {request} was answered by {tally.answers[request]} and by {name}")


def _check_submissions(folder: Path, ledger: Ledger, tally: Tally) -> None:
    """Every submission the chain took is one row's, and no row is taken for somebody else's."""
    file, rows = ChainFile(folder / "chain.sqlite"), ledger.rows()
    query = "SELECT name FROM events WHERE name IN ('WeightsSet', 'TimelockedWeightsCommitted')"
    taken = [name for (name,) in file.db.execute(query)]
    file.close()
    owned = [row for row in rows if row.state in ("included", "confirmed") or row.reason == "superseded"]
    tally.submissions, tally.sealed = len(taken), taken.count("TimelockedWeightsCommitted")
    if len(taken) != len(owned):
        tally.faults.append(f"the chain took {len(taken)} submissions, the ledger owns {len(owned)}")
    odd = [row.reason for row in rows if row.reason in ("overwritten", "weights_differ", "reveal_missing")]
    if odd:
        tally.faults.append(f"submissions ended as {odd}")


def run_campaign(folder: Path, kills: int, seed: int, senses: LocalSenses) -> Tally:
    dice, tally = random.Random(seed), Tally()
    start_server()
    set_up(folder, senses)
    for number in range(1, kills + 1):
        file = ChainFile(folder / "chain.sqlite")
        set_parameters(file, commit_reveal=dice.random() < 0.5)
        file.close()
        shoot(folder, dice.randint(0, MOST_WORDS), dice.random(), tally)
        tally.kills = number
        inspect(folder, tally, finish=number == kills or dice.random() < 0.5)
        if tally.faults:
            break
    return tally


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"{kills} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = run_campaign(Path(folder), kills, seed, LocalSenses())
    print(tally)
    for fault in tally.faults:
        print(fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
