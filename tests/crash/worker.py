"""A validator's durable half, at full speed until it is shot: rounds, organic requests, weigh-ins and clean-ups.

Its clock follows the blocks of the chain and goes on from life to life: a block is 12 minutes, hours pass in a second.
"""

import asyncio
import itertools
import pickle
import secrets
import time
from multiprocessing.connection import Connection
from pathlib import Path

from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.head import HeadSigner, sign_heads
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests.organic import answer_request, enqueue_request, take_next
from weighbeam.engine.rounds.recovery import finish_rounds, recover_requests
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up, is_cleanup_due
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Asked, Observation
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

CHUNKING, PARAMS, ALICE = Chunking(), ChunkingParams(), Hotkey.from_uri("//Alice")
AVERAGING = Averaging(ema_lookback_hours=3.0, db_retention_hours=6.0, db_cleanup_interval_hours=2.0)
START, BLOCK_SECONDS = 1_800_000_000.0, 720.0
QUESTION = {"document": "One thing. Another thing.", "chunk_size": 100}


def open_scale(folder: Path) -> WeighInContext:
    """The store and the chain of a folder, as a start opens them."""
    store = Store(f"sqlite:///{folder / 'journal.db'}")
    sign_heads(store, HeadSigner(ALICE, time.time, file=folder / "journal.db.head"))
    chain = LocalChain(ChainFile(folder / "chain.sqlite"), ALICE)
    journal, ledger = Journal(store), Ledger(store, "chunking")
    return WeighInContext(CHUNKING, PARAMS, journal, ledger, chain, ALICE.address, averaging=AVERAGING)


def read_observed(folder: Path) -> tuple[Asked, Observation]:
    return pickle.loads((folder / "observed.pickle").read_bytes())


def make_facts(name: str, at: float, observation: Observation) -> RoundFacts:
    params_hash = hash_params(CHUNKING, PARAMS, observation.facts["senses"])
    return RoundFacts(name, "chunking", PARAMS.model_dump(mode="json"), params_hash, name, int(at // 12), at)


def recover(weigh_in_context: WeighInContext) -> list[str]:
    """What a start finishes: rounds, then the requests that wait for them."""
    return finish_rounds(weigh_in_context.journal, {"chunking": CHUNKING}) + recover_requests(
        weigh_in_context.journal, CHUNKING
    )


def clean(weigh_in_context: WeighInContext, now: float) -> None:
    if is_cleanup_due(weigh_in_context.journal.store, now, AVERAGING):
        clean_up(weigh_in_context.journal.store, now, AVERAGING, ALICE.address, ALICE.sign)


def live(folder: Path, said: Connection) -> None:
    """One life. Each word is said once what it speaks of is safe."""
    weigh_in_context, (asked, observation) = open_scale(folder), read_observed(folder)
    store, journal, file = weigh_in_context.journal.store, weigh_in_context.journal, ChainFile(folder / "chain.sqlite")
    HotkeyLock(store, ALICE.address).take()
    recover(weigh_in_context)
    for turn in itertools.count():
        block = advance(file, 2)
        now = START + block * BLOCK_SECONDS
        if turn % 3 == 0:
            said.send(("asked", enqueue_request(store, CHUNKING, PARAMS, QUESTION, now)))
        name = f"round-{block}-{secrets.token_hex(4)}"
        request = take_next(store, "chunking", name, now)
        journal.record(make_facts(name, now, observation), asked, observation)
        done = journal.commit(name, CHUNKING)
        said.send(("round", name, done.sequence))
        if request is not None:
            answer_request(journal, request.id, name, CHUNKING)
            said.send(("answered", request.id, name))
        if turn % 2:
            asyncio.run(weigh_in(weigh_in_context, now))
        clean(weigh_in_context, now)
