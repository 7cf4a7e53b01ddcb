"""Weights through a proxy's key, on the local chain and through the SDK: nothing is set without the right."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chain.administration import set_parameters
from chain.stand import PROXY, Stand, make_adapter, open_stand, tell
from engine.small_subnet import ALICE, START, Observed, list_faults
from loopnode.need import need_sdk
from weighbeam.chain.local.administer import add_proxy, remove_proxies
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.port import LocalChain
from weighbeam.chain.proxies import TYPES, Delegation, Proxying, refuse_delegate
from weighbeam.network.keys import Hotkey

FAILED = ("failed", "no_proxy_right")


def sign_as_proxy(stand: Stand, kind: str | None = None) -> None:
    """From now on the stand's weights are signed by the proxy's key."""
    proxying = Proxying(ALICE.address, kind)
    if stand.server is None:
        stand.chain = LocalChain(stand.file, PROXY, proxying=proxying)
    else:
        stand.chain = make_adapter(stand, stand.file.path.parent, key=PROXY, proxying=proxying)
    stand.weigh_in_context = replace(stand.weigh_in_context, chain=stand.chain)


@pytest.fixture(params=["local", "bittensor"])
def stand(request: pytest.FixtureRequest, tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    if request.param == "bittensor":
        need_sdk()
    with open_stand(request.param, tmp_path, observed_addresses) as made:
        if request.param == "bittensor":
            from loopnode.notes import note_commits

            note_commits(made.node)
        yield made
        made.run(made.chain.close())


def end_of(stand: Stand, now: float = START + 60) -> tuple[str, str | None]:
    done = stand.weigh(now)
    return done.submission.state, done.submission.reason


@pytest.mark.parametrize("kind", ["NonFungible", "Any"])
def test_a_proxy_sets_the_weights_of_its_hotkey(stand: Stand, kind: str) -> None:
    add_proxy(stand.file, ALICE.address, Delegation(PROXY.address, kind))
    sign_as_proxy(stand)
    done = stand.weigh()
    assert done.submission.state == "confirmed"
    assert stand.stored() == done.submission.weights
    assert stand.count_taken() == 1
    assert list_faults(stand.weigh_in_context.journal.store) == []
    if stand.node is not None:
        sent = stand.node.included[-1]
        assert (sent.address, sent.function, sent.args["real"]) == (PROXY.address, "proxy", ALICE.address)


def test_a_key_that_is_no_proxy_sets_nothing_until_it_is_one(stand: Stand) -> None:
    add_proxy(stand.file, ALICE.address, Delegation(Hotkey.from_uri("//another").address, "Any"))
    sign_as_proxy(stand)
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == FAILED
    assert tell(done) == [("submission_failed", "warning")]
    assert stand.count_taken() == 0
    add_proxy(stand.file, ALICE.address, Delegation(PROXY.address, "NonFungible"))
    assert end_of(stand, START + 120) == ("confirmed", None)
    assert stand.count_taken() == 1


def test_a_type_that_may_not_set_weights_sets_none(stand: Stand) -> None:
    add_proxy(stand.file, ALICE.address, Delegation(PROXY.address, "Staking"))
    sign_as_proxy(stand)
    assert end_of(stand) == FAILED
    assert stand.count_taken() == 0


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_judged_as_the_runtime_does(kind: str) -> None:
    """The chain's allow-lists as they were read; spec/chain.md names the four that hold the calls that set weights."""
    refusal = refuse_delegate([Delegation("5P", kind)], "5P", None)
    assert refusal == (None if kind in ("Any", "NonCritical", "NonTransfer", "NonFungible") else "CallFiltered")


def test_a_delay_cannot_be_waited_for(stand: Stand) -> None:
    add_proxy(stand.file, ALICE.address, Delegation(PROXY.address, "NonFungible", delay=5))
    sign_as_proxy(stand)
    assert end_of(stand) == FAILED
    assert stand.count_taken() == 0


def test_of_several_types_the_chain_uses_the_first_unless_one_is_named(stand: Stand) -> None:
    for kind in ("Owner", "NonFungible"):
        add_proxy(stand.file, ALICE.address, Delegation(PROXY.address, kind))
    sign_as_proxy(stand)
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == FAILED
    stand.run(stand.chain.close())
    sign_as_proxy(stand, "NonFungible")
    assert end_of(stand, START + 120) == ("confirmed", None)
    stand.run(stand.chain.close())
    advance(stand.file, 10)
    sign_as_proxy(stand, "Any")
    assert end_of(stand, START + 180) == FAILED


