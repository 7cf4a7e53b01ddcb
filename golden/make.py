"""Make the golden journal of this version: a small subnet, real miners over HTTP, real senses, 18 hours of four
mechanisms with their weigh-ins. `make golden` runs it once per release; running it again gives other bytes.

What a journal keeps for people and no head signs (texts, what the chain said of everyone) is left out to keep it small.
"""

import asyncio
import hashlib
import itertools
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.small_subnet import Turned
from network.loopback import open_nonces, serve_app
from weighbeam import __version__
from weighbeam.chain.local.administer import announce, register, set_owner
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.zstd import compress_each, decompress
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.head import HeadSigner, sign_heads
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import TaskSource, generate_tasks
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.lab.backtest.sources import list_outcomes, save_dump
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.miners import handlers as chunking
from weighbeam.mechanisms.evidence.miners import handlers as evidence
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive
from weighbeam.mechanisms.inference.miners import handlers as inference
from weighbeam.mechanisms.inference.miners.prepared_answers import load_prompts
from weighbeam.mechanisms.novelty.desk.collector import DeskCollector
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.miners.contributors import contribute
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import Handler, make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses
from weighbeam.store.blobs import BESIDE, MAX_BYTES, PLANES
from weighbeam.store.database import Store

GOLDEN = Path(__file__).parent
ALICE, OWNER, TAO = Hotkey.from_uri("//Alice"), Hotkey.from_uri("//Owner"), 10**9
HONEST = ("ada", "ben", "cleo", "dan")
CAST: Mapping[str, tuple[str, str, str, str]] = {
    "ada": ("climb", "0", "0", "lines:0/5"),
    "ben": ("paragraphs", "1", "1", "lines:1/5"),
    "cleo": ("sentences", "2", "2", "lines:2/5"),
    "dan": ("paragraphs", "3", "3", "lines:3/5"),
    "eve": ("oversized", "copycat", "copycat", "hostile:copycat"),
    "fox": ("dropper", "echo", "parrot", "hostile:halver"),
}
"""What each one does in chunking, inference, evidence and novelty."""
STEPS, STEP_SECONDS, STEP_BLOCKS = 15, 4320.0, 360
EVERY = {"inference": 1, "chunking": 7, "evidence": 7, "novelty": 5}
FOR_PEOPLE = ("metagraphs", "outbox", "notices")
"""What no head signs."""


@dataclass(frozen=True, slots=True)
class Bed:
    """Posts by mechanism, each on a chain of its own, over one store and one clock."""

    store: Store
    clock: Turned
    chains: Mapping[str, ChainFile]
    runners: Mapping[str, MechanismRunner]
    desk: NoveltyDesk


def make_handlers(name: str, senses: LocalSenses) -> dict[str, Handler]:
    chunker, voice, page, _ = CAST[name]
    if name in HONEST:
        return {
            "chunking": chunking.honest_miner(chunker, senses),
            "inference": inference.honest_answerer(int(voice)),
            "evidence": evidence.archive_answerer(find_archive(), int(page), 5),
        }
    return {
        "chunking": chunking.hostile_miner(chunker, senses),
        "inference": inference.hostile_answerer(voice),
        "evidence": evidence.hostile_answerer(page),
    }


@contextmanager
def open_bed(folder: Path) -> Iterator[Bed]:
    archive = find_archive()
    senses = LocalSenses(pages=f"archive:{archive}", lists=archive / "lists", extra_suffixes=BANK_SUFFIXES, workers=1)
    store, clock = Store(f"sqlite:///{folder / 'journal.sqlite'}"), Turned()
    sign_heads(store, HeadSigner(ALICE, clock.now))
    with ExitStack() as stack:
        endpoints = {}
        for name in CAST:
            hotkey = Hotkey.from_uri(f"//{name}")
            policy = SenderPolicy(PolicySettings(per_minute=6000, burst=100))
            policy.update({ALICE.address: SenderStanding(True, 10**12)})
            nonces = open_nonces(folder / f"{name}.nonces")
            app = make_miner_app(hotkey, make_handlers(name, senses), nonces, policy)
            endpoints[hotkey.address] = stack.enter_context(serve_app(app))
        chains = {name: make_chain(folder / f"{name}.chain", endpoints) for name in EVERY}
        desk = open_desk(store, senses, ALICE, make_params(load_mechanism("novelty")), now=clock.now)
        runners = {name: make_runner(name, store, clock, chains[name], senses) for name in EVERY}
        yield Bed(store, clock, chains, runners, desk)
        senses.pages.close()


def make_chain(path: Path, endpoints: Mapping[str, str]) -> ChainFile:
    file = ChainFile.create(path, SubnetParameters(max_validators=1), manual=True)
    register(file, ALICE.address, stake=5000 * TAO)
    register(file, OWNER.address)
    set_owner(file, OWNER.address)
    for hotkey, endpoint in endpoints.items():
        register(file, hotkey, stake=200 * TAO)
        announce(file, hotkey, endpoint)
    advance(file, STEP_BLOCKS)
    return file


