"""A validator's durable half, at full speed until it is shot: rounds, weigh-ins, and a word for each that is safe.

`python worker.py FOLDER`: the observed round is pickled in FOLDER, beside the journal and the chain.
"""

import asyncio
import itertools
import pickle
import sys
import time
from pathlib import Path

from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal import Journal, RoundFacts
from weighbeam.engine.ledger import Ledger
from weighbeam.engine.round import finish_rounds
from weighbeam.engine.weigh_in.assess import Scale
from weighbeam.engine.weigh_in.run import weigh_in
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.contract import hash_params
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

CHUNKING, PARAMS, ALICE = Chunking(), ChunkingParams(), Hotkey.from_uri("//Alice")


def main(folder: Path) -> None:
    asked, observation = pickle.loads((folder / "observed.pickle").read_bytes())
    store = Store(f"sqlite:///{folder / 'journal.db'}")
    journal = Journal(store)
    finish_rounds(journal, {"chunking": CHUNKING})
    file = ChainFile(folder / "chain.sqlite")
    scale = Scale(CHUNKING, PARAMS, journal, Ledger(store, "chunking"), LocalChain(file, ALICE), ALICE.address)
    params, params_hash = PARAMS.model_dump(mode="json"), hash_params(CHUNKING, PARAMS, observation.facts["senses"])
    for turn in itertools.count():
        name = f"round-{time.time_ns()}"
        facts = RoundFacts(name, "chunking", params, params_hash, name, turn, time.time())
        journal.record(facts, asked, observation)
        journal.commit(name, CHUNKING)
        print(f"round {name}", flush=True)
        if turn % 2:
            advance(file, 5)
            done = asyncio.run(weigh_in(scale, time.time()))
            if done.submission is not None:
                print(f"submission {done.submission.id} {done.submission.state}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
