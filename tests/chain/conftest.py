"""What every chain test starts from."""

import importlib.util

import pytest

from chain.stand import observe_addresses
from engine.small_subnet import Observed
from weighbeam.senses.local import LocalSenses

collect_ignore: list[str] = []
if importlib.util.find_spec("bittensor") is None:
    collect_ignore += ["epochs.py", "timelock_worker.py"]


@pytest.fixture(scope="session")
def observed_addresses(senses: LocalSenses) -> Observed:
    return observe_addresses(senses)
