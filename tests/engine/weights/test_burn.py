"""Who takes a burnt share, and what a weigh-in does when that cannot be proven."""

import asyncio
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from weighbeam.chain.contract import Metagraph, Neuron
from weighbeam.chain.local.administer import announce, register, set_owner
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.canonical import canonical_json
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.decision import Burn, Payee, find_burn
from weighbeam.engine.rules.last_seen import LastSeen
from weighbeam.engine.rules.weighing import Weighing, list_payees
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.weigh_in import WeighInResult, weigh_in
from weighbeam.engine.weights.weigh_in_alerts import list_raised
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Standing, Task
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stand import Memory
from weighbeam.mechanisms.evidence.weigh import RegisteredMiner as Place
from weighbeam.mechanisms.evidence.weigh import pay_ranks, weigh_miners
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

EVIDENCE, PARAMS, ALICE = Evidence(), EvidenceParams(), Hotkey.from_uri("//Alice")
START, HOUR = 1_800_000_000.0, 3600.0
MINERS = ("a", "b", "c", "d")
LIMITS = WeighInLimits()


def neuron(uid: int, hotkey: str, coldkey: str = "") -> Neuron:
    return Neuron(uid, hotkey, coldkey, 0, False, True, 0, 0, 0, 0, 0, 0, None)


def graph(owner_hotkey: str | None = None, owner_coldkey: str | None = None) -> Metagraph:
    return Metagraph(
        1, 1, owner_hotkey, owner_coldkey, (neuron(0, "owner", "cold"), neuron(1, "other"), neuron(2, "x", "cold"))
    )


PROVEN = Burn(0.5, "owner", 0)
UNPROVEN = Burn(0.5, unproven=True)


@pytest.mark.parametrize(
    ("wanted", "given", "found"),
    [
        ("owner", graph("owner"), PROVEN),
        ("owner", graph(None, "cold"), PROVEN),
        ("x", graph("owner", "cold"), Burn(0.5, "x", 2)),
        ("other", graph("owner", "cold"), UNPROVEN),
        ("owner", graph(), UNPROVEN),
        ("other", graph(None, ""), UNPROVEN),
        ("other", graph("", ""), UNPROVEN),
        ("owner", graph("other", "warm"), UNPROVEN),
        ("stranger", graph("stranger"), UNPROVEN),
        (None, graph("owner"), Burn(0.5)),
        ("owner", None, Burn(0.5)),
    ],
)
def test_a_target_is_proven_by_the_same_metagraph(wanted: str | None, given: Metagraph | None, found: Burn) -> None:
    assert find_burn(EVIDENCE, PARAMS, wanted, given) == found


def test_a_mechanism_that_does_not_burn_has_no_target() -> None:
    assert find_burn(Chunking(), Chunking.params_type(), "owner", graph("owner")) is None


def test_a_named_target_is_proven_though_its_share_is_nothing() -> None:
    """What ranks leave over, and all of it if nobody is active, is its."""
    none = EvidenceParams(burn_share=0.0, residual="burn")
    assert find_burn(EVIDENCE, none, "owner", graph("owner")) == Burn(0.0, "owner", 0)
    assert EVIDENCE.weigh_burning(none, stand(a=2.0), {"a"}, "owner").raw == {"a": 32768.0, "owner": 32767.0}
    assert EVIDENCE.weigh_burning(none, (), {"a"}, "owner").raw == {"owner": 65535.0}


def stand(**averages: float) -> tuple[Standing, ...]:
    return tuple(
        Standing(hotkey, value, {"responses": 3, "seed": "s", "turn": 1}) for hotkey, value in averages.items()
    )


def weigh(mode: Any, burn: Burn | None, params: EvidenceParams = PARAMS, **averages: float) -> Weighing:
    uids = {hotkey: uid for uid, hotkey in enumerate(MINERS, 1)}
    seen = dict.fromkeys(MINERS, LastSeen(START, START))
    hours = None if mode == "EMERGENCY" else 10.0
    payees = list_payees(EVIDENCE, params, uids, stand(**averages), seen, START, hours, burn)
    return Weighing(payees, START, mode, 500, 100, LIMITS, True, True, Averaging(), burn)


AVERAGES = {"a": 9.0, "b": -3.0, "c": 20.0}


