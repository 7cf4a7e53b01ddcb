"""When nobody can be asked, log, error and alert name the rules that excluded miners, and how many each."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall, RecallParams

from engine.small_subnet import ALICE, TAO, Turned, hear_log, make_runtime, open_store
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.notices import list_notices
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import generate_tasks
from weighbeam.engine.rules.eligible import ValidatorList
from weighbeam.engine.running.runtime import play_once
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.store.database import Store

PARAMS = RecallParams()
ENDPOINT = "127.0.0.1:9"
KNOWN = "5KnownValidator"


class StakedRecall(KeywordRecall):
    """Asks miners of 100 TAO or more only."""

    def min_stake_rao(self, params: RecallParams) -> int:
        return 100 * TAO


def make_runner(folder: Path, store: Store, neurons: Mapping[str, tuple[int, str | None]]) -> MechanismRunner:
    """Alice with the only permit among neurons of so much stake in TAO, each with its endpoint or without."""
    file = ChainFile.create(folder / "chain.sqlite", SubnetParameters(tempo=20, max_validators=1), manual=True)
    register(file, ALICE.address, stake=5000 * TAO)
    for hotkey, (stake, endpoint) in neurons.items():
        register(file, hotkey, stake=stake * TAO)
        announce(file, hotkey, endpoint)
    advance(file, 20)
    mechanism, journal = StakedRecall(), Journal(store)
    known = ValidatorList("fresh", frozenset({KNOWN}))
    weigh_in_context = WeighInContext(
        mechanism,
        PARAMS,
        journal,
        Ledger(store, mechanism.name),
        LocalChain(file, ALICE),
        ALICE.address,
        validators=lambda: known,
    )
    round_context = RoundContext(mechanism, PARAMS, journal, Asker(ALICE, AskSettings(allow_private=True)), None)
    return MechanismRunner(round_context, weigh_in_context, generate_tasks(mechanism, PARAMS), Turned())


def test_it_names_the_stake_that_miners_lack(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    runner = make_runner(tmp_path, store, {f"5poor{n}": (50, ENDPOINT) for n in range(3)})
    with pytest.raises(WeighbeamError, match="too_few_miners") as raised:
        asyncio.run(runner.play_round())
    assert raised.value.message.endswith("of 3 other neurons: 3 below the mechanism's min_stake_rao, 0 left")
    assert raised.value.remedy == "lower min_stake_rao, or wait until miners hold that stake"


def test_every_rule_is_counted_in_log_and_alert(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    neurons = {
        "5poor": (50, ENDPOINT),
        "5silent1": (200, None),
        "5silent2": (200, None),
        "5rich": (1000, ENDPOINT),
        KNOWN: (200, ENDPOINT),
    }
    runner, runtime = make_runner(tmp_path, store, neurons), make_runtime(store, Turned())
    told = (
        "of 5 other neurons: 1 below the mechanism's min_stake_rao, 2 without an endpoint, "
        "1 on the list of known validators, 1 with 999 TAO or more, which counts as a validator, 0 left"
    )
    with hear_log() as lines:
        asyncio.run(play_once(runtime, runner, own=True))
    assert any(told in line for line in lines)
    (notice,) = [one for one in list_notices(store) if one.closed is None]
    assert (notice.code, notice.level) == ("too_few_miners", "warning")
    assert told in notice.text
    assert "check validator.known_validators" in notice.text
