"""The same recorded answers through a file and this process, and through PostgreSQL and Ray: the same weights hash."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from engine.small_subnet import ALICE
from postgres import Server
from senses.adapters.cluster.nodes import need_ray
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.canonical import digest_json
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.hash_chain import append_entry
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.weights import weigh_in as run
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.miners.packing import pack_sentences
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive, load_bank
from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.database import Store

need_ray()
pytestmark = pytest.mark.alone

LABELLED = Path(__file__).parents[3] / "mechanisms/evidence/labelled_snippets.jsonl"
START, MINERS, ROUNDS = 1_800_000_000.0, tuple(f"miner-{number}" for number in range(6)), 3


def test_the_same_workload_gives_the_same_weights_hash(
    join, cache: Path, postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weigh-ins are named by chance: here by what they say."""
    monkeypatch.setattr(run, "append_entry", lambda *given: append_entry(given[0], given[1], given[3][:32], given[3]))
    cluster = join()
    here = play(Store(f"sqlite:///{tmp_path / 'journal.db'}"), open_senses(cache), tmp_path / "here")
    there_senses = open_senses(cache, cluster)
    there = play(Store(postgres.make_database()), there_senses, tmp_path / "there")
    assert here == there
    assert len(here["weights"]) == 64
    assert here["submissions"] == 3
    assert cluster.count_workers(there_senses.embedder.inner.steady.terms.key).ready > 0, "it was Ray that embedded"
    assert cluster.count_workers(there_senses.entailment.inner.steady.terms.key).ready > 0


def open_senses(cache: Path, cluster: Any = None) -> LocalSenses:
    archive = find_archive()
    senses = LocalSenses(
        cache=cache,
        remember=False,
        workers=1,
        pages=f"archive:{archive}",
        lists=archive / "lists",
        extra_suffixes=BANK_SUFFIXES,
        cluster=cluster,
    )
    senses.clock, read = StillClock(), senses.pages.read_all
    senses.pages.read_all = lambda urls: [replace(page, seconds={}) for page in read(urls)]
    return senses


class StillClock:
    """How long everything took is noted in the record, and part of no score."""

    def seconds(self) -> float:
        return 0.0

    def utc(self) -> float:
        return START

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits here")


def play(store: Store, senses: LocalSenses, folder: Path) -> dict[str, Any]:
    """Rounds of three mechanisms and a weigh-in of each; gives what was committed and set."""
    folder.mkdir()
    file = make_chain(folder)
    for name in ("chunking", "inference", "evidence"):
        mechanism = load_mechanism(name)
        params, journal = make_params(mechanism), Journal(store)
        for asked in MAKERS[name](senses):
            observation = mechanism.observe(params, asked, senses)
            number = int(str(asked.seed))
            facts = RoundFacts(
                id=f"{name}-{number}",
                mechanism=name,
                params=params.model_dump(mode="json"),
                params_hash=hash_params(mechanism, params, mechanism.name_senses(params, senses)),
                seed=asked.seed,
                block=number,
                at=START + 300.0 * number,
            )
            journal.record(facts, asked, observation)
            journal.commit(facts.id, mechanism)
        advance(file, 6)
        weigh_in_context = WeighInContext(
            mechanism, params, journal, Ledger(store, name), LocalChain(file, ALICE), ALICE.address
        )
        asyncio.run(weigh_in(weigh_in_context, START + 1000.0))
    assert [one for one in replay(store, load_mechanism) if one.fault] == []
    with store.read() as connection:
        entries = list(connection.scalars(select(tables.entries.c.hash).order_by(tables.entries.c.sequence)))
        rows = list(connection.scalars(select(tables.submissions.c.row).order_by(tables.submissions.c.mechanism)))
    store.close()
    return {"entries": entries, "weights": digest_json(rows), "submissions": len(rows)}


def make_chain(folder: Path) -> ChainFile:
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)
    file = ChainFile.create(folder / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    for hotkey in MINERS:
        register(file, hotkey)
        announce(file, hotkey, "127.0.0.1:8000")
    advance(file, 21)
    return file


def ask_chunking(senses: LocalSenses) -> Iterator[Asked]:
    for number in range(ROUNDS):
        document = generate_document(f"shared-{number}", 3000).text
        task = Task(f"t{number}", {"document": document, "chunk_size": 1200})
        sizes = range(300, 1200, 150)
        yield make_asked(task, number, [{"chunks": pack_sentences(document, size, 100, senses)} for size in sizes])


def ask_inference(_: LocalSenses) -> Iterator[Asked]:
    for number in range(ROUNDS):
        texts = [generate_document(f"said-{number}-{i // 2}", 700).text[: 500 + 20 * i] for i in range(6)]
        task = Task(f"t{number}", {"prompt": "How do towns keep their water clean?"})
        yield make_asked(task, number, [{"text": one} for one in texts])


def ask_evidence(senses: LocalSenses) -> Iterator[Asked]:
    """Each quotes what the sample pages say."""
    assert isinstance(senses.pages, ArchivePages)
    statements = {row["id"]: row["statement"] for row in load_bank()}
    rows = [row for row in map(json.loads, LABELLED.read_text("utf-8").splitlines()) if "attack" not in row]
    quotes = [{"url": row["url"], "excerpt": row["excerpt"]} for row in rows]
    for number in range(ROUNDS):
        task = Task(f"t{number}", {"statement": statements[rows[3 * number]["statement_id"]]})
        yield make_asked(task, number, [{"snippets": quotes[number + i : number + i + 3]} for i in range(6)])


def make_asked(task: Task, number: int, payloads: list[dict[str, Any]]) -> Asked:
    answers = tuple(
        Answer(hotkey, payload, 1.0 + uid / 10, uid=uid)
        for uid, (hotkey, payload) in enumerate(zip(MINERS, payloads, strict=True))
    )
    return Asked(task, Group(MINERS), answers, str(number), at=START + 300.0 * number)


MAKERS = {"chunking": ask_chunking, "inference": ask_inference, "evidence": ask_evidence}