def make_runner(name: str, store: Store, clock: Turned, file: ChainFile, senses: LocalSenses) -> MechanismRunner:
    mechanism = load_mechanism(name)
    params, journal, chain = make_params(mechanism), Journal(store), LocalChain(file, ALICE)
    burn = OWNER.address if name == "evidence" else None
    weigh_in_context = WeighInContext(
        mechanism, params, journal, Ledger(store, name), chain, ALICE.address, burn_hotkey=burn
    )
    round_context = RoundContext(
        mechanism, params, journal, Asker(ALICE, AskSettings(allow_private=True, per_address=64)), senses
    )
    collector = DeskCollector(store) if name == "novelty" else None
    tasks: Callable[[str], Task] = choose_tasks(name) or generate_tasks(mechanism, params)
    return MechanismRunner(round_context, weigh_in_context, tasks, clock, collector)


def choose_tasks(name: str) -> TaskSource | None:
    """Prompts that have prepared answers, and short documents."""
    numbers, prompts = itertools.count(), itertools.cycle(sorted(load_prompts()))
    if name == "inference":
        return lambda _: Task(f"prompt-{next(numbers)}", {"prompt": next(prompts)})
    if name == "chunking":
        return lambda _: Task(
            f"document-{(number := next(numbers))}",
            {"document": generate_document(f"golden-{number}", 450).text, "chunk_size": 200},
        )
    return None


def play(bed: Bed) -> None:
    """A step is one weigh-in's interval; mechanisms take turns so that every one has some of each."""
    for step in range(STEPS):
        for name, every in EVERY.items():
            if step % every:
                continue
            if name == "novelty":
                for contributor, acts in CAST.items():
                    bed.desk.submit(Hotkey.from_uri(f"//{contributor}").address, contribute(acts[3], step // every))
            asyncio.run(bed.runners[name].play_round())
            done = asyncio.run(bed.runners[name].weigh_in())
            print(f"step {step}, {name}: {done.decision.action} {done.decision.reason or ''}".rstrip())
        bed.clock.at += STEP_SECONDS
        for file in bed.chains.values():
            advance(file, STEP_BLOCKS)


def shrink(journal: Path, place: Path) -> None:
    """A copy with the chain of entries and the tables that follow from it, in one file that needs no log."""
    with closing(sqlite3.connect(journal)) as source, closing(sqlite3.connect(place)) as target:
        source.backup(target)
        keep = {row[0] for row in target.execute("SELECT body FROM rounds UNION SELECT body FROM entries")}
        for (body,) in list(target.execute("SELECT body FROM rounds")):
            keep |= read_links(target, body)
        gone = [(one,) for (one,) in target.execute("SELECT digest FROM blobs") if one not in keep]
        target.executemany("DELETE FROM round_blobs WHERE digest = ?", gone)
        target.executemany("DELETE FROM blobs WHERE digest = ?", gone)
        for digest, data in list(target.execute("SELECT digest, data FROM blobs")):
            if data[:4] in (PLANES, BESIDE):
                continue
            pressed = next(compress_each([decompress(data, MAX_BYTES)], 22))
            target.execute("UPDATE blobs SET data = ? WHERE digest = ?", (pressed, digest))
        for table in FOR_PEOPLE:
            target.execute(f"DELETE FROM {table}")
        target.commit()
        target.execute("PRAGMA journal_mode = DELETE")
        target.execute("PRAGMA auto_vacuum = NONE")
        target.execute("PRAGMA page_size = 512")
        target.execute("VACUUM")


def read_links(connection: sqlite3.Connection, body: str) -> set[str]:
    (data,) = connection.execute("SELECT data FROM blobs WHERE digest = ?", (body,)).fetchone()
    read = json.loads(decompress(data, MAX_BYTES))
    return {read["task"], read["answers"], read["observation"]}


def main(version: str = __version__) -> None:
    place = GOLDEN / version
    place.mkdir(parents=True, exist_ok=True)
    journal = place / "journal.sqlite"
    journal.unlink(missing_ok=True)
    with TemporaryDirectory() as folder:
        with open_bed(Path(folder)) as bed:
            play(bed)
            bed.store.close()
        shrink(Path(folder) / "journal.sqlite", journal)
    with closing(view_journal(str(journal))) as store:
        save_dump(list_outcomes(store), place / "outcomes.jsonl")
    (place / "README.md").write_text(describe(place, version))
    print(f"{journal}: {journal.stat().st_size:,} bytes")


def describe(place: Path, version: str) -> str:
    """What is in the folder, how it came about, and what it must lead to."""
    with closing(sqlite3.connect(f"file:{place / 'journal.sqlite'}?mode=ro", uri=True)) as connection:
        counts = connection.execute("SELECT kind, COUNT(*) FROM entries GROUP BY kind ORDER BY kind").fetchall()
        (head,) = connection.execute("SELECT hash FROM entries ORDER BY sequence DESC LIMIT 1").fetchone()
    outcomes = hashlib.sha256((place / "outcomes.jsonl").read_bytes()).hexdigest()
    held = " and ".join(f"{count} {'rounds' if kind == 'round' else 'weigh-ins'}" for kind, count in counts)
    return f"""# The golden journal of {version}

`journal.sqlite` was made by `make golden`: {held} of four mechanisms,
over {STEPS * STEP_SECONDS / 3600:.0f} hours, with {len(CAST)} miners (`golden/make.py` says who does what), without the
texts that only people need. `outcomes.jsonl` is what {version} made of it.

    weighbeam replay --verify --store golden/{version}/journal.sqlite
    weighbeam mechanism diff golden/{version}/outcomes.jsonl golden/{version}/journal.sqlite

Last entry `{head}`, outcomes SHA-256 `{outcomes}`.
"""


if __name__ == "__main__":
    main(*sys.argv[1:])
