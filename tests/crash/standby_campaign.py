"""Shoot the active validator while another stands by, again and again: `python standby_campaign.py [KILLS] [SEED]`.

Each time the one that stood by must take over, alone and only after the other's end: no round of one may stand among
the other's, every submission that the chain took must be one row of the ledger, and the journal must replay. In half of
the lives the chain seals weights until their reveal.
"""

import asyncio
import pickle
import random
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from chain.administration import set_parameters
from crash.campaign import PROCESSES, start_server
from crash.standby_worker import SILENT_BLOCKS, live, open_context
from crash.worker import ALICE, CHUNKING, PARAMS
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.engine.proof.prove import Pins, prove
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

BLOCKS_PER_SECOND, BLOCK_SECONDS = 25.0, 720.0
PATIENCE_SECONDS, LONGEST_SECONDS = 90.0, 0.9


@dataclass
class Life:
    """One validator of the pair, as the campaign sees it."""

    name: str
    process: Any
    said: Connection
    active_at: float | None = None

    def hear(self, word: str) -> tuple[Any, ...]:
        """Wait for a word; one that ends by itself has failed."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self.said.poll(0.1):
                told = self.said.recv()
                if told[0] == word:
                    return tuple(told)
            assert self.process.is_alive(), f"{self.name} ended by itself: {self.process.exitcode}"
        raise AssertionError(f"{self.name} did not say {word}")


@dataclass
class Tally:
    kills: int = 0
    submissions: int = 0
    unsettled: int = 0
    slowest: float = 0.0
    rounds: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills: as many takeovers, the slowest after {self.slowest:.1f} s; {self.rounds} rounds, "
            f"{self.submissions} submissions, {self.unsettled} left open by a kill; {len(self.faults)} faults"
        )


def set_up(folder: Path, senses: LocalSenses) -> None:
    """A chain that makes blocks by itself, and one observed round."""
    asked = CHUNKING.examples()[0]
    observation = CHUNKING.observe(PARAMS, asked, senses)
    (folder / "observed.pickle").write_bytes(pickle.dumps((asked, observation)))
    parameters = SubnetParameters(tempo=60, rate_limit=3, max_validators=1)
    speed = BLOCKS_PER_SECOND * BLOCK_SECONDS
    file = ChainFile.create(folder / "chain.sqlite", parameters, speed=speed, block_seconds=BLOCK_SECONDS)
    register(file, ALICE.address, stake=5000 * 10**9)
    for answer in asked.answers:
        register(file, answer.hotkey)
        announce(file, answer.hotkey, "127.0.0.1:8000")
    with file.locked():
        file.db.execute("UPDATE neurons SET permit = 1 WHERE uid = 0")
    file.close()


class Pair:
    """One active, one that stands by."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.born = 0
        self.lives: list[Life] = []

    def start(self, standby: bool) -> Life:
        ours, theirs = PROCESSES.Pipe(duplex=False)
        name = f"life{self.born}"
        self.born += 1
        process = PROCESSES.Process(target=live, args=(self.folder, self.url, name, standby, theirs), daemon=True)
        process.start()
        theirs.close()
        life = Life(name, process, ours)
        self.lives.append(life)
        life.hear("ready")
        return life

    def end(self) -> None:
        for life in self.lives:
            life.process.kill()
            life.process.join()


def run_campaign(folder: Path, kills: int, seed: int, senses: LocalSenses, url: str | None = None) -> Tally:
    dice, tally = random.Random(seed), Tally()
    start_server()
    set_up(folder, senses)
    pair = Pair(folder, url or f"sqlite:///{folder / 'journal.db'}")
    try:
        active = pair.start(standby=False)
        active.active_at = active.hear("active")[2]
        waiting = pair.start(standby=True)
        for _ in range(kills):
            time.sleep(dice.random() * LONGEST_SECONDS)
            if waiting.said.poll():
                tally.faults.append(f"{waiting.name} said {waiting.said.recv()} while {active.name} was active")
                break
            shot = time.monotonic()
            active.process.kill()
            active.process.join()
            tally.unsettled += is_open(pair.url)
            with closing(ChainFile(folder / "chain.sqlite")) as file:
                set_parameters(file, commit_reveal=dice.random() < 0.5)
            following = pair.start(standby=True) if dice.random() < 0.5 else None
            waiting.active_at = waiting.hear("active")[2]
            if waiting.active_at < shot + (SILENT_BLOCKS - 1) / BLOCKS_PER_SECOND:
                tally.faults.append(f"{waiting.name} was active {waiting.active_at - shot:.3f} s after the shot")
            tally.slowest = max(tally.slowest, waiting.active_at - shot)
            tally.kills += 1
            active, waiting = waiting, following or pair.start(standby=True)
        active.process.kill()
    finally:
        pair.end()
    inspect(pair, tally)
    return tally


def is_open(url: str) -> bool:
    """Whether a kill left a submission of which it is not known what became of it."""
    with closing(Store(url)) as store:
        return any(row.state in ("planned", "sent") for row in Ledger(store, "chunking").rows(1))


def inspect(pair: Pair, tally: Tally) -> None:
    context, _ = open_context(pair.folder, pair.url)
    store, ledger = context.journal.store, context.ledger
    asyncio.run(ledger.settle(context.chain, ALICE.address))
    with store.read() as connection:
        query = "SELECT ref FROM entries WHERE kind = 'round' ORDER BY sequence"
        names = [ref.partition("-")[0] for ref in connection.exec_driver_sql(query).scalars()]
    tally.rounds = len(names)
    turns = [name for name, _ in groupby(names)]
    if len(turns) != len(set(turns)):
        tally.faults.append(f"rounds of two validators among each other: {turns}")
    file = ChainFile(pair.folder / "chain.sqlite")
    query = "SELECT block FROM events WHERE name IN ('WeightsSet', 'TimelockedWeightsCommitted') ORDER BY id"
    taken = [block for (block,) in file.db.execute(query)]
    file.close()
    tally.submissions = len(taken)
    included = sorted(row.included_block for row in ledger.rows() if row.included_block is not None)
    if included != taken:
        tally.faults.append(f"the chain took submissions at {taken}, the ledger has {included}")
    odd = [row.reason for row in ledger.rows() if row.reason in ("overwritten", "weights_differ")]
    if odd:
        tally.faults.append(f"submissions ended as {odd}")
    tally.faults += [f"{one.ref}: {one.fault}" for one in prove(store, load_mechanism, Pins(ALICE.address, ())).faults]
    store.close()


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
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
