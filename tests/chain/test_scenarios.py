"""The same story on the local chain and through the unmodified SDK on a loopback node."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chain.administration import set_parameters, set_stake
from chain.stand import Stand, address, make_adapter, open_stand, tell
from engine.small_subnet import ALICE, START, Observed, list_faults
from loopnode.need import need_sdk
from weighbeam.chain.contract import Chain, ChainFault, Metagraph
from weighbeam.chain.local.administer import replace_neuron, set_owner
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.port import LocalChain
from weighbeam.network.keys import Hotkey


@pytest.fixture(params=["local", "bittensor", "proxy"])
def stand(request: pytest.FixtureRequest, tmp_path: Path, observed_addresses: Observed) -> Iterator[Stand]:
    """A proxy's key signs in place of the hotkey's on the SDK's chain; nothing else of the story changes."""
    if request.param != "local":
        need_sdk()
    with open_stand(request.param, tmp_path, observed_addresses, mechanisms=2) as made:
        if request.param != "local":
            from loopnode.notes import note_commits

            note_commits(made.node)
        yield made


def test_weights_are_set_confirmed_and_read_back_to_the_unit(stand: Stand) -> None:
    done = stand.weigh()
    assert done.submission.state == "confirmed"
    assert stand.stored() == done.submission.weights
    assert tell(done) == []
    assert stand.count_taken() == 1
    assert list_faults(stand.weigh_in_context.journal.store) == []


def test_too_soon_is_a_skip_and_waiting_is_enough(stand: Stand) -> None:
    stand.weigh()
    assert stand.weigh(START + 61).decision.reason == "rate_limited"
    advance(stand.file, 5)
    assert stand.weigh(START + 120).submission.state == "confirmed"
    assert stand.count_taken() == 2


def test_an_epoch_pays_what_was_set_and_the_metagraph_shows_it(stand: Stand) -> None:
    done = stand.weigh()
    advance(stand.file, 20)
    graph = stand.run(stand.chain.metagraph())
    paid = {neuron.uid for neuron in graph.neurons if neuron.incentive}
    assert paid == set(done.decision.uids)
    assert graph.find(ALICE.address).dividends == 65535
    assert graph.find(ALICE.address).validator_trust in (65534, 65535)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"stake_threshold": 10**15}, "low_stake"),
        ({"version_key": 7}, "version_key"),
        ({"min_allowed_weights": 7}, "too_few_weights"),
    ],
)
def test_a_rule_that_is_not_met_fails_the_row_by_our_code(stand: Stand, change: dict, code: str) -> None:
    set_parameters(stand.file, **change)
    done = stand.weigh()
    assert (done.submission.state, done.submission.reason) == ("failed", code)
    assert tell(done) == [("submission_failed", "warning")]
    assert stand.count_taken() == 0
    set_parameters(stand.file, stake_threshold=0, version_key=0, min_allowed_weights=1)
    assert stand.weigh(START + 120).submission.state == "confirmed"


def test_without_a_permit_nothing_is_taken_but_the_owner_needs_none(stand: Stand) -> None:
    with stand.file.locked():
        stand.file.db.execute("UPDATE neurons SET permit = 0")
    assert stand.weigh().submission.reason == "no_permit"
    set_owner(stand.file, ALICE.address)
    graph = stand.run(stand.chain.metagraph())
    assert (graph.owner_hotkey, graph.owner_coldkey) == (ALICE.address, ALICE.address)
    assert stand.weigh(START + 120).submission.state == "confirmed"


def test_who_is_not_registered_is_told_so(stand: Stand) -> None:
    replace_neuron(stand.file, 0, address("usurper"))
    done = stand.weigh()
    assert (done.decision.reason, done.fault.code) == ("chain_unreadable", "not_registered")
    with pytest.raises(ChainFault) as caught:
        stand.run(stand.chain.submit([1], [65535], 0))
    assert caught.value.code == "not_registered"
    assert stand.run(stand.chain.blocks_since_update(ALICE.address)) is None
    assert stand.run(stand.chain.stored(ALICE.address)).uid is None


def test_a_commit_is_sealed_then_revealed_then_confirmed(stand: Stand) -> None:
    set_parameters(stand.file, commit_reveal=True)
    done = stand.weigh()
    assert done.submission.state == "included"
    stored = stand.run(stand.chain.stored(ALICE.address))
    assert (stored.row, len(stored.commits)) == ((), 1)
    assert stored.last_update == stored.commits[0].block == done.submission.included_block
    assert stand.weigh(START + 90).decision.reason == "rate_limited"
    advance(stand.file, 20)
    again = stand.weigh(START + 120)
    assert again.settled.state == "confirmed"
    assert stand.stored() == again.settled.weights
    assert tell(again) == []
    assert [row.state for row in stand.weigh_in_context.ledger.rows()] == ["confirmed", "included"]


