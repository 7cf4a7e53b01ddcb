"""What becomes of a submission when others use the hotkey, rules change under way, or it is registered anew."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chain.administration import set_parameters
from engine.small_subnet import (
    ALICE,
    START,
    Observed,
    Turned,
    make_chain,
    make_runner,
    make_runtime,
    make_weigh_in_context,
    observe_example,
    play,
)
from weighbeam.chain.contract import ChainFault, ChainRules, StoredWeights, WeightCommit
from weighbeam.chain.local.administer import register, replace_neuron
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import FaultSwitches, LocalChain
from weighbeam.cli.main import app
from weighbeam.engine.rules.intents import WeightsIntent, judge
from weighbeam.engine.running.runtime import weigh_once
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.weigh_in import WeighInResult, weigh_in
from weighbeam.engine.weights.weigh_in_alerts import list_raised
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

OURS, THEIRS = ((1, 65535), (2, 30000)), ((9, 65535),)
PLAN = {"epoch": 5, "reveal_period": 1, "period": 40, "last_update_before": 90, "commit_reveal": True}
SEALED = WeightsIntent(
    1, "included", None, OURS, {**PLAN, "reveal_round": 777, "commit_epoch": 5, "row_before": []}, 100, 103, 0
)
LOST = WeightsIntent(1, "unknown", "outcome_unknown", OURS, PLAN, 100, None, 0)


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> ChainRules:
    return asyncio.run(LocalChain(make_chain(tmp_path_factory.mktemp("rules"), {}), ALICE).rules())


def hold(row: Any = (), commits: tuple[WeightCommit, ...] = (), block: int = 130, updated: int = 103) -> StoredWeights:
    return StoredWeights(block, 0, 1, updated, row, commits)


def told(
    row: WeightsIntent, stored: StoredWeights, rules: ChainRules, epoch: int = 5, replaced: bool = False
) -> tuple[str, str | None]:
    verdict = judge(row, stored, replace(rules, epoch_index=epoch), replaced)
    return ("wait", None) if verdict is None else (verdict.state, verdict.reason)


FOREIGN = WeightCommit(6, 123, 888, "foreign")
OWN = WeightCommit(5, 103, 777, "own")


@pytest.mark.parametrize(
    ("epoch", "stored", "expected"),
    [
        (5, hold(THEIRS, (OWN, FOREIGN)), ("wait", None)),
        (6, hold(THEIRS, (OWN, FOREIGN)), ("wait", None)),
        (6, hold(OURS, (FOREIGN,), updated=123), ("confirmed", None)),
        (6, hold((), (FOREIGN,), updated=123), ("wait", None)),
        (6, hold(OURS, (replace(OWN, reveal_round=888),)), ("confirmed", None)),
        (6, hold(OURS, (replace(OWN, block=104),)), ("confirmed", None)),
        (7, hold((), (FOREIGN,), updated=123), ("failed", "overwritten")),
        (7, hold(THEIRS, (FOREIGN,), updated=123), ("failed", "weights_differ")),
        (7, hold((), (OWN,)), ("failed", "reveal_missing")),
        (7, hold(), ("failed", "reveal_missing")),
    ],
)
def test_the_commits_of_others_hold_no_row_of_ours_open(
    rules: ChainRules, epoch: int, stored: StoredWeights, expected: tuple[str, str | None]
) -> None:
    assert told(SEALED, stored, rules, epoch) == expected


def test_a_commit_that_landed_an_epoch_after_its_plan_is_not_missed_too_early(rules: ChainRules) -> None:
    late, bare = (
        WeightCommit(6, 121, 777, "own"),
        replace(SEALED, plan={**PLAN, "reveal_round": 777}, included_block=121),
    )
    verdict = judge(bare, hold((), (late,)), replace(rules, epoch_index=7), False)
    assert (verdict.state, verdict.learnt) == ("included", {"commit_epoch": 6, "row_before": []})
    seen = replace(bare, plan={**bare.plan, **verdict.learnt})
    assert [told(seen, hold((), (late,), updated=121), rules, epoch)[0] for epoch in (6, 7, 8)] == [
        "wait", "wait", "failed",
    ]  # fmt: skip


@pytest.mark.parametrize(("block", "expected"), [(100, "included"), (140, "included"), (141, "failed"), (99, "failed")])
def test_an_unknown_row_takes_a_commit_of_its_time_only(rules: ChainRules, block: int, expected: str) -> None:
    stored = hold(THEIRS, (WeightCommit(5, block, 777, "x"),), 150, 150)
    verdict = judge(LOST, stored, rules, False)
    assert verdict.state == expected
    if expected == "included":
        assert (verdict.included_block, verdict.learnt["reveal_round"]) == (block, 777)


def test_a_row_of_an_older_record_is_judged_by_its_block(rules: ChainRules) -> None:
    old = replace(SEALED, plan=PLAN)
    assert told(old, hold((), (replace(OWN, reveal_round=None), FOREIGN)), rules)[0] == "included"
    assert told(old, hold((), (FOREIGN,), updated=123), rules, 7) == ("failed", "overwritten")
    assert told(replace(old, included_block=None), hold(), rules, 7) == ("failed", "reveal_missing")


def test_what_is_stored_as_sent_is_confirmed_where_nothing_of_ours_is_sealed(rules: ChainRules) -> None:
    verdict = judge(LOST, hold(OURS, (FOREIGN,), block=130), replace(rules, epoch_index=5), False)
    assert verdict.state == "included", "within its time it may be ours"
    verdict = judge(LOST, hold(OURS), replace(rules, epoch_index=5), False)
    assert (verdict.state, verdict.included_block) == ("confirmed", 103)


def test_only_a_later_row_of_ours_supersedes(rules: ChainRules) -> None:
    plain = replace(SEALED, plan={**PLAN, "commit_reveal": False})
    later = hold(THEIRS, updated=125)
    assert told(plain, later, rules, replaced=True) == ("failed", "superseded")
    assert told(plain, later, rules) == ("failed", "overwritten")


@pytest.mark.parametrize("row", [SEALED, LOST, replace(SEALED, plan={**PLAN, "commit_reveal": False})])
def test_a_hotkey_registered_anew_lost_its_row_and_nobody_overwrote_it(rules: ChainRules, row: WeightsIntent) -> None:
    assert told(row, StoredWeights(160, 7, 150, 150, (), ()), rules, 7) == ("failed", "not_registered")
    early = StoredWeights(130, 7, 120, 120, (), ())
    assert told(row, early, rules, 7)[0] == ("wait" if row is LOST else "failed"), "it may still come until block 140"


@pytest.fixture(scope="module")
def observed(senses: LocalSenses) -> Observed:
    return observe_example(senses)


@pytest.fixture
def file(tmp_path: Path, observed: Observed) -> ChainFile:
    return make_chain(tmp_path, {answer.hotkey: "127.0.0.1:8000" for answer in observed[0].answers})


@pytest.fixture
def weigh_in_context(store: Store, file: ChainFile, observed: Observed) -> WeighInContext:
    made = make_weigh_in_context(store, file)
    play(made.journal, observed, "r0")
    return made


def weigh(weigh_in_context: WeighInContext, now: float = START + 60) -> WeighInResult:
    return asyncio.run(weigh_in(weigh_in_context, now))


def test_commit_reveal_that_ends_before_the_call_while_the_answer_is_lost(
    weigh_in_context: WeighInContext, file: ChainFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = weigh_in_context.chain.submit

    async def turn_off(*given: Any) -> Any:
        set_parameters(file, commit_reveal=False)
        return await real(*given)

    set_parameters(file, commit_reveal=True)
    weigh_in_context.chain.faults = FaultSwitches(lose_reply=True)
    monkeypatch.setattr(weigh_in_context.chain, "submit", turn_off)
    done = weigh(weigh_in_context)
    assert (done.submission.state, done.submission.reason) == ("confirmed", None)
    assert done.submission.included_block == asyncio.run(weigh_in_context.chain.stored(ALICE.address)).last_update


def test_somebody_else_who_follows_our_row_at_once_is_told(
    weigh_in_context: WeighInContext, file: ChainFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = weigh_in_context.chain.submit

    async def follow(*given: Any) -> Any:
        sent = await real(*given)
        advance(file, 5)
        await LocalChain(file, ALICE).submit([2], [65535], 0)
        return sent

    monkeypatch.setattr(weigh_in_context.chain, "submit", follow)
    done = weigh(weigh_in_context)
    assert (done.submission.reason, done.submission.found) == ("overwritten", [[2, 65535]])
    assert [(one.code, one.level) for one in list_raised(done, None, False)] == [("weights_differ", "critical")]


def test_a_hotkey_that_lost_its_place_with_a_row_under_way(weigh_in_context: WeighInContext, file: ChainFile) -> None:
    set_parameters(file, commit_reveal=True)
    assert weigh(weigh_in_context).submission.state == "included"
    advance(file, 1)
    replace_neuron(file, 0, "usurper")
    register(file, ALICE.address)
    settled = asyncio.run(weigh_in_context.ledger.settle(weigh_in_context.chain, ALICE.address))
    assert (settled.state, settled.reason) == ("failed", "not_registered")


def test_the_words_of_a_refusal_are_kept_told_and_shown(weigh_in_context: WeighInContext, store_url: str) -> None:
    weigh_in_context.chain.faults = FaultSwitches(refuse_with="SomethingNobodyKnows")
    done = weigh(weigh_in_context)
    assert "SomethingNobodyKnows" in done.submission.message
    assert weigh_in_context.ledger.rows()[0].message == done.submission.message
    (alert,) = list_raised(done, None, False)
    assert done.submission.message in alert.text
    shown = CliRunner().invoke(app, ["journal", "weights", "--store", store_url])
    assert f"1 unknown_chain_error: {done.submission.message}" in shown.output


@pytest.mark.parametrize("sealed", [False, True])
def test_a_submission_that_stays_open_is_told_unless_it_only_waits_for_its_reveal(
    store: Store,
    file: ChainFile,
    observed: Observed,
    senses: LocalSenses,
    monkeypatch: pytest.MonkeyPatch,
    sealed: bool,
) -> None:
    async def unreadable(*_: object) -> None:
        raise ChainFault("unreachable", "no answer", "wait")

    set_parameters(file, commit_reveal=sealed, reveal_period=9)
    clock = Turned()
    runner, runtime = make_runner(store, file, senses, clock), make_runtime(store, clock)
    play(runner.weigh_in_context.journal, observed, "r0")
    if not sealed:
        runner.weigh_in_context.chain.faults = FaultSwitches(lose_reply=True)
        monkeypatch.setattr(runner.weigh_in_context.chain, "stored", unreadable)
    asyncio.run(weigh_once(runtime, runner))
    for _ in range(3):
        advance(file, 20)
        clock.at += 300
        asyncio.run(weigh_once(runtime, runner))
    texts = [one.text for one in list_alerts(store, limit=9).items if one.code == "weigh_in_stalled"]
    assert texts == (
        []
        if sealed
        else [
            "at least three weigh-ins in a row set no weights: the last submission is not settled yet (submission_open)"
        ]
    )
