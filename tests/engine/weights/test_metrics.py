"""Metrics of rounds and weigh-ins: counted with the round, the same after a restart, and bounded whoever fills them."""

import asyncio
import json
import shutil
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from engine.small_subnet import ALICE, START, Turned, make_chain
from network.loopback import open_nonces, serve_app
from tests_root import ROOT
from weighbeam.app.senses import make_list_check
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import CommittedRound, Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.outbox.metrics import MAX_SERIES, OTHER, count_round, fold_series, list_shown
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.decision import Burn, Payee
from weighbeam.engine.rules.weighing import Weighing, list_payees
from weighbeam.engine.running.health import Health
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.metrics import measure_weights, note_weighed, rank_weighed, recall_weighed
from weighbeam.mechanism.records import Measure, Scored, Standing, Task
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.task import find_archive
from weighbeam.mechanisms.evidence.ui.archives import list_round_urls
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.keys import Hotkey
from weighbeam.network.list_signatures import sign_list
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.network.policy import SenderStanding as Known
from weighbeam.senses.local import LocalSenses
from weighbeam.service.http.metrics import StoreCollector, add_metrics, count_validator
from weighbeam.store.database import Store

EVIDENCE, PARAMS, OWNER = Evidence(), EvidenceParams(timeout_seconds=10.0), Hotkey.from_uri("//Owner")
EXAMPLE = json.loads((ROOT / "examples/evidence.json").read_text())
COUNTER = Measure("counter", "", ("domain",))


@dataclass
class World:
    """A validator of evidence with one miner, on the archive of the package and signed lists of its own."""

    runner: MechanismRunner
    senses: LocalSenses
    lists: Path
    told: list[WeighbeamError]

    @property
    def store(self) -> Store:
        return self.runner.round_context.journal.store

    def play(self) -> CommittedRound:
        return asyncio.run(self.runner.play_round())

    def find_versions(self, done: CommittedRound) -> dict[str, int]:
        facts = select_round(self.store, done.id, EVIDENCE).observation.facts
        return {name: listing["version"] for name, listing in facts["lists"].items()}

    def write_list(self, name: str, version: int, hotkey: Hotkey | None = OWNER) -> None:
        content = json.loads((find_archive() / f"lists/{name}.json").read_text()) | {"version": version}
        signed = content if hotkey is None else sign_list(content, hotkey)
        (self.lists / f"{name}.json").write_text(json.dumps(signed))


@pytest.fixture
def world(tmp_path: Path, store_url: str, cache: Path, senses: LocalSenses) -> Iterator[World]:
    lists = tmp_path / "lists"
    shutil.copytree(find_archive() / "lists", lists)
    check = make_list_check(OWNER.address, ("example",))
    own = LocalSenses(
        cache=cache,
        pages=f"archive:{find_archive()}",
        lists=lists,
        extra_suffixes=("example",),
        check_list=check,
        only_newer=True,
    )
    own.embedder, own.entailment = senses.embedder, senses.entailment
    told: list[WeighbeamError] = []
    own.on_fault = told.append
    miner = Hotkey.from_uri("//miner")
    policy = SenderPolicy(PolicySettings(per_minute=60000, burst=1000))
    policy.update({ALICE.address: Known(True, 10**12)})
    handlers = {"evidence": answer}
    with serve_app(make_miner_app(miner, handlers, open_nonces(tmp_path / "nonces.sqlite"), policy)) as endpoint:
        file = make_chain(tmp_path, {miner.address: endpoint})
        journal = Journal(Store(store_url))
        ledger = Ledger(journal.store, "evidence")
        scale = WeighInContext(EVIDENCE, PARAMS, journal, ledger, LocalChain(file, ALICE), ALICE.address)
        asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
        round_context = RoundContext(EVIDENCE, PARAMS, journal, asker, own)
        found = World(MechanismRunner(round_context, scale, make_task, Turned()), own, lists, told)
        for name in ("blacklist", "approved"):
            found.write_list(name, 1)
        yield found
        own.pages.close()
        journal.store.close()


