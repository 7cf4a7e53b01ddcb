"""Weigh-ins on the local chain: who is paid, what is skipped and why, and that nothing is ever sent twice."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from postgres import on_sqlite
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import FaultSwitches, LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rules.constants import WeighInLimits
from weighbeam.engine.rules.decision import Decision
from weighbeam.engine.rules.intents import WeightsPlan
from weighbeam.engine.rules.mode import choose_mode
from weighbeam.engine.weights.assessment import WeighInContext, fetch_snapshot, is_late
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import WeighInResult, weigh_in
from weighbeam.engine.weights.weigh_in_alerts import list_raised
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

CHUNKING, PARAMS, ALICE = Chunking(), ChunkingParams(), Hotkey.from_uri("//Alice")
HOUR = 3600.0
START = 1_800_000_000.0


@pytest.fixture(scope="module")
def observed(senses: LocalSenses):
    asked = CHUNKING.examples()[0]
    return asked, CHUNKING.observe(PARAMS, asked, senses)


@pytest.fixture
def scale(tmp_path: Path, store_url: str, observed) -> WeighInContext:
    """A validator with a permit, the example's miners registered and serving, one scored round at START."""
    asked, _ = observed
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    for answer in asked.answers:
        register(file, answer.hotkey)
        announce(file, answer.hotkey, "127.0.0.1:8000")
    advance(file, 20)
    store = Store(store_url)
    journal = Journal(store)
    play(journal, observed, 0, START)
    chain = LocalChain(file, ALICE)
    made = WeighInContext(CHUNKING, PARAMS, journal, Ledger(store, "chunking"), chain, ALICE.address)
    chain.file = file
    return made


def play(journal: Journal, observed, number: int, at: float) -> None:
    asked, observation = observed
    params_hash = hash_params(CHUNKING, PARAMS, observation.facts["senses"])
    params = PARAMS.model_dump(mode="json")
    journal.record(RoundFacts(f"r{number}", "chunking", params, params_hash, "s", number, at), asked, observation)
    journal.commit(f"r{number}", CHUNKING)


def weigh(scale: WeighInContext, now: float = START + 60) -> WeighInResult:
    return asyncio.run(weigh_in(scale, now))


def sound(scale: WeighInContext) -> bool:
    return [r.fault for r in replay(scale.journal.store, load_mechanism) if r.fault] == []


def stored(scale: WeighInContext) -> dict[int, int]:
    return dict(asyncio.run(scale.chain.stored(ALICE.address)).row)


def test_a_weigh_in_pays_by_rank_and_the_chain_holds_it(scale: WeighInContext) -> None:
    done = weigh(scale)
    assert done.decision.action == "submit"
    assert done.submission.state == "confirmed"
    weights = done.decision.weights
    assert weights["paragraphs"] == weights["copy"] == max(weights.values())
    assert weights["shuffled"] == weights["silent"] == weights["our-fault"] == 0
    assert done.excluded == {ALICE.address: "self"}
    assert stored(scale) == dict(done.submission.weights)
    assert sound(scale)


def test_too_soon_is_a_skip_with_a_reason_and_no_row(scale: WeighInContext) -> None:
    weigh(scale)
    again = weigh(scale, START + 61)
    assert (again.decision.action, again.decision.reason) == ("skip", "rate_limited")
    assert len(scale.ledger.rows()) == 1
    assert sound(scale)


def test_not_being_asked_makes_nobody_stale(scale: WeighInContext) -> None:
    """Thirty hours without a round: the gate looks at misses, not at silence of our own."""
    done = weigh(scale, START + 30 * HOUR)
    assert done.decision.action == "submit"
    assert done.decision.weights["paragraphs"] > 0


def test_a_miss_inside_the_window_after_an_old_success_is_stale(scale: WeighInContext, observed, senses) -> None:
    asked, _ = observed
    late = START + 10 * HOUR
    silent = replace(asked, answers=tuple(replace(a, status="timeout", payload=None) for a in asked.answers[:1]))
    play(scale.journal, (silent, CHUNKING.observe(PARAMS, silent, senses)), 1, late)
    done = weigh(scale, late + 60)
    assert "paragraphs" in done.decision.stale
    assert done.decision.weights["paragraphs"] == 0
    assert done.decision.weights["copy"] == max(done.decision.weights.values())
    assert sound(scale)


def test_a_lost_reply_is_settled_by_reading_the_chain_and_never_sent_again(scale: WeighInContext) -> None:
    scale.chain.faults = FaultSwitches(lose_reply=True)
    done = weigh(scale)
    assert done.submission.state == "confirmed"
    assert len(scale.ledger.rows()) == 1
    events = scale.chain.file.db.execute("SELECT COUNT(*) FROM events WHERE name = 'WeightsSet'").fetchone()[0]
    assert events == 1