def test_a_sealed_row_is_the_hotkeys_own(stand: Stand) -> None:
    set_parameters(stand.file, commit_reveal=True)
    add_proxy(stand.file, ALICE.address, Delegation(PROXY.address, "NonFungible"))
    sign_as_proxy(stand)
    assert end_of(stand)[0] == "included"
    advance(stand.file, 20)
    again = stand.weigh(START + 120)
    assert again.settled.state == "confirmed"
    assert stand.stored() == again.settled.weights


def test_both_chains_show_the_same_delegations(stand: Stand) -> None:
    given = [Delegation(PROXY.address, kind, delay) for kind in ("Staking", "Any", "Owner") for delay in (7, 0)]
    for one in given:
        add_proxy(stand.file, ALICE.address, one)
    found = stand.run(stand.chain.delegations(ALICE.address))
    assert [(one.kind, one.delay) for one in found] == [
        (kind, delay) for kind in ("Any", "Owner", "Staking") for delay in (0, 7)
    ]
    assert stand.run(stand.chain.delegations(PROXY.address)) == ()


@pytest.fixture
def served(tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    """The SDK alone: what happens between our look and the block."""
    need_sdk()
    with open_stand("bittensor", tmp_path, observed_addresses) as made:
        add_proxy(made.file, ALICE.address, Delegation(PROXY.address, "NonFungible"))
        sign_as_proxy(made)
        yield made
        made.run(made.chain.close())


@pytest.mark.parametrize("left", [None, "Staking"])
def test_a_right_removed_between_look_and_block_is_refused_by_the_chain(
    served: Stand, monkeypatch: pytest.MonkeyPatch, left: str | None
) -> None:
    """Without any right the call fails; with a wrong type it succeeds outside and fails inside."""
    real = served.chain._refuse_proxy

    async def look_then_lose() -> Any:
        found = await real()
        remove_proxies(served.file, ALICE.address)
        if left is not None:
            add_proxy(served.file, ALICE.address, Delegation(PROXY.address, left))
        return found

    monkeypatch.setattr(served.chain, "_refuse_proxy", look_then_lose)
    done = served.weigh()
    assert (done.submission.state, done.submission.reason) == FAILED
    assert len(served.node.included) == 1, "it was sent"
    assert served.count_taken() == 0
    monkeypatch.undo()
    add_proxy(served.file, ALICE.address, Delegation(PROXY.address, "NonFungible", 0))
    if left is not None:
        served.run(served.chain.close())
        sign_as_proxy(served, "NonFungible")
    served.node.step(5)
    assert end_of(served, START + 120) == ("confirmed", None)
    assert served.count_taken() == 1


def test_a_call_refused_inside_is_named_by_its_own_error(served: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    real = served.chain._refuse_proxy

    async def look_then_ask_more() -> Any:
        found = await real()
        set_parameters(served.file, version_key=9)
        return found

    monkeypatch.setattr(served.chain, "_refuse_proxy", look_then_ask_more)
    assert end_of(served) == ("failed", "version_key")
    assert len(served.node.included) == 1
    assert served.count_taken() == 0


@pytest.mark.parametrize(("lost", "state"), [("included", "confirmed"), ("lost", "failed")])
def test_a_lost_reply_is_settled_by_reading_back(served: Stand, lost: str, state: str) -> None:
    from loopnode.faults import Faults

    served.node.faults.drop_submission = lost
    assert served.weigh().submission is not None
    served.node.faults = Faults()
    served.node.step(40)
    again = served.weigh(START + 400)
    rows = served.weigh_in_context.ledger.rows()
    assert rows[0].state == state
    assert again.submission.state == "confirmed"
    assert served.count_taken() == sum(row.state == "confirmed" for row in rows)


def test_a_hotkey_grants_and_takes_back_the_right_by_the_sdk(served: Stand) -> None:
    import bittensor as bt

    from weighbeam.chain.bittensor.port import OnceSigner

    def call(made: Any) -> Any:
        with bt.Subtensor(served.server.url, fallback_endpoints=[], archive_endpoints=[]) as client:
            return client.submit_call(made, OnceSigner(ALICE, 32, None), signer="hotkey")

    second = Hotkey.from_uri("//second")
    added = bt.calls.Proxy.add_proxy(delegate=second.address, proxy_type="NonFungible", delay=0)
    assert call(added).success
    found = asyncio.run(LocalChain(served.file, ALICE).delegations(ALICE.address))
    assert {one.delegate for one in found} == {PROXY.address, second.address}
    again = call(added)
    assert (again.success, again.error.name) == (False, "Duplicate")
    assert call(bt.calls.Proxy.remove_proxies()).success
    assert end_of(served) == FAILED
