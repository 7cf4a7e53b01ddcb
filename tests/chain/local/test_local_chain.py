"""The embedded chain: clock, registration, the chain's own refusals, epochs, commit-reveal, many processes."""

import asyncio
import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from chain.administration import set_parameters
from weighbeam.chain.contract import ChainFault
from weighbeam.chain.local.administer import announce, register, set_owner
from weighbeam.chain.local.blocks import advance, at_present
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import FaultSwitches, LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey

TAO = 10**9
ALICE, BOB = Hotkey.from_uri("//Alice"), Hotkey.from_uri("//Bob")


@pytest.fixture
def file(tmp_path: Path) -> ChainFile:
    """Two validators with stake, four miners, permits granted by a first epoch."""
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=2, activity_factor=100_000)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, manual=True)
    for hotkey, stake in ((ALICE, 3000), (BOB, 1000)):
        register(file, hotkey.address, stake=stake * TAO)
    for i in range(4):
        register(file, f"miner-{i}")
        announce(file, f"miner-{i}", f"127.0.0.1{i}:8000")
    advance(file, 40)
    return file


def run(coroutine):
    return asyncio.run(coroutine)


def test_an_epoch_grants_permits_and_pays_the_miner_both_validators_prefer(file: ChainFile) -> None:
    alice, bob = LocalChain(file, ALICE), LocalChain(file, BOB)
    run(alice.submit([2, 3], [65535, 32768], 0))
    run(bob.submit([2], [65535], 0))
    advance(file, 20)
    graph = run(alice.metagraph())
    assert [neuron.permit for neuron in graph.neurons] == [True, True, False, False, False, False]
    incentive = {neuron.hotkey: neuron.incentive for neuron in graph.neurons}
    assert incentive["miner-0"] > incentive["miner-1"] >= 0
    assert graph.find(ALICE.address).dividends > graph.find(BOB.address).dividends > 0
    emitted = file.db.execute("SELECT SUM(emission) FROM shares").fetchone()[0]
    assert 0 < emitted <= 20 * TAO


def test_a_row_read_back_is_the_row_sent(file: ChainFile) -> None:
    chain = LocalChain(file, ALICE)
    sent = run(chain.submit([2, 5], [65535, 7], 0))
    stored = run(chain.stored(ALICE.address))
    assert stored.row == ((2, 65535), (5, 7))
    assert stored.last_update == sent.block
    assert run(chain.blocks_since_update(ALICE.address)) == 0
    advance(file, 9)
    assert run(chain.blocks_since_update(ALICE.address)) == 9
    assert run(chain.blocks_since_update("stranger")) is None


def test_a_new_row_replaces_the_old_one(file: ChainFile) -> None:
    chain = LocalChain(file, ALICE)
    run(chain.submit([2, 3], [65535, 1], 0))
    advance(file, 5)
    run(chain.submit([4], [65535], 0))
    assert run(chain.stored(ALICE.address)).row == ((4, 65535),)


def test_too_fast_names_the_block_to_wait_for_and_changes_nothing(file: ChainFile) -> None:
    chain = LocalChain(file, ALICE)
    sent = run(chain.submit([2], [65535], 0))
    with pytest.raises(ChainFault, match="SettingWeightsTooFast") as caught:
        run(chain.submit([3], [65535], 0))
    assert (caught.value.code, caught.value.outcome) == ("rate_limited", "rejected")
    assert caught.value.retry_block == sent.block + 5
    assert run(chain.stored(ALICE.address)).row == ((2, 65535),)


@pytest.mark.parametrize(
    ("hotkey", "uids", "values", "changes", "code"),
    [
        (Hotkey.from_uri("//Nobody"), [2], [65535], {}, "not_registered"),
        (ALICE, [2, 2], [65535, 1], {}, "bad_weights"),
        (ALICE, [99], [65535], {}, "bad_weights"),
        (ALICE, [2], [65535], {"min_allowed_weights": 2}, "too_few_weights"),
        (ALICE, [2], [65535], {"version_key": 9}, "version_key"),
        (ALICE, [2], [65535], {"stake_threshold": 9999 * TAO}, "low_stake"),
    ],
)
def test_refusals_carry_the_chain_s_name_and_our_remedy(file, hotkey, uids, values, changes, code) -> None:
    set_parameters(file, **changes)
    with pytest.raises(ChainFault) as caught:
        run(LocalChain(file, hotkey).submit(uids, values, 0))
    assert caught.value.code == code
    assert caught.value.remedy
    assert caught.value.outcome == "rejected"


def test_a_miner_without_permit_cannot_weigh_others(file: ChainFile) -> None:
    charlie = Hotkey.from_uri("//Charlie")
    uid = register(file, charlie.address)
    advance(file, 10)
    with pytest.raises(ChainFault, match="NeuronNoValidatorPermit"):
        run(LocalChain(file, charlie).submit([2], [65535], 0))
    run(LocalChain(file, charlie).submit([uid], [65535], 0))