async def answer(task: dict[str, Any], _: float) -> dict[str, Any]:
    """Two quotes that hold, and one that is none."""
    good = [snippet for one in EXAMPLE["answers"][:2] for snippet in one["snippets"]]
    return {"snippets": [*good, {"url": "nowhere", "excerpt": good[0]["excerpt"]}]}


def make_task(seed: str) -> Task:
    return Task(f"task-{seed[:8]}", {"statement": EXAMPLE["statement"]})


def read_text(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Numbers by metric and label values, as Prometheus reads them."""
    return {
        family.name.removeprefix("weighbeam_"): {tuple(one.labels.values()): one.value for one in family.samples}
        for family in text_string_to_metric_families(text)
    }


def collect(store: Store) -> dict[str, dict[tuple[str, ...], float]]:
    registry = CollectorRegistry()
    registry.register(StoreCollector(store, [EVIDENCE]))
    return read_text(generate_latest(registry).decode())


def scrape(store: Store) -> dict[str, dict[tuple[str, ...], float]]:
    app, registry = FastAPI(), CollectorRegistry()
    count_validator(registry, Health(60.0), Alerts(store, lambda: START), store, [EVIDENCE])
    add_metrics(app, registry)
    with serve_app(app) as endpoint:
        return read_text(urllib.request.urlopen(f"http://{endpoint.removeprefix('http://')}/metrics").read().decode())


def test_rounds_are_counted_and_lists_change_only_between_rounds(world: World) -> None:
    """Lists that fail leave the last good ones in force, are told once, and every round replays."""
    first = world.play()
    world.write_list("blacklist", 2, None)
    second = world.play()
    world.senses.renew()
    world.write_list("blacklist", 3)
    third = world.play()
    assert [world.find_versions(done)["blacklist"] for done in (first, second, third)] == [1, 1, 3]
    assert [fault.code for fault in world.told] == ["unsigned_list"]
    assert [row.fault for row in replay(world.store, lambda _: EVIDENCE) if row.fault] == []

    assert list_round_urls(world.store, first.id) == [one["snippets"][0]["url"] for one in EXAMPLE["answers"][:2]]
    seen = scrape(world.store)
    miner = Hotkey.from_uri("//miner").address
    assert seen["evidence_snippets"] == {("accepted",): 6, ("non_https",): 3}
    assert seen["evidence_miner_snippets"] == {(miner,): 9}
    assert seen["evidence_miner_accepted"] == {(miner,): 6}
    assert seen["evidence_domain_accepted"] == {("clearhealth.example",): 3, ("wardnotes.example",): 3}
    assert seen["evidence_domain_snippets"] == seen["evidence_domain_accepted"]
    assert (seen["evidence_answers"], seen["evidence_reads"]) == ({("valid",): 3}, {("read",): 6})
    assert seen["evidence_list_age_seconds"].keys() == {("approved",), ("blacklist",)}
    assert seen["evidence_list_age_seconds"][("approved",)] == pytest.approx(START - 1_767_225_600)
    again = Store(str(world.store.engine.url))
    assert collect(again).items() <= seen.items()
    again.close()


def test_strangers_cannot_grow_a_metric_nor_push_out_the_large() -> None:
    series = fold_series({}, {("known.org",): 500.0}, COUNTER)
    for number in range(200):
        found = {(f"junk-{number}-{place}.com",): 1.0 for place in range(25)}
        series = fold_series(series, found, COUNTER)
    assert len(series) == MAX_SERIES
    assert series[("known.org",)] == 500.0
    assert sum(series.values()) == 500 + 200 * 25
    assert series[(OTHER,)] == 200 * 25 - (MAX_SERIES - 2)


def test_one_round_of_too_many_is_bounded_too() -> None:
    series = fold_series({}, {(str(number),): 1.0 for number in range(5_000)}, COUNTER)
    assert (len(series), sum(series.values())) == (MAX_SERIES, 5_000)


@pytest.mark.parametrize(
    "rows",
    [
        None,
        "metrics",
        [1, None, "x", [], ["reads"], ["reads", "read", 1], ["reads", ["read"], 1, 2]],
        [["reads", ["a", "b"], 1], ["reads", [], 1], ["reads", ["read"], -1], ["reads", ["read"], float("nan")]],
        [["reads", ["read"], True], ["reads", ["read"], "1"], ["reads", ["read"], 10**400]],
        [["unknown", ["a"], 1], [["reads"], ["a"], 1]],
    ],
)
def test_whatever_a_summary_holds_no_round_is_lost(rows: Any, store_url: str) -> None:
    store = Store(store_url)
    with store.write() as connection:
        count_round(connection, EVIDENCE, Scored((), {"metrics": rows}))
    assert all(not shown.series for shown in list_shown(store, EVIDENCE))
    store.close()


@pytest.mark.parametrize("label", ["\ud800", "a\nb", "x" * 101, 7, None])
def test_labels_that_cannot_be_shown_are_other(label: Any, store_url: str) -> None:
    store = Store(store_url)
    rows = [["domain_snippets", [label], 1], ["domain_snippets", ['quo"te\\'], 2]]
    with store.write() as connection:
        count_round(connection, EVIDENCE, Scored((), {"metrics": rows}))
    assert collect(store)["evidence_domain_snippets"] == {(OTHER,): 1, ('quo"te\\',): 2}
    store.close()


def stand(averages: dict[str, float]) -> list[Standing]:
    return [Standing(hotkey, value, {"responses": 9, "seed": "s", "turn": 1}) for hotkey, value in averages.items()]


def weigh(averages: dict[str, float], burn: Burn | None) -> Weighing:
    uids = {hotkey: uid for uid, hotkey in enumerate(averages, 1)}
    payees = list_payees(EVIDENCE, PARAMS, uids, stand(averages), {}, START, None, burn)
    return Weighing(payees, START, "NORMAL", 500, 5, WeighInLimits(), True, True, Averaging(), burn)


def test_a_weigh_in_tells_burn_dropped_and_churn(store_url: str) -> None:
    store = Store(store_url)
    names = [f"m{number:02}" for number in range(20)]
    first = {name: 20.0 - place for place, name in enumerate(names)}
    burn = Burn(0.5, "owner", 0)

    def note(averages: dict[str, float], burn: Burn | None = burn) -> None:
        weighing = weigh(averages, burn)
        with store.write() as connection:
            note_weighed(connection, EVIDENCE, PARAMS, stand(averages), weighing, weighing.decide())

    note(first)
    seen = collect(store)
    assert seen["burn_share"][("evidence",)] == pytest.approx(0.5, abs=1e-4)
    assert seen["burn_share_configured"] == {("evidence",): 0.5}
    assert 3 <= seen["dropped_uids"][("evidence",)] <= 5
    assert seen["rank_churn"] == {}
    note(first | {"m00": 18.5})
    assert collect(store)["rank_churn"] == {("evidence",): 2 / 20}
    note(first, Burn(0.5))
    found = recall_weighed(store, "evidence")
    assert found is not None
    assert (found.burn_set, found.burn_configured, found.churn) == (0.0, 0.5, 0.1)
    skipped = replace(weigh(first, burn), confirmed=False)
    with store.write() as connection:
        note_weighed(connection, EVIDENCE, PARAMS, stand(first), skipped, skipped.decide())
    assert recall_weighed(store, "evidence") == found
    store.close()


def test_who_is_dropped_was_weighed() -> None:
    """A stale miner was not, and an integer above 0 is none."""
    weighing = weigh({"a": 3.0, "b": 2.0}, None)
    stale = replace(weighing, payees=(*weighing.payees, Payee("c", 9, 0.0, None)))
    ranking = rank_weighed(EVIDENCE, PARAMS, stand({"a": 3.0, "b": 2.0, "c": 1.0}), stale)
    assert ranking == ("a", "b")
    assert measure_weights(stale, stale.decide(), ranking).dropped == 0