def test_the_raw_weights_are_the_integers_of_the_stage() -> None:
    weighing = weigh("NORMAL", PROVEN, **AVERAGES)
    raw = {payee.hotkey: payee.raw for payee in weighing.payees}
    assert raw == {"a": 8192, "b": 4096, "c": 20479, "d": 0, "owner": 32768}
    assert sum(raw.values()) == 65535
    assert weighing.payees[-1] == Payee("owner", 0, 32768.0, START)
    decision = weighing.decide()
    assert (decision.action, decision.uids, max(decision.values)) == ("submit", (0, 1, 2, 3), 65535)
    assert decision.weights["owner"] == 32768 / 65535


def test_decided_values_are_those_the_stage_emits() -> None:
    """For every share, curve and number of miners; halves fall alike."""
    shares = product((0.0, 0.1, 0.3, 0.5, 0.9, 1.0), ("top", "burn", "proportional"), (None, PROVEN), range(5))
    for share, residual, burn, count in shares:
        params = EvidenceParams(burn_share=share, residual=residual)
        averages = {hotkey: float(place) for place, hotkey in enumerate(MINERS[:count])}
        decision = weigh("NORMAL", burn or Burn(share), params, **averages).decide()
        memories = {hotkey: Memory(average, 3) for hotkey, average in averages.items()}
        places = [Place(0, "owner", False), *(Place(uid, hotkey, False) for uid, hotkey in enumerate(MINERS, 1))]
        stage = weigh_miners(memories, places, 0 if burn else None, (), "s", params)
        emitted = stage["emit"]
        assert (list(decision.uids), list(decision.values)) == (emitted["uids"], emitted["values"])
        paid = pay_ranks([1] * count, burn is not None, params)
        assert stage["total"] == sum(paid.miners) + paid.burn == (65535 if count or burn else 0)


def test_nobody_active_burns_everything_and_without_a_target_nothing_is_set() -> None:
    decision = weigh("NORMAL", PROVEN).decide()
    assert (decision.uids, decision.values) == ((0,), (65535,))
    decision = weigh("NORMAL", Burn(0.5)).decide()
    assert (decision.action, decision.reason) == ("skip", "all_zero")


def test_an_unproven_target_stops_a_normal_weigh_in_only() -> None:
    decision = weigh("NORMAL", UNPROVEN, **AVERAGES).decide()
    assert (decision.action, decision.reason, decision.values) == ("skip", "burn_target_unproven", ())
    for mode in ("DEGRADED", "EMERGENCY"):
        weighing = weigh(mode, UNPROVEN, **AVERAGES)
        assert sum(payee.raw for payee in weighing.payees) == 65535
        decision = weighing.decide()
        assert (decision.action, decision.uids) == ("submit", (1, 2, 3))
        assert "owner" not in decision.weights


def test_a_target_who_mines_too_is_paid_as_target_alone() -> None:
    target = Burn(0.5, "a", 1)
    weighing = weigh("NORMAL", target, **AVERAGES)
    assert [payee.hotkey for payee in weighing.payees] == ["b", "c", "d", "a"]
    assert {payee.hotkey: payee.raw for payee in weighing.payees} == {"b": 8192, "c": 24575, "d": 0, "a": 32768}


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_in_an_emergency_without_standings_the_share_is_burnt_and_the_rest_is_uniform(share: float) -> None:
    decision = weigh("EMERGENCY", replace(PROVEN, share=share), EvidenceParams(burn_share=share)).decide()
    assert decision.uniform
    assert decision.weights["owner"] == pytest.approx(share)
    assert [decision.weights[hotkey] for hotkey in MINERS] == pytest.approx([(1 - share) / 4] * 4)


def test_without_a_target_such_an_emergency_pays_all_alike() -> None:
    for burn in (None, Burn(0.5), UNPROVEN):
        decision = weigh("EMERGENCY", burn).decide()
        assert decision.uniform
        assert set(decision.values) == {65535}
        assert decision.uids == (1, 2, 3, 4)


def test_a_target_is_no_miner_who_serves() -> None:
    """One target alone does not make a subnet worth weighing."""
    payees = (Payee("owner", 0, 65535.0, START),)
    weighing = Weighing(payees, START, "NORMAL", 500, 100, LIMITS, True, True, Averaging(), PROVEN)
    assert weighing.decide().reason == "too_few_serving"
    assert replace(weighing, mode="EMERGENCY").decide().reason == "too_few_serving"


@pytest.mark.parametrize("burn", [None, PROVEN, UNPROVEN, Burn(0.5)])
@pytest.mark.parametrize("mode", ["NORMAL", "DEGRADED", "EMERGENCY"])
def test_a_weighing_is_read_back_as_it_was_written(mode: Any, burn: Burn | None) -> None:
    weighing = weigh(mode, burn, **AVERAGES)
    again = Weighing.from_json(json.loads(canonical_json(weighing.as_json())))
    assert again == weighing
    assert again.decide() == weighing.decide()


