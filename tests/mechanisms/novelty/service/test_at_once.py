"""Many at once: one text is paid once, one key is one contribution, over one server, two, and a validator's door."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mechanisms.novelty.desk.books import check_books
from network.loopback import ALICE, BOB, CHARLIE, free_port
from service.holders import bear, place, show
from service.novelty_api import BREAD, BRIDGE, OTTERS, Api, open_api
from weighbeam.chain.local.administer import register
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.mechanisms.novelty.desk.accounts import count_all, select_receipts
from weighbeam.network.receipts import check_receipt
from weighbeam.network.signing_dialects import Btauth, OutgoingRequest
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

CLIENTS = 64
SHOWN = bear("app")
SETTINGS = """
[wallet]
uri = "//Alice"
[store]
url = "sqlite:///novelty.db"
[service]
listen = "127.0.0.1:0"
[novelty]
per_minute = 60000
"""


@pytest.fixture
def api(tmp_path: Path, senses: LocalSenses) -> Iterator[Api]:
    with open_api(tmp_path, senses) as opened:
        yield opened


def all_at_once(call: Callable[[int], httpx2.Response], times: int = CLIENTS) -> list[httpx2.Response]:
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(call, range(times)))


def test_one_new_text_of_many_is_paid_once(api: Api) -> None:
    replies = all_at_once(lambda number: api.submit(f"user-{number}", OTTERS))
    assert {reply.status_code for reply in replies} == {201}
    assert Counter(reply.json()["status"] for reply in replies) == {"paid": 1, "duplicate": CLIENTS - 1}
    (winner,) = [reply.json() for reply in replies if reply.json()["status"] == "paid"]
    assert {reply.json()["nearest"] for reply in replies} == {None, winner["id"]}
    total = api.get("/treasury").json()
    assert (total["paid"], total["treasury"]) == (winner["units"], -winner["units"])
    assert (total["contributors"], total["contributions"], total["pieces"]) == (CLIENTS, CLIENTS, 1)
    assert api.balance(winner["contributor"]).json()["units"] == winner["units"]
    assert api.faults() == []


def test_one_key_of_many_is_one_contribution(api: Api) -> None:
    replies = all_at_once(lambda _: api.submit("ada", BRIDGE, key="k-1"))
    assert Counter(reply.status_code for reply in replies) == {201: 1, 200: CLIENTS - 1}
    assert len({reply.text for reply in replies}) == 1
    assert api.get("/treasury").json()["contributions"] == 1
    assert api.faults() == []


@contextmanager
def start(folder: Path, *command: str, pattern: str = r"served on http://(\S+:\d+)") -> Iterator[tuple[str, Any]]:
    """A command that serves; gives where, and its process."""
    log = folder / f"{command[0]}-{time.monotonic_ns()}.log"
    with log.open("w") as file:
        process = subprocess.Popen([sys.executable, "-m", "weighbeam", *command], stderr=file, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 240
        while not (found := re.search(pattern, log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield f"http://{found[1]}", process
    finally:
        process.kill()
        process.wait()


def write_settings(folder: Path, more: str = "") -> str:
    with closing(Store(f"sqlite:///{folder / 'novelty.db'}")) as store:
        place(store, "app", ("check", "submit", "read"))
    (folder / "weighbeam.toml").write_text(SETTINGS + more)
    return str(folder / "weighbeam.toml")


def test_two_servers_over_one_store_pay_once_and_stop_in_order(tmp_path: Path, cache: Path) -> None:
    config = write_settings(tmp_path, "day_limit = 300.5\n")
    with ExitStack() as stack:
        (first, one), (second, two) = (
            stack.enter_context(start(tmp_path, "serve", "--config", config)) for _ in range(2)
        )
        clients = [
            stack.enter_context(httpx2.Client(base_url=url, headers=SHOWN, timeout=60)) for url in (first, second)
        ]

        def submit(number: int, contributor: str, text: str, **more: str) -> httpx2.Response:
            body = {"contributor": contributor, "text": text, **more}
            return clients[number % 2].post("/v1/novelty/contributions", json=body)

        raced = all_at_once(lambda number: submit(number, f"user-{number}", OTTERS))
        assert Counter(reply.json()["status"] for reply in raced) == {"paid": 1, "duplicate": CLIENTS - 1}
        keyed = all_at_once(lambda number: submit(number, "ada", BRIDGE, key="k-1"))
        assert Counter(reply.status_code for reply in keyed) == {201: 1, 200: CLIENTS - 1}
        assert {client.get("/v1/novelty/treasury").json()["day_limit"] for client in clients} == {300_500_000_000}
        assert [client.get("/health").json()["status"] for client in clients] == ["ok", "ok"]

        with ThreadPoolExecutor(16) as pool:
            asked = [
                pool.submit(submit, i, "late", f"{BREAD} This is number {i} of many.", key=f"late-{i}")
                for i in range(60)
            ]
            while not any(future.done() for future in asked):
                time.sleep(0.01)
            for process, how in ((one, signal.SIGTERM), (two, signal.SIGINT)):
                process.send_signal(how)
        assert [process.wait(120) for process in (one, two)] == [0, 0]
        late = [future.result() for future in asked if future.exception() is None]
    acknowledged = [reply.json() for reply in (*raced, *keyed, *late) if reply.status_code in (200, 201)]
    assert len(acknowledged) > 2 * CLIENTS
    store = Store(f"sqlite:///{tmp_path / 'novelty.db'}")
    with store.read() as connection:
        assert list(check_books(connection)) == []
    for receipt in acknowledged:
        assert check_receipt(receipt, ALICE.address)
        assert select_receipts(store, receipt["id"])["receipt"] == receipt
    assert count_all(store)["contributions"] >= CLIENTS + 1
    store.close()


def test_a_validator_takes_contributions_of_who_is_registered(tmp_path: Path, cache: Path) -> None:
    file = ChainFile.create(tmp_path / "chain.sqlite", SubnetParameters())
    for hotkey in (ALICE, BOB):
        register(file, hotkey.address, stake=5000 * 10**9)
    file.close()
    listen = f"127.0.0.1:{free_port()}"
    config = write_settings(tmp_path, f'[validator]\nlisten = "{listen}"\n[mechanisms.novelty]\n')
    target = "/v1/novelty/contributions"

    def submit(hotkey: Any, text: str) -> httpx2.Response:
        body = json.dumps({"text": text}).encode()
        signed = (
            Btauth().sign(hotkey, OutgoingRequest("POST", target, body, str(time.time_ns()), ALICE.address)).headers
        )
        return httpx2.post(f"http://{listen}{target}", content=body, headers=signed, timeout=60)

    with start(tmp_path, "run", "validator", "--config", config, pattern="novelty: (corpus of)") as (_, process):
        deadline = time.monotonic() + 120
        while True:
            try:
                taken = submit(BOB, OTTERS)
            except httpx2.ConnectError:
                taken = None
            if taken is not None and taken.status_code == 201:
                break
            assert time.monotonic() < deadline, taken and taken.text
            time.sleep(0.3)
        assert taken.json()["contributor"] == BOB.address
        assert submit(CHARLIE, BRIDGE).json()["error"] == "not_allowed"
        treasury = f"http://{listen}/v1/novelty/treasury"
        assert httpx2.get(treasury, headers=SHOWN).json()["contributions"] == 1
        assert httpx2.get(treasury).json()["error"] == "malformed_auth"
        assert show("app") not in "".join(path.read_text() for path in tmp_path.glob("*.log"))
        metrics = httpx2.get(f"http://{listen}/metrics").text
        assert 'weighbeam_novelty_submissions_total{outcome="paid"} 1.0' in metrics
        assert "weighbeam_alerts" in metrics
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