def test_commits_stay_sealed_until_their_epoch(file: ChainFile) -> None:
    set_parameters(file, commit_reveal=True)
    chain = LocalChain(file, ALICE)
    sent = run(chain.submit([3], [65535], 0))
    assert sent.path == "commit"
    before = run(chain.stored(ALICE.address))
    assert before.row == ()
    assert len(before.commits) == 1
    assert before.last_update == sent.block
    advance(file, 20)
    after = run(chain.stored(ALICE.address))
    assert after.row == ((3, 65535),)
    assert after.commits == ()
    assert after.last_update == sent.block


def test_a_recycled_uid_inherits_nothing(tmp_path: Path) -> None:
    parameters = SubnetParameters(tempo=10, rate_limit=1, max_uids=3, immunity_period=5, activity_factor=100_000)
    file = ChainFile.create(tmp_path / "chain.sqlite", parameters, manual=True)
    register(file, ALICE.address, stake=TAO)
    set_owner(file, ALICE.address)
    register(file, "old")
    register(file, "other")
    advance(file, 10)
    run(LocalChain(file, ALICE).submit([1, 2], [60000, 65535], 0))
    advance(file, 10)
    assert register(file, "new") == 1
    advance(file, 10)
    graph = run(LocalChain(file, ALICE).metagraph())
    assert graph.find("old") is None
    assert graph.find("new").incentive == 0
    assert graph.find("other").incentive > 0


def test_registration_once_and_the_owner_is_never_replaced(file: ChainFile) -> None:
    with pytest.raises(WeighbeamError, match="already_registered"):
        register(file, ALICE.address)
    with pytest.raises(WeighbeamError, match="not_registered"):
        announce(file, "stranger", None)


def test_the_clock_runs_at_its_speed_never_back_and_sleeps_when_unused(tmp_path: Path) -> None:
    now = [1000.0]
    path = tmp_path / "chain.sqlite"
    file = ChainFile.create(path, SubnetParameters(tempo=10), speed=24, clock=lambda: now[0])

    def block() -> int:
        with at_present(file) as present:
            return present

    assert block() == 1
    now[0] += 5
    assert block() == 11
    now[0] -= 100
    assert block() == 11
    now[0] += 100 + 3600
    assert block() == 12
    now[0] += 0.5
    assert block() == 13


def test_faults_end_as_the_port_promises(file: ChainFile) -> None:
    chain = LocalChain(file, ALICE, faults=FaultSwitches(unreachable=True))
    with pytest.raises(ChainFault, match="unreachable"):
        run(chain.head())
    chain = LocalChain(file, ALICE, faults=FaultSwitches(lose_reply=True))
    with pytest.raises(ChainFault) as caught:
        run(chain.submit([2], [65535], 0))
    assert caught.value.outcome == "unknown"
    assert run(chain.stored(ALICE.address)).row == ((2, 65535),)
    chain = LocalChain(file, ALICE, faults=FaultSwitches(delay_seconds=60))
    with pytest.raises(ChainFault, match="timeout"):
        run(chain.head())
    chain = LocalChain(file, ALICE, faults=FaultSwitches(refuse_with="NeuronNoValidatorPermit"))
    with pytest.raises(ChainFault, match="no_permit"):
        run(chain.submit([2], [65535], 0))


def test_files_that_are_no_chain_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match="no_chain_file"):
        ChainFile(tmp_path / "nothing")
    (tmp_path / "junk").write_bytes(b"junk" * 999)
    with pytest.raises(WeighbeamError, match="bad_chain_file"):
        ChainFile(tmp_path / "junk")
    file = ChainFile.create(tmp_path / "chain.sqlite")
    with pytest.raises(WeighbeamError, match="chain_exists"):
        ChainFile.create(tmp_path / "chain.sqlite")
    file.write("format", 99)
    file.close()
    with pytest.raises(WeighbeamError, match="bad_chain_file"):
        ChainFile(tmp_path / "chain.sqlite")


def _advance_many(path: str) -> None:
    file = ChainFile(Path(path))
    for _ in range(25):
        advance(file, 1)


def test_processes_share_one_chain_without_losing_a_block(file: ChainFile) -> None:
    with at_present(file) as before:
        pass
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_advance_many, args=(str(file.path),)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    with at_present(file) as after:
        assert after == before + 75
    assert sqlite3.connect(file.path).execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_an_empty_commit_harms_nobody(file: ChainFile) -> None:
    set_parameters(file, commit_reveal=True)
    run(LocalChain(file, ALICE).submit([], [], 0))
    advance(file, 40)
    assert run(LocalChain(file, ALICE).stored(ALICE.address)).row == ()
