"""Shoot the worker again and again and look at what is left: `python campaign.py [KILLS] [SEED]`.

After each kill -9 everything it had called safe must be there once, the journal must replay to the bit, and the chain
must have seen no submission that the ledger does not own.
"""

import asyncio
import pickle
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal import Journal
from weighbeam.engine.ledger import Ledger
from weighbeam.engine.replay import replay
from weighbeam.engine.round import finish_rounds
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

ALICE = Hotkey.from_uri("//Alice")
WORKER = Path(__file__).with_name("worker.py")
LONGEST_LIFE = 0.6


@dataclass
class Tally:
    """What a campaign found."""

    kills: int = 0
    rounds: set[str] = field(default_factory=set)
    unfinished: int = 0
    unsettled: int = 0
    faults: list[str] = field(default_factory=list)


def set_up(folder: Path, senses: LocalSenses) -> None:
    """A chain with everybody on it, and one observed round for the worker to play over and over."""
    asked = Chunking().examples()[0]
    observation = Chunking().observe(ChunkingParams(), asked, senses)
    (folder / "observed.pickle").write_bytes(pickle.dumps((asked, observation)))
    file = ChainFile.create(
        folder / "chain.sqlite", SubnetParameters(tempo=50, rate_limit=5, max_validators=1), manual=True
    )
    register(file, ALICE.address, stake=5000 * 10**9)
    for answer in asked.answers:
        register(file, answer.hotkey)
        announce(file, answer.hotkey, "127.0.0.1:8000")
    advance(file, 60)
    file.close()


def shoot(folder: Path, life: float) -> set[str]:
    """Start the worker, let it live from its first word on, kill it; gives the rounds it called safe."""
    with subprocess.Popen([sys.executable, str(WORKER), str(folder)], stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        first = worker.stdout.readline()
        time.sleep(life)
        worker.kill()
        said = [first, *worker.stdout.read().splitlines()]
    return {line.split()[1] for line in said if line.startswith("round ") and len(line.split()) == 2}


def inspect(folder: Path, tally: Tally) -> None:
    """Recover as a start would, then count and compare."""
    store = Store(f"sqlite:///{folder / 'journal.db'}")
    journal, ledger = Journal(store), Ledger(store, "chunking")
    chain = LocalChain(ChainFile(folder / "chain.sqlite"), ALICE)
    tally.unfinished += len(finish_rounds(journal, {"chunking": Chunking()}))
    row = ledger.unsettled()
    if row is not None:
        tally.unsettled += 1
        asyncio.run(ledger.settle(chain, ALICE.address))
    with store.read() as connection:
        kept = connection.exec_driver_sql("SELECT ref FROM entries WHERE kind = 'round'").scalars().all()
    if len(kept) != len(set(kept)):
        tally.faults.append("a round counts twice")
    lost = tally.rounds - set(kept)
    if lost:
        tally.faults.append(f"lost {sorted(lost)}")
    tally.faults += [f"{r.ref}: {r.fault}" for r in replay(store, load_mechanism) if r.fault]
    taken = chain._file.db.execute("SELECT COUNT(*) FROM events WHERE name = 'WeightsSet'").fetchone()[0]
    owned = [row for row in ledger.rows() if row.state in ("included", "confirmed") or row.reason == "superseded"]
    if taken != len(owned):
        tally.faults.append(f"the chain took {taken} submissions, the ledger owns {len(owned)}")
    store.close()


def run_campaign(folder: Path, kills: int, seed: int, senses: LocalSenses) -> Tally:
    dice, tally = random.Random(seed), Tally()
    set_up(folder, senses)
    for _ in range(kills):
        tally.rounds |= shoot(folder, dice.uniform(0.0, LONGEST_LIFE))
        tally.kills += 1
        inspect(folder, tally)
        if tally.faults:
            break
    return tally


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"{kills} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = run_campaign(Path(folder), kills, seed, LocalSenses())
    print(
        f"{tally.kills} kills: {len(tally.rounds)} rounds called safe, {tally.unfinished} found half done, "
        f"{tally.unsettled} submissions found open, all finished or settled; {len(tally.faults)} faults"
    )
    for fault in tally.faults:
        print(fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
