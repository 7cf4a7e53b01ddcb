"""Epochs of weights through the SDK with a fault in each: what the chain took is what the ledger says, to the unit.

python tests/chain/epochs.py 20
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chain.stand import make_file, observe_addresses
from engine.small_subnet import ALICE, Observed, list_faults, make_weigh_in_context, open_store, play
from loopnode.faults import CUSTOM_6, PRIORITY, Faults
from loopnode.node import LoopNode
from loopnode.server import LoopServer, serve_node
from tests_root import ROOT
from weighbeam.chain.local.administer import announce
from weighbeam.engine.rules.intents import WeightsIntent
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.senses.local import LocalSenses

TEMPO, BLOCK_SECONDS, PATIENCE_SECONDS = 20, 0.1, 60.0
REACHED = ("confirmed", "included")


@dataclass
class Campaign:
    """A node that makes blocks by itself, and the validator's process."""

    folder: Path
    node: LoopNode
    server: LoopServer
    hotkeys: list[str]
    process: "subprocess.Popen[bytes] | None" = None
    kills: int = 0

    def start(self) -> None:
        places = [str(ROOT / "src"), str(ROOT / "tests")]
        command = [sys.executable, str(ROOT / "tests/chain/epochs_worker.py"), str(self.folder), self.server.url]
        with (self.folder / "worker.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": ":".join(places)}
            )

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(20)
            self.process = None

    def restart(self) -> None:
        self.end()
        self.kills += 1
        self.start()

    def epoch(self) -> int:
        return int(self.node.file.read("epoch_index"))

    def rows(self) -> list[WeightsIntent]:
        return Ledger(open_store(self.folder), "chunking").rows()

    def wait(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not reached():
            log = (self.folder / "worker.log").read_text()[-3000:]
            assert self.process is not None, log
            assert self.process.poll() is None, log
            assert time.monotonic() < deadline, log
            time.sleep(0.05)


def list_troubles(campaign: Campaign) -> list[tuple[str, Callable[[], None]]]:
    """What goes wrong, an epoch each; switches are turned off again when it is over."""

    def turn(**switches: object) -> Callable[[], None]:
        return lambda: setattr(campaign.node, "faults", Faults(**switches))

    return [
        ("nothing", turn()),
        ("reply lost after inclusion", turn(drop_submission="included")),
        ("killed", campaign.restart),
        ("connections cut", campaign.server.drop_all),
        ("reads dropped", turn(drop_calls={"state_call": 2, "state_getStorageAt": 3})),
        ("submission lost", turn(drop_submission="lost")),
        ("rate limited by the pool", turn(pool_error=CUSTOM_6)),
        ("priority too low", turn(pool_error=PRIORITY)),
        ("invalid in the pool", turn(watch_status="invalid")),
        ("refused in the block", turn(dispatch_error="NeuronNoValidatorPermit")),
        ("silent", turn(silent=True)),
        ("a new runtime", turn(spec_version=462)),
        ("refused at the door", turn(handshake_status=429)),
    ]


@contextmanager
def open_campaign(folder: Path, observed: Observed) -> Iterator[Campaign]:
    hotkeys = [one.hotkey for one in observed[0].answers]
    file = make_file(folder, hotkeys, tempo=TEMPO, rate_limit=TEMPO // 2)
    play(make_weigh_in_context(open_store(folder), file).journal, observed, "r0")
    node = LoopNode(file, instant=False, lag=2)
    with serve_node(node, BLOCK_SECONDS) as server:
        campaign = Campaign(folder, node, server, hotkeys)
        campaign.start()
        try:
            yield campaign
        finally:
            campaign.end()


def run_campaign(folder: Path, observed: Observed, epochs: int) -> Campaign:
    """Play the epochs, then let everything settle."""
    with open_campaign(folder, observed) as campaign:
        campaign.wait(lambda: any(row.state == "confirmed" for row in campaign.rows()))
        troubles = list_troubles(campaign)
        for turn in range(epochs):
            _, begin = troubles[turn % len(troubles)]
            away = campaign.hotkeys[turn % 2]
            for hotkey in campaign.hotkeys[:2]:
                announce(campaign.node.file, hotkey, None if hotkey == away else "127.0.0.1:8000")
            begin()
            until = campaign.epoch() + 1
            campaign.wait(lambda until=until: campaign.epoch() >= until)
            campaign.node.faults = Faults(spec_version=campaign.node.faults.spec_version)
        known = len(campaign.rows())
        campaign.wait(lambda: any(row.state == "confirmed" for row in campaign.rows()[known:]))
        campaign.end()
        campaign.node.step(3)
        return campaign


def compare(campaign: Campaign) -> dict[str, int]:
    """The rows the chain took, one by one, are the ledger's; raises where they are not."""
    rows, ledger = campaign.rows(), iter(campaign.rows())
    taken = [one for one in campaign.node.included if one.hash in campaign.node.succeeded]
    for one in taken:
        row = tuple(zip(one.args["dests"], one.args["weights"], strict=True))
        match = next((found for found in ledger if found.weights == row and _may_be_on_chain(found)), None)
        assert match is not None, f"the chain took {row}, of which the ledger knows nothing"
    sure = [row for row in rows if row.state == "confirmed"]
    assert len(sure) <= len(taken) <= len([row for row in rows if _may_be_on_chain(row)])
    stored = campaign.node.file.db.execute("SELECT dest, value FROM weights WHERE uid = 0 ORDER BY dest").fetchall()
    assert tuple(stored) == tuple(zip(taken[-1].args["dests"], taken[-1].args["weights"], strict=True))
    assert list_faults(open_store(campaign.folder)) == []
    ends = Counter(f"{row.state} {row.reason or ''}".strip() for row in rows)
    return {"taken": len(taken), "kills": campaign.kills, **ends}


def _may_be_on_chain(row: WeightsIntent) -> bool:
    return row.state in (*REACHED, "sent", "unknown") or row.reason == "superseded"


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as name:
        began = time.monotonic()
        played = run_campaign(Path(name), observe_addresses(LocalSenses(cache=Path(name))), wanted)
        print(f"{wanted} epochs in {time.monotonic() - began:.0f} s, hotkey {ALICE.address}:", compare(played))
