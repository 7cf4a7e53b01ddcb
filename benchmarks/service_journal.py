"""A month of 256 miners in a journal: `python -m benchmarks.service_journal FOLDER` makes it, unless it is there.

Every round is chosen, observed, recorded and committed by the code a validator runs, and so is every weigh-in on a
local chain (of the days before the last, one a day: between them the ledger submits the same weights again); only the
network is left out. Documents are short and answers come from a few dozen, so that each text is
embedded once. The disk is waited for at the end instead of at every commit.
"""

import asyncio
import json
import logging
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import event

from benchmarks.service_answers import Answers, list_month
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.canonical import seeded_digest
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.outbox.deliver import deliver_due
from weighbeam.engine.outbox.enqueue import raise_alerts
from weighbeam.engine.outbox.queue import OutboxItem
from weighbeam.engine.rules.constants import BLOCK_SECONDS, WEIGHTS_INTERVAL_SECONDS, Averaging
from weighbeam.engine.rules.intents import WeightsIntent, WeightsPlan
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.audit import insert_audit
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.metagraphs import note_metagraph
from weighbeam.engine.weights.weigh_in import weigh_in
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, hash_params, make_params
from weighbeam.mechanism.records import Asked, Standing
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Senses
from weighbeam.store.database import Store

SEED, MINERS, DAYS = 7, 256, 30
ROUND_SECONDS, DAY = 300.0, 86_400.0
MECHANISMS = ("chunking", "inference")
OWNER = "//Alice"
RETENTION_HOURS = 24.0 * 90
LAST_ROUNDS = 288


@dataclass(slots=True)
class MadeClock:
    """Time as the maker says it is."""

    at: float

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


@dataclass(slots=True)
class Player:
    """Plays rounds as a validator does, but for the network; `counts` is how often each was asked by averages."""

    journal: Journal
    answers: Answers
    senses: Senses
    counts: dict[str, int] = field(default_factory=dict)

    def play(self, mechanism: Mechanism, params: Params, name: str, block: int, at: float) -> None:
        """One round of one mechanism, from choosing to committing."""
        seed = seeded_digest(SEED, name)[:32]
        group = mechanism.choose(params, self._standings(mechanism), self.answers.hotkeys, seed, ())
        task, answers = self.answers.give(mechanism.name, group.members, seed)
        asked = Asked(task, group, answers, seed, {}, at)
        facts = RoundFacts(
            id=name,
            mechanism=mechanism.name,
            params=params.model_dump(mode="json"),
            params_hash=hash_params(mechanism, params, mechanism.name_senses(params, self.senses)),
            seed=seed,
            block=block,
            at=at,
        )
        self.journal.record(facts, asked, mechanism.observe(params, asked, self.senses))
        self.journal.commit(name, mechanism)
        if mechanism.rule.standing == "emissions":
            self.counts.update({hotkey: self.counts.get(hotkey, 0) + 1 for hotkey in group.members})

    def _standings(self, mechanism: Mechanism) -> tuple[Standing, ...]:
        """Whom to ask depends on standings of its own, or on how often each was asked."""
        if mechanism.rule.standing == "own":
            return self.journal.standings(mechanism.name)
        return tuple(Standing(hotkey, 0.0, {"count": count}) for hotkey, count in self.counts.items())


@dataclass(frozen=True, slots=True)
class Subnet:
    """One validator with its chain and its journal."""

    scales: Sequence[WeighInContext]
    file: ChainFile
    clock: MadeClock
    player: Player
    alerts: Alerts

    async def weigh(self, whole: bool) -> None:
        """A weigh-in of each mechanism; if not `whole`, the weights set last go through the ledger once more."""
        advance(self.file, round(WEIGHTS_INTERVAL_SECONDS / BLOCK_SECONDS))
        for weigh_in_context in self.scales:
            last = weigh_in_context.ledger.rows(1)
            if whole or not last:
                await weigh_in(weigh_in_context, self.clock.at)
            else:
                await self._submit_again(weigh_in_context, last[0])
            graph, rules, store = (
                await weigh_in_context.chain.metagraph(),
                await weigh_in_context.chain.rules(),
                weigh_in_context.journal.store,
            )
            note_metagraph(
                store, weigh_in_context.mechanism.name, graph, rules, self.clock.at, weigh_in_context.own_hotkey
            )
        await self._deliver()

    async def _submit_again(self, weigh_in_context: WeighInContext, last: WeightsIntent) -> None:
        graph, rules = await weigh_in_context.chain.metagraph(), await weigh_in_context.chain.rules()
        own = graph.find(weigh_in_context.own_hotkey)
        plan = WeightsPlan(
            uids=tuple(uid for uid, _ in last.weights),
            values=tuple(value for _, value in last.weights),
            holders=tuple((hotkey, registered) for hotkey, registered in last.plan["holders"]),
            version_key=0,
            block=graph.block,
            epoch=rules.epoch_index,
            last_update_before=own.last_update if own else 0,
            commit_reveal=rules.commit_reveal,
            reveal_period=rules.reveal_period,
            mode=last.plan["mode"],
            params_hash=last.plan["params_hash"],
            entry=last.plan["entry"],
        )
        await weigh_in_context.ledger.send(weigh_in_context.ledger.plan(plan, self.clock.at), weigh_in_context.chain)
        done = await weigh_in_context.ledger.settle(weigh_in_context.chain, weigh_in_context.own_hotkey)
        detail = {"submission": done.id, "state": done.state} if done else {}
        with weigh_in_context.journal.store.write() as connection:
            insert_audit(
                connection, self.clock.at, "submitted", weigh_in_context.mechanism.name, plan.mode, None, detail
            )

    async def _deliver(self) -> None:
        """What rounds left to do: alerts are raised; pictures and copies' lists are not what is measured here."""
        deliveries = {"alerts": partial(raise_alerts, self.alerts), "copies": _pass, "story": _pass}
        while await deliver_due(self.scales[0].journal.store, self.clock, self.alerts, deliveries):
            pass