def test_a_refusal_fails_the_row_by_the_chain_s_code_and_a_new_one_may_follow(scale: WeighInContext) -> None:
    scale.chain.faults = FaultSwitches(refuse_with="NeuronNoValidatorPermit")
    assert weigh(scale).submission.reason == "no_permit"
    scale.chain.faults = FaultSwitches()
    assert weigh(scale, START + 120).submission.state == "confirmed"
    assert [row.state for row in scale.ledger.rows()] == ["failed", "confirmed"]


def test_a_chain_that_cannot_be_read_means_nothing_is_submitted(scale: WeighInContext) -> None:
    scale.chain.faults = FaultSwitches(unreachable=True)
    done = weigh(scale)
    assert (done.decision.action, done.decision.reason) == ("skip", "chain_unreadable")
    assert scale.ledger.rows() == []


def test_emergency_without_standings_pays_everyone_alike(
    scale: WeighInContext, make_store_url: Callable[[], str]
) -> None:
    store = Store(make_store_url())
    bare = WeighInContext(CHUNKING, PARAMS, Journal(store), Ledger(store, "chunking"), scale.chain, ALICE.address)
    assert weigh(bare).decision.reason == "all_zero"
    cutoff = asyncio.run(scale.chain.rules()).activity_cutoff
    advance(scale.chain.file, cutoff)
    done = weigh(bare)
    assert done.mode.mode == "EMERGENCY"
    assert done.decision.uniform
    assert len(set(done.decision.weights.values())) == 1


def forget_updates(scale: WeighInContext) -> int:
    """As on a mechanism id that is new on the chain: nobody ever set weights there. The activity cutoff comes back."""
    with scale.chain.file.locked():
        scale.chain.file.db.execute("DELETE FROM updates")
    return asyncio.run(scale.chain.rules()).activity_cutoff


def test_an_old_registration_that_never_set_weights_pays_nobody_untested(
    scale: WeighInContext, make_store_url: Callable[[], str]
) -> None:
    store = Store(make_store_url())
    bare = WeighInContext(CHUNKING, PARAMS, Journal(store), Ledger(store, "chunking"), scale.chain, ALICE.address)
    advance(scale.chain.file, forget_updates(scale) + 1)
    done = weigh(bare)
    assert (done.mode.mode, done.decision.reason, done.decision.uniform) == ("NORMAL", "all_zero", False)
    assert list_raised(done, None, False) == []
    assert weigh(scale).submission.state == "confirmed", "what was earned is paid, without a rate limit"


def test_without_an_update_on_chain_time_counts_from_what_the_ledger_saw_arrive(scale: WeighInContext) -> None:
    arrived = weigh(scale).submission.included_block
    advance(scale.chain.file, forget_updates(scale))
    reading = asyncio.run(fetch_snapshot(scale))
    assert (reading.first, reading.blocks) == (True, reading.graph.block - arrived)


def plan(block: int = 1) -> WeightsPlan:
    return WeightsPlan((1,), (65535,), (("paragraphs", 1),), 0, block, 1, 1, False, 1, "NORMAL", "hash", "entry")


@pytest.mark.parametrize(("state", "sent"), [("planned", False), ("sent", False), ("sent", True)])
def test_a_restart_settles_what_it_finds_and_sends_nothing(scale: WeighInContext, state: str, sent: bool) -> None:
    """What a crash leaves: planned; sent and lost on the way; sent and applied."""
    before = asyncio.run(scale.chain.stored(ALICE.address)).last_update
    row_id = scale.ledger.plan(replace(plan(), last_update_before=before), START)
    with pytest.raises(WeighbeamError, match="submission_open"):
        scale.ledger.plan(plan(), START)
    if state == "sent":
        scale.ledger._move(row_id, ("planned",), "sent", sent_block=before)
    if sent:
        advance(scale.chain.file, 5)
        asyncio.run(scale.chain.submit([1], [65535], 0))
    settled = asyncio.run(scale.ledger.settle(scale.chain, ALICE.address))
    expected = {("planned", False): "abandoned", ("sent", False): "not_included", ("sent", True): None}[state, sent]
    assert (settled.state, settled.reason) == ("confirmed" if sent else "failed", expected)
    events = scale.chain.file.db.execute("SELECT COUNT(*) FROM events WHERE name = 'WeightsSet'").fetchone()[0]
    assert events == int(sent)


def test_somebody_else_with_our_hotkey_is_noticed(scale: WeighInContext) -> None:
    before = asyncio.run(scale.chain.stored(ALICE.address)).last_update
    row_id = scale.ledger.plan(replace(plan(), last_update_before=before), START)
    scale.ledger._move(row_id, ("planned",), "sent", sent_block=before)
    advance(scale.chain.file, 5)
    asyncio.run(scale.chain.submit([2], [65535], 0))
    settled = asyncio.run(scale.ledger.settle(scale.chain, ALICE.address))
    assert (settled.state, settled.reason) == ("failed", "overwritten")


