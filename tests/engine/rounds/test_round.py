"""Whole rounds: a local chain, real HTTP miners honest and hostile, real embeddings, the journal and its replay."""

import asyncio
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from network.loopback import open_nonces, serve_app
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.recovery import finish_rounds
from weighbeam.engine.rounds.round import run_round
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.miners.handlers import TRICKS, honest_miner, hostile_miner
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.ask import Asker, AskSettings, MinerReply
from weighbeam.network.blame import blame_refused
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

VALIDATOR = Hotkey.from_uri("//Validator")
HONEST = ("paragraphs", "semchunk", "sentences")


@pytest.fixture(scope="module")
def subnet(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory):
    """hotkey → (name, endpoint): three honest miners and one for every trick."""
    folder = tmp_path_factory.mktemp("miners")
    handlers = {name: honest_miner(name, senses) for name in HONEST}
    handlers |= {trick: hostile_miner(trick, senses) for trick in TRICKS}
    with ExitStack() as stack:
        found = {}
        for name, handler in handlers.items():
            hotkey = Hotkey.from_uri(f"//{name}")
            policy = SenderPolicy(PolicySettings(per_minute=6000, burst=100))
            policy.update({VALIDATOR.address: SenderStanding(True, 10**12)})
            nonces = open_nonces(folder / f"{name}.sqlite")
            app = make_miner_app(hotkey, {"chunking": handler}, nonces, policy)
            found[hotkey.address] = (name, stack.enter_context(serve_app(app)))
        yield found


def round_context(folder: Path, senses: LocalSenses) -> RoundContext:
    params = ChunkingParams(timeout=3.0)
    asker = Asker(VALIDATOR, AskSettings(allow_private=True, per_address=64))
    return RoundContext(Chunking(), params, Journal(Store(f"sqlite:///{folder / 'journal.db'}")), asker, senses)


def moment(number: int, subnet, gone: tuple[str, ...] = ()) -> RoundStart:
    there = {hotkey: row for hotkey, row in subnet.items() if row[0] not in gone}
    uids = {hotkey: uid for uid, hotkey in enumerate(there)}
    endpoints = {hotkey: Endpoint(endpoint, "btauth/1", "chain") for hotkey, (_, endpoint) in there.items()}
    return RoundStart(f"round-{number}", f"seed-{number}", number, time.time() + number, uids, endpoints)


def task(number: int) -> Task:
    return Task(f"task-{number}", {"document": generate_document(f"round-{number}", 6000).text, "chunk_size": 1500})


def test_rounds_rank_the_honest_above_the_hostile_and_replay_to_the_bit(tmp_path, senses, subnet) -> None:
    table = round_context(tmp_path, senses)
    name_of = {hotkey: name for hotkey, (name, _) in subnet.items()}
    for number in range(3):
        done = asyncio.run(run_round(table, task(number), moment(number, subnet), list(subnet)))
    reasons = {name_of[score.hotkey]: score.reasons for score in done.scored.scores}
    assert reasons["dropper"] == reasons["inventor"] == ("new_words",)
    assert reasons["shuffler"] == ("out_of_order",)
    assert reasons["silent"] == ("no_chunks",)
    assert reasons["garbage"] == reasons["liar"] == ("malformed",)
    assert all(reasons[name] == () for name in HONEST)
    standing = {name_of[s.hotkey]: s.value for s in done.standings}
    failed = ("dropper", "inventor", "shuffler", "silent", "garbage", "liar")
    assert all(standing[name] is None for name in failed)
    best = max(standing[name] for name in HONEST)
    assert best < standing["oversized"]
    assert best < standing["splitter"]
    raw = table.mechanism.weigh(table.params, done.standings, set(subnet)).raw
    assert sum(raw[hotkey] for hotkey, name in name_of.items() if name in failed) == 0
    assert [r.fault for r in replay(table.journal.store, load_mechanism) if r.fault] == []


def test_a_miner_that_left_the_subnet_leaves_the_standings(tmp_path, senses, subnet) -> None:
    table = round_context(tmp_path, senses)
    asyncio.run(run_round(table, task(0), moment(0, subnet), list(subnet)))
    left = next(hotkey for hotkey, (name, _) in subnet.items() if name == "sentences")
    staying = [hotkey for hotkey in subnet if hotkey != left]
    done = asyncio.run(run_round(table, task(1), moment(1, subnet, gone=("sentences",)), staying))
    assert left not in {standing.hotkey for standing in done.standings}
    assert [r.fault for r in replay(table.journal.store, load_mechanism) if r.fault] == []


def test_nobody_there_is_no_round(tmp_path, senses) -> None:
    table = round_context(tmp_path, senses)
    with pytest.raises(WeighbeamError, match="too_few_miners"):
        asyncio.run(run_round(table, task(0), RoundStart("r", "s", 1, 1.0, {}, {}), []))


def test_a_miner_without_endpoint_fails_and_harms_nobody(tmp_path, senses, subnet) -> None:
    table = round_context(tmp_path, senses)
    now = moment(0, subnet)
    ghost = Hotkey.from_uri("//Ghost").address
    there = RoundStart(now.round_id, now.seed, 0, now.at, {**now.uids, ghost: 99}, now.endpoints)
    done = asyncio.run(run_round(table, task(0), there, [*subnet, ghost]))
    assert {s.hotkey: s.reasons for s in done.scored.scores}[ghost] == ("no_chunks",)


def test_a_crash_after_observing_is_finished_at_the_next_start(tmp_path, senses, subnet, monkeypatch) -> None:
    table = round_context(tmp_path, senses)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "commit", die)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run_round(table, task(0), moment(0, subnet), list(subnet)))
    monkeypatch.undo()
    assert finish_rounds(table.journal, {"chunking": Chunking()}) == ["round-0"]
    assert finish_rounds(table.journal, {"chunking": Chunking()}) == []
    assert [r.fault for r in replay(table.journal.store, load_mechanism) if r.fault] == []


def test_our_own_clock_is_nobody_else_s_fault() -> None:
    stale = MinerReply("a", "error", "stale", 0.1)
    fine = MinerReply("b", "ok", None, 0.1, {})
    assert [reply.status for reply in blame_refused([stale, stale, fine])] == ["validator_error"] * 2 + ["ok"]
    assert [reply.status for reply in blame_refused([stale, fine])] == ["error", "ok"]