async def _pass(_: OutboxItem) -> None:
    return None


def list_hotkeys(miners: int = MINERS) -> list[str]:
    return [Hotkey.from_seed(bytes.fromhex(seeded_digest(SEED, "miner", n))).address for n in range(miners)]


def open_subnet(folder: Path, store: Store, senses: Senses, at: float, miners: int = MINERS) -> Subnet:
    """A chain with everybody on it, and nothing asked yet."""
    owner, hotkeys = Hotkey.from_uri(OWNER), list_hotkeys(miners)
    size = {"max_validators": 1, "max_uids": miners + 1, "mechanisms": len(MECHANISMS)}
    file = ChainFile.create(folder / "chain.sqlite", SubnetParameters(**size), manual=True)
    register(file, owner.address, stake=5000 * 10**9)
    for number, hotkey in enumerate(hotkeys):
        register(file, hotkey, stake=100 * 10**9)
        announce(file, hotkey, f"198.51.{100 + number // 250}.{1 + number % 250}:8091")
    advance(file, 400)
    averaging = Averaging(db_retention_hours=RETENTION_HOURS)
    scales = []
    for mechid, name in enumerate(MECHANISMS):
        mechanism, chain = load_mechanism(name), LocalChain(file, owner, mechid)
        parts = (mechanism, make_params(mechanism, {}), Journal(store), Ledger(store, name), chain, owner.address)
        scales.append(WeighInContext(*parts, averaging=averaging))
    clock, player = MadeClock(at), Player(Journal(store), Answers(hotkeys, list_month(senses), SEED), senses)
    return Subnet(scales, file, clock, player, Alerts(store, clock.now))


def open_hasty(path: Path) -> Store:
    """A store that does not wait for the disk: for making a journal, never for keeping one."""
    store = Store(f"sqlite:///{path}")
    store.engine.dispose()
    event.listen(store.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = OFF"))
    return store


def make_journal(folder: Path, days: float = DAYS, miners: int = MINERS, copied: Sequence[float] = ()) -> Path:
    """The journal in `folder`, made now if it is not there; it ends at the present.

    What it was after each number of days in `copied` is left beside it: see `find_copy`.
    """
    path, note = folder / "journal.db", folder / "made.json"
    if note.exists():
        return path
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    logging.disable(logging.ERROR)
    start, store = time.perf_counter(), open_hasty(path)
    rounds = _live(open_subnet(folder, store, LocalSenses(), time.time() - days * DAY, miners), days)
    halts = {round(some * DAY / ROUND_SECONDS): find_copy(folder, some) for some in copied}
    for done in rounds:
        if done in halts:
            with closing(sqlite3.connect(path)) as raw:
                raw.execute("VACUUM INTO ?", (str(halts[done]),))
        if done % 500 == 0:
            print(f"  {done:,} rounds of each in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    store.close()
    _close(path)
    spent = round(time.perf_counter() - start)
    note.write_text(json.dumps({"seed": SEED, "miners": miners, "days": days, "at": time.time(), "seconds": spent}))
    return path


def find_copy(folder: Path, days: float) -> Path:
    """Where the journal as it was after so many days is."""
    return folder / f"journal-{days:g}.db"


def _live(subnet: Subnet, days: float) -> Iterator[int]:
    """Both mechanisms every 300 seconds and a weigh-in every 72 minutes; gives the number of rounds so far."""
    began = due = subnet.clock.at
    rounds = round(days * DAY / ROUND_SECONDS)
    for number in range(1, rounds + 1):
        subnet.clock.at = began + number * ROUND_SECONDS
        for weigh_in_context in subnet.scales:
            name = f"{weigh_in_context.mechanism.name}-{number}-{seeded_digest(SEED, number)[:8]}"
            block = round(number * ROUND_SECONDS / BLOCK_SECONDS)
            subnet.player.play(weigh_in_context.mechanism, weigh_in_context.params, name, block, subnet.clock.at)
        if subnet.clock.at - due >= WEIGHTS_INTERVAL_SECONDS:
            due += WEIGHTS_INTERVAL_SECONDS
            asyncio.run(subnet.weigh(whole=number % round(DAY / ROUND_SECONDS) < 15 or number > rounds - LAST_ROUNDS))
        yield number


def _close(path: Path) -> None:
    """Everything in one file, on the disk."""
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA synchronous = FULL")
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()


def main(folder: str, days: str = str(DAYS)) -> int:
    path = make_journal(Path(folder), float(days))
    told: dict[str, Any] = json.loads((path.parent / "made.json").read_text())
    print(f"{path}: {path.stat().st_size / 1e6:,.0f} MB, {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
