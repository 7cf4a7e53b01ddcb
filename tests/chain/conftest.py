"""What every chain test starts from."""

import pytest

from chain.stand import observe_addresses
from engine.small_subnet import Observed
from weighbeam.senses.local import LocalSenses


@pytest.fixture(scope="session")
def observed_addresses(senses: LocalSenses) -> Observed:
    return observe_addresses(senses)
