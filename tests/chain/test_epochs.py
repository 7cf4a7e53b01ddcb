"""A validator's process through a few epochs with faults; `make bittensor-epochs` plays more of them."""

from pathlib import Path

from engine.small_subnet import Observed
from loopnode.need import need_sdk

need_sdk()


def test_what_the_chain_took_is_what_the_ledger_says(tmp_path: Path, observed_addresses: Observed) -> None:
    from chain.epochs import compare, run_campaign

    found = compare(run_campaign(tmp_path, observed_addresses, epochs=4))
    assert found["confirmed"] >= 3
    assert found["kills"] == 1