def test_a_changed_decision_is_found_by_replay(scale: WeighInContext) -> None:
    from sqlalchemy import text

    from weighbeam.store.blobs import insert_blobs, select_blob

    weigh(scale)
    with scale.journal.store.write() as connection:
        row = connection.execute(text("SELECT sequence, body FROM entries WHERE kind = 'weigh_in'")).one()
        forged = select_blob(connection, row.body).replace(b'"uniform":false', b'"uniform":true')
        (digest,) = insert_blobs(connection, [forged])
        connection.execute(text("UPDATE entries SET body = :b WHERE sequence = :s"), {"b": digest, "s": row.sequence})
    assert not sound(scale)


def test_a_refused_step_is_refused_loudly(scale: WeighInContext) -> None:
    row_id = scale.ledger.plan(plan(), START)
    with pytest.raises(WeighbeamError, match="bad_step"):
        scale.ledger._move(row_id, ("sent",), "confirmed")


def test_a_uid_taken_over_between_plan_and_send_is_not_paid(scale: WeighInContext) -> None:
    graph = asyncio.run(scale.chain.metagraph())
    old = graph.find("paragraphs")
    own = graph.find(ALICE.address)
    intent = WeightsPlan(
        (old.uid, old.uid + 1), (65535, 30000), (("paragraphs", old.registered_at - 1), ("halves", old.registered_at)),
        0, graph.block, asyncio.run(scale.chain.rules()).epoch_index, own.last_update, False, 1, "NORMAL", "h", "e",
    )  # fmt: skip
    sent = asyncio.run(scale.ledger.send(scale.ledger.plan(intent, START), scale.chain))
    assert sent.weights == ((old.uid + 1, 65535),)
    assert sent.plan["dropped_uids"] == [old.uid]
    assert stored(scale) == {old.uid + 1: 65535}


def test_a_plan_of_another_epoch_is_not_sent(scale: WeighInContext) -> None:
    sent = asyncio.run(scale.ledger.send(scale.ledger.plan(replace(plan(), epoch=99), START), scale.chain))
    assert sent.state == "failed"
    assert stored(scale) == {}


def test_a_commit_is_confirmed_by_its_reveal_and_not_before(scale: WeighInContext) -> None:
    from chain.administration import set_parameters

    set_parameters(scale.chain.file, commit_reveal=True, reveal_period=2)
    first = weigh(scale)
    assert first.submission.state == "included"
    advance(scale.chain.file, 20)
    assert asyncio.run(scale.ledger.settle(scale.chain, ALICE.address)).state == "included"
    advance(scale.chain.file, 20)
    assert asyncio.run(scale.ledger.settle(scale.chain, ALICE.address)).state == "confirmed"
    again = weigh(scale, START + 120)
    assert again.submission.state == "included"


def test_a_reveal_that_never_comes_is_noticed(scale: WeighInContext) -> None:
    from chain.administration import set_parameters

    set_parameters(scale.chain.file, commit_reveal=True)
    weigh(scale)
    scale.chain.file.db.execute("DELETE FROM commits")
    advance(scale.chain.file, 40)
    settled = asyncio.run(scale.ledger.settle(scale.chain, ALICE.address))
    assert (settled.state, settled.reason) == ("failed", "reveal_missing")


def test_two_weigh_ins_at_one_moment_are_two_entries(scale: WeighInContext) -> None:
    assert weigh(scale).decision.action == "submit"
    assert weigh(scale).decision.reason == "rate_limited"
    assert sound(scale)


def test_who_is_not_registered_submits_nothing(scale: WeighInContext) -> None:
    stranger = replace(scale, own_hotkey="nobody")
    done = weigh(stranger)
    assert (done.decision.action, done.decision.reason) == ("skip", "chain_unreadable")
    assert scale.ledger.rows() == []


@on_sqlite
@pytest.mark.parametrize("endpoint", ["1.2.3.4:²", "1.2.3.4:" + "9" * 5000, "nonsense", ":", "[::]:80"])
def test_an_odd_endpoint_only_means_that_it_does_not_serve(scale: WeighInContext, endpoint: str) -> None:
    announce(scale.chain.file, "copy", endpoint)
    done = weigh(scale)
    assert done.excluded["copy"] == "not_serving"
    assert done.decision.action == "submit"


@on_sqlite
@pytest.mark.parametrize(
    ("blocks", "tempo", "late"), [(540, 360, False), (541, 360, True), (541, 20, True), (1000, 720, False)]
)
def test_weights_older_than_one_and_a_half_tempos_are_late(
    scale: WeighInContext, blocks: int, tempo: int, late: bool
) -> None:
    reading = asyncio.run(fetch_snapshot(scale))
    aged = replace(reading, blocks=blocks, first=False, rules=replace(reading.rules, tempo=tempo))
    assert is_late(aged) is late
    assert not is_late(replace(aged, first=True))
    done = WeighInResult(
        Decision("skip", "all_zero", ()), choose_mode(blocks, None, WeighInLimits()), {}, None, late=late
    )
    assert ("weights_late" in [told.code for told in list_raised(done, "NORMAL", False)]) is late