def observed(hotkeys: dict[str, str]) -> tuple[Asked, Observation]:
    """Two answers without senses: nothing in them is ever read."""
    answers = (Answer(hotkeys["a"], {"snippets": []}, 3.0), Answer(hotkeys["b"], None, 120.0, "timeout"))
    asked = Asked(
        Task("t", {"statement": "The sea is salty."}), Group(tuple(hotkeys.values())), answers, "s", {}, START
    )
    miners = [
        {"hotkey": answer.hotkey, "uid": None, "status": status, "seconds": answer.seconds, "snippets": [], "extra": 0}
        for answer, status in zip(answers, ("ok", "unreachable"), strict=True)
    ]
    task = {"id": "t", "kind": "synthetic", "ranked": True, "wanted": [], "statement": "The sea is salty.", "at": START}
    facts = {
        "format": 1,
        "task": task,
        "seed": "s",
        "group": {"members": list(hotkeys.values()), "extra": []},
        "senses": {},
        "lists": {},
        "sources": {},
        "faults": [],
        "miners": miners,
    }
    return asked, Observation(facts)


@pytest.fixture
def scale(tmp_path: Path) -> WeighInContext:
    """A validator, two miners and an owner on a local chain, one scored round in the journal."""
    file = ChainFile.create(
        tmp_path / "chain.sqlite", SubnetParameters(tempo=20, rate_limit=5, max_validators=1), manual=True
    )
    register(file, ALICE.address, stake=5000 * 10**9)
    hotkeys = {name: Hotkey.from_uri(f"//{name}").address for name in ("a", "b", "owner")}
    for hotkey in hotkeys.values():
        register(file, hotkey)
        announce(file, hotkey, "127.0.0.1:8000")
    set_owner(file, hotkeys["owner"])
    advance(file, 20)
    journal = Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))
    asked, observation = observed({name: hotkeys[name] for name in ("a", "b")})
    params, params_hash = PARAMS.model_dump(mode="json"), hash_params(EVIDENCE, PARAMS, {})
    journal.record(RoundFacts("r0", "evidence", params, params_hash, "s", 0, START), asked, observation)
    journal.commit("r0", EVIDENCE)
    chain = LocalChain(file, ALICE)
    chain.file = file
    ledger = Ledger(journal.store, "evidence")
    return WeighInContext(EVIDENCE, PARAMS, journal, ledger, chain, ALICE.address, burn_hotkey=hotkeys["owner"])


def run(scale: WeighInContext) -> WeighInResult:
    return asyncio.run(weigh_in(scale, START + 60))


def list_faults(scale: WeighInContext) -> list[str]:
    return [row.fault for row in replay(scale.journal.store, lambda _: EVIDENCE) if row.fault]


def test_a_weigh_in_burns_to_the_owner_and_replays(scale: WeighInContext) -> None:
    """Both miners failed, so both are stale and none is weighed: everything is burnt."""
    done = run(scale)
    assert (done.decision.action, done.decision.values) == ("submit", (65535,))
    assert done.burn == Burn(0.5, scale.burn_hotkey, done.decision.uids[0])
    assert done.submission is not None
    assert done.submission.state == "confirmed"
    assert list_faults(scale) == []


def test_an_owner_who_sold_the_subnet_is_paid_nothing_and_everybody_is_told(scale: WeighInContext) -> None:
    set_owner(scale.chain.file, ALICE.address)
    advance(scale.chain.file, 1)
    done = run(scale)
    assert (done.decision.action, done.decision.reason) == ("skip", "burn_target_unproven")
    assert ("burn_target_unproven", "critical") in [(told.code, told.level) for told in list_raised(done, None, False)]
    assert list_faults(scale) == []


def test_a_forged_target_does_not_replay(scale: WeighInContext) -> None:
    """The journal's word on who takes the share is part of what is computed again."""
    weighing = weigh("NORMAL", PROVEN, **AVERAGES)
    forged = replace(weighing, burn=Burn(0.5, "a", 1))
    uids = {payee.hotkey: payee.uid for payee in forged.payees if payee.hotkey != "a"}
    seen = dict.fromkeys(MINERS, LastSeen(START, START))
    again = list_payees(EVIDENCE, PARAMS, uids, stand(**AVERAGES), seen, START, 10.0, forged.burn)
    assert again != forged.payees