def test_while_a_commit_waits_for_its_reveal_nothing_else_is_sent(stand: Stand) -> None:
    set_parameters(stand.file, commit_reveal=True, reveal_period=2)
    stand.weigh()
    advance(stand.file, 20)
    again = stand.weigh(START + 120)
    assert (again.decision.action, again.submission) == ("submit", None)
    assert stand.count_taken() == 1


def test_a_commit_that_is_never_revealed_fails_and_is_told(stand: Stand) -> None:
    set_parameters(stand.file, commit_reveal=True)
    assert stand.weigh().submission.state == "included"
    stand.file.drop_reveals = True
    advance(stand.file, 40)
    done = stand.weigh(START + 120)
    assert (done.settled.state, done.settled.reason) == ("failed", "reveal_missing")
    assert tell(done)[0] == ("reveal_missing", "warning")


def test_a_uid_replaced_between_plan_and_send_is_dropped_and_its_new_holder_not_paid(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, looks, uid = stand.chain.metagraph, [], stand.run(stand.chain.metagraph()).find(address("paragraphs")).uid

    async def replace_behind_us() -> Metagraph:
        graph = await real()
        looks.append(graph)
        if len(looks) == 1:
            replace_neuron(stand.file, uid, address("stranger"))
        return graph

    monkeypatch.setattr(stand.chain, "metagraph", replace_behind_us)
    done = stand.weigh()
    assert done.submission.state == "confirmed"
    assert done.submission.plan["dropped_uids"] == [uid]
    row = dict(stand.stored())
    assert set(row) == set(done.decision.uids) - {uid}
    assert max(row.values()) == 65535


def test_a_subnet_of_many_stakes_is_read_alike_by_both_chains(stand: Stand) -> None:
    """Every record of the port, field by field, against the local chain's own reading of the same file."""
    set_stake(stand.file, address("paragraphs"), 2**63 - 1)
    set_owner(stand.file, address("paragraphs"))
    stand.weigh()
    advance(stand.file, 25)
    plain = LocalChain(stand.file, ALICE)
    assert stand.run(stand.chain.metagraph()) == stand.run(plain.metagraph())
    assert stand.run(stand.chain.rules()) == stand.run(plain.rules())
    for hotkey in (ALICE.address, address("paragraphs"), address("nobody")):
        assert stand.run(stand.chain.stored(hotkey)) == stand.run(plain.stored(hotkey))
        assert stand.run(stand.chain.blocks_since_update(hotkey)) == stand.run(plain.blocks_since_update(hotkey))
    head = stand.run(stand.chain.head())
    assert head.block == head.finalized == stand.run(plain.head()).block


def open_mechanism(stand: Stand, mechid: int) -> Chain:
    if stand.server is None:
        return LocalChain(stand.file, ALICE, mechid)
    found: Chain = make_adapter(stand, stand.file.path.parent, mechid=mechid, key=stand.key, proxying=stand.proxying)
    return found


def test_each_mechanism_id_has_rows_and_a_rate_limit_of_its_own(stand: Stand) -> None:
    stand.weigh()
    second = open_mechanism(stand, 1)
    assert stand.run(second.stored(ALICE.address)).row == ()
    sent = stand.run(second.submit([2, 3], [7, 65535], 0))
    stored = stand.run(second.stored(ALICE.address))
    assert (stored.row, stored.last_update) == (((2, 7), (3, 65535)), sent.block)
    assert stand.stored() == stand.weigh_in_context.ledger.rows()[0].weights
    advance(stand.file, 20)
    ours, theirs = stand.run(second.metagraph()), stand.run(LocalChain(stand.file, ALICE, 1).metagraph())
    for one, other in zip(ours.neurons, theirs.neurons, strict=True):
        assert (one.last_update, one.incentive) == (other.last_update, other.incentive)
    assert 0 < ours.neurons[2].incentive < ours.neurons[3].incentive
    with pytest.raises(ChainFault) as caught:
        stand.run(open_mechanism(stand, 2).submit([2], [65535], 0))
    assert caught.value.code == "no_subnet"
    stand.run(second.close())


def test_what_one_signs_the_other_verifies(stand: Stand) -> None:
    signature = stand.chain.sign(b"words")
    assert stand.chain.verify(b"words", signature, stand.key.address)
    assert not stand.chain.verify(b"other", signature, stand.key.address)
    assert not stand.chain.verify(b"words", signature, Hotkey.from_uri("//Bob").address)
