"""Collected rounds: each contribution counts once, whatever crashes; weights follow what was paid in the window."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.small_subnet import ALICE, HOUR, Turned, make_chain
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds import collection
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import generate_tasks
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.novelty.desk.collector import DeskCollector
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.desk.settlement import settle_held
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

ADA, BOB = (Hotkey.from_uri(uri).address for uri in ("//Ada", "//Bob"))
OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry one of them away."
BREAD = "Bread dough that rests overnight in a refrigerator ferments slowly and tastes of more than flour."
NOISE = "xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"
PARAMS = NoveltyParams()


class Bed:
    """A desk and a runner over one store."""

    def __init__(self, folder: Path, url: str, senses: LocalSenses) -> None:
        self.clock = Turned()
        self.store = Store(url)
        self.file = make_chain(folder, {ADA: "127.0.1.1:9001", BOB: "127.0.1.2:9001"})
        self.desk: NoveltyDesk = open_desk(self.store, senses, ALICE, PARAMS, now=self.clock.now)
        journal, mechanism = Journal(self.store), Novelty()
        ledger = Ledger(self.store, "novelty")
        weigh_in_context = WeighInContext(
            mechanism, PARAMS, journal, ledger, LocalChain(self.file, ALICE), ALICE.address
        )
        round_context = RoundContext(mechanism, PARAMS, journal, Asker(ALICE, AskSettings()), senses)
        tasks = generate_tasks(mechanism, PARAMS)
        self.runner = MechanismRunner(round_context, weigh_in_context, tasks, self.clock, DeskCollector(self.store))

    def play(self) -> dict[str, float | None]:
        return {score.hotkey: score.value for score in asyncio.run(self.runner.play_round()).scored.scores}

    def standings(self) -> dict[str, tuple[float | None, int]]:
        rows = self.runner.round_context.journal.standings("novelty")
        return {row.hotkey: (row.value, row.detail["balance"]) for row in rows}

    def faults(self) -> list[str]:
        return [f"{row.ref}: {row.fault}" for row in replay(self.store, load_mechanism) if row.fault]


@pytest.fixture(scope="module")
def senses() -> LocalSenses:
    return LocalSenses()


@pytest.fixture
def bed(tmp_path: Path, store_url: str, senses: LocalSenses) -> Iterator[Bed]:
    made = Bed(tmp_path, store_url, senses)
    yield made
    made.store.close()


def test_what_was_paid_is_weighed_once(bed: Bed) -> None:
    bed.desk.submit(ADA, OTTERS)
    bed.desk.submit(BOB, OTTERS.upper())
    bed.desk.submit(BOB, "Otters hold each other's hands in their sleep so as not to drift away.")
    held = bed.desk.submit(ADA, NOISE)
    played = bed.play()
    assert played[ADA] == 100e9
    assert played[BOB] == 0
    with pytest.raises(WeighbeamError, match="nothing_new"):
        bed.play()
    done = asyncio.run(bed.runner.weigh_in())
    assert done.submission is not None
    assert done.submission.state == "confirmed"
    settle_held(bed.desk, held["id"], "released", bed.clock.now())
    assert bed.play() == {ADA: 100e9}
    assert bed.standings()[ADA] == (200e9, 200_000_000_000)
    assert bed.faults() == []


def test_rewards_leave_the_window_without_a_contribution(bed: Bed) -> None:
    bed.desk.submit(ADA, OTTERS)
    bed.play()
    bed.clock.at += 25 * HOUR
    assert bed.play() == {}
    assert bed.standings()[ADA] == (0.0, 100_000_000_000)
    with pytest.raises(WeighbeamError, match="nothing_new"):
        bed.play()
    assert bed.faults() == []


def test_a_crash_after_recording_counts_once(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.desk.submit(ADA, OTTERS)
    commit = Journal.commit
    monkeypatch.setattr(Journal, "commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bed.play()
    monkeypatch.setattr(Journal, "commit", commit)
    assert len(bed.runner.recover()) == 1
    bed.desk.submit(BOB, BREAD)
    assert bed.play() == {BOB: 100e9}
    assert bed.standings() == {ADA: (100e9, 100_000_000_000), BOB: (100e9, 100_000_000_000)}
    assert bed.faults() == []


def test_a_crash_before_recording_loses_nothing(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.desk.submit(ADA, OTTERS)
    record = Journal.record
    monkeypatch.setattr(Journal, "record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        bed.play()
    monkeypatch.setattr(Journal, "record", record)
    assert bed.runner.recover() == []
    assert bed.play() == {ADA: 100e9}


def test_many_contributions_take_several_rounds_and_app_names_none(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MAX_COLLECTED", 2)
    for number in range(5):
        bed.desk.submit(f"user-{number}", f"The app's user number {number} wrote this line about {number} trees.")
    with pytest.raises(WeighbeamError, match="nothing_new"):
        bed.play()
    for number in range(5):
        bed.desk.submit(ADA, f"Ada notes on day {number} that the river stood {number * 7} centimetres high.")
    bed.play()
    with bed.store.read() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM rounds").scalar()
    assert count == 3
    paid = bed.desk.store
    with paid.read() as connection:
        units = connection.exec_driver_sql(f"SELECT units FROM accounts WHERE name = 'contributor:{ADA}'").scalar()
    assert bed.standings()[ADA] == (float(units), units)
    assert bed.faults() == []


def test_what_was_paid_counts_whatever_the_parameters_are_now(bed: Bed, senses: LocalSenses) -> None:
    held = bed.desk.submit(ADA, NOISE)
    cheap = open_desk(bed.store, senses, ALICE, NoveltyParams(max_reward=1.0), now=bed.clock.now)
    assert cheap.submit(BOB, OTTERS)["units"] == 10**9
    bed.runner = replace(bed.runner, round_context=replace(bed.runner.round_context, params=NoveltyParams(gate="off")))
    assert bed.play() == {ADA: 0.0, BOB: 1e9}
    settle_held(bed.desk, held["id"], "released", bed.clock.now())
    assert bed.play() == {ADA: 100e9}
    assert bed.standings() == {ADA: (100e9, 100 * 10**9), BOB: (1e9, 10**9)}


def test_a_round_that_cannot_be_scored_is_collected_again(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.desk.submit(ADA, OTTERS)
    with monkeypatch.context() as patch:
        patch.setattr(Novelty, "score", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            bed.play()
        assert bed.runner.recover() == []
    bed.desk.submit(BOB, BREAD)
    assert bed.play() == {ADA: 100e9, BOB: 100e9}
    assert bed.faults() == []


def test_the_window_counts_from_the_payment(bed: Bed) -> None:
    bed.desk.submit(ADA, OTTERS)
    bed.clock.at += 72 * HOUR
    assert bed.play() == {ADA: 100e9}
    assert bed.standings()[ADA] == (0.0, 100_000_000_000)
