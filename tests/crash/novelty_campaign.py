"""Shoot a novelty server again and again while clients submit: `python novelty_campaign.py [KILLS] [SEED] [--real]`.

After each kill -9 every acknowledged contribution must be in corpus and ledger exactly once, none half, and the books
must balance; in the end every call that was ever begun is answered, and answered the same as before.
"""

import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from sqlalchemy import Connection, select

from crash.campaign import PROCESSES, start_server
from crash.novelty_clients import Client, open_line
from crash.novelty_worker import ALICE, live
from mechanisms.novelty.desk.books import check_books
from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.tables import contributions, forms, novelty_ledger, pieces, settlements
from weighbeam.network.receipts import check_receipt
from weighbeam.store.database import Store

CLIENTS = 6
LONGEST_LIFE = 0.5
START_SECONDS = 60.0


@dataclass
class Tally:
    """What a campaign saw and what it found wrong."""

    kills: int = 0
    idle: int = 0
    clients: list[Client] = field(default_factory=list)
    interrupted: int = 0
    found: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        return sum(len(client.receipts) for client in self.clients)

    def __str__(self) -> str:
        told = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        repeated = sum(client.repeated for client in self.clients)
        return (
            f"{self.kills} kills ({self.idle} before anything was answered): {self.acknowledged} submissions "
            f"acknowledged ({told}), {self.interrupted} cut off unanswered, {repeated} of those were "
            f"found whole when repeated; {len(self.faults)} faults"
        )


class Server:
    """One life of the server."""

    def __init__(self, folder: Path, real: bool) -> None:
        ours, theirs = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=live, args=(folder, theirs, real), daemon=True)
        self.process.start()
        theirs.close()
        assert ours.poll(START_SECONDS), "the server did not start"
        self.url = f"http://127.0.0.1:{ours.recv()}"

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL, self.process.exitcode


def shoot(folder: Path, clients: list[Client], life: float, real: bool) -> None:
    """A server, all clients at once, and a kill in the middle."""
    server, stop = Server(folder, real), threading.Event()
    threads = [threading.Thread(target=client.live, args=(server.url, stop)) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(life)
    server.kill()
    stop.set()
    for thread in threads:
        thread.join()


def inspect(folder: Path, tally: Tally) -> None:
    """Everything the store holds, against itself and against what was acknowledged."""
    store = Store(f"sqlite:///{folder / 'novelty.db'}")
    with store.read() as connection:
        tally.faults += check_books(connection)
        tally.faults += find_halves(connection)
        tally.faults += find_lost(connection, tally.clients)
        kept = connection.execute(select(contributions.c.status)).scalars().all()
    tally.found, tally.statuses = len(kept), Counter(kept)
    store.close()


def find_halves(connection: Connection) -> Iterator[str]:
    """Contributions without their form, pieces, entry or receipt, and any of these without a contribution."""
    rows = {row.id: row for row in connection.execute(select(contributions))}
    owned = Counter(connection.execute(select(pieces.c.contribution)).scalars())
    first = Counter(connection.execute(select(forms.c.contribution)).scalars())
    moved = Counter((row.contribution, row.kind) for row in connection.execute(select(novelty_ledger)))
    ended = {row.contribution: row for row in connection.execute(select(settlements))}
    stray = (set(owned) | set(first) | {id for id, _ in moved} | set(ended)) - set(rows)
    if stray:
        yield f"parts of contributions that are not there: {sorted(stray)}"
    for id, row in rows.items():
        new = row.status != "duplicate"
        expected = {(id, "hold" if row.status == "held" else "pay"): 1} if row.units else {}
        if id in ended and row.units:
            expected[id, {"released": "release", "rejected": "reject"}[ended[id].kind]] = 1
        entries = {key: count for key, count in moved.items() if key[0] == id}
        if entries != expected:
            yield f"contribution {id} has entries {entries}, not {expected}"
        if (owned[id], first[id]) != (row.pieces, int(new)) or (row.pieces > 0) != new:
            yield f"contribution {id} ({row.status}) has {owned[id]} pieces of {row.pieces}, {first[id]} forms"
        if row.receipt is None or row.receipt["id"] != id or row.receipt["units"] != row.units:
            yield f"contribution {id} has another receipt"


def find_lost(connection: Connection, clients: list[Client]) -> Iterator[str]:
    rows = {row.id: row for row in connection.execute(select(contributions))}
    ended = {row.contribution: row.receipt for row in connection.execute(select(settlements))}
    seen: set[int] = set()
    for client in clients:
        for key, receipt in client.receipts.items():
            row, intent = rows.get(receipt["id"]), client.intents[key]
            if row is None or row.receipt != receipt:
                yield f"{key}: acknowledged as {receipt['id']}, which is missing or another"
            if (receipt["contributor"], receipt["text_sha256"]) != (intent.contributor, digest_text(intent.text)):
                yield f"{key}: the receipt is somebody else's"
            if receipt["id"] in seen:
                yield f"{key}: contribution {receipt['id']} was acknowledged under two keys"
            seen.add(receipt["id"])
        for id, receipt in client.settled.items():
            if ended.get(id) != receipt:
                yield f"the settlement of {id} was acknowledged and is not there"


def conclude(folder: Path, tally: Tally, real: bool) -> None:
    """A last life without a kill: all that is open is answered, all that was answered is answered the same."""
    server = Server(folder, real)
    with open_line(server.url) as line:
        for client in tally.clients:
            client.finish(line)
            last = list(client.receipts)[-3:]
            for key in last:
                intent = client.intents[key]
                given = {"contributor": intent.contributor, "text": intent.text, "key": key}
                again = line.post("/contributions", json=given)
                if again.status_code != 200 or again.json() != client.receipts[key]:
                    tally.faults.append(f"{key}: answered differently the second time")
    server.kill()
    inspect(folder, tally)
    if tally.found != tally.acknowledged:
        tally.faults.append(f"{tally.acknowledged} calls were answered, {tally.found} contributions are there")
    for client in tally.clients:
        for receipt in (*client.receipts.values(), *client.settled.values()):
            _verify(receipt, tally)
        tally.faults += client.faults


def _verify(receipt: dict[str, Any], tally: Tally) -> None:
    try:
        check_receipt(receipt, ALICE.address)
    except WeighbeamError as fault:
        tally.faults.append(fault.message)


def run_campaign(folder: Path, kills: int, seed: int, real: bool = False) -> Tally:
    dice, tally = random.Random(seed), Tally()
    start_server()
    tally.clients = [Client(f"c{number}", random.Random(f"{seed}-{number}")) for number in range(CLIENTS)]
    for number in range(1, kills + 1):
        before = tally.acknowledged
        shoot(folder, tally.clients, dice.uniform(0.0, LONGEST_LIFE), real)
        tally.kills = number
        tally.idle += tally.acknowledged == before
        tally.interrupted += sum(client.open is not None for client in tally.clients)
        inspect(folder, tally)
        if tally.faults:
            return tally
    conclude(folder, tally, real)
    return tally


def main() -> int:
    given = [word for word in sys.argv[1:] if word != "--real"]
    kills = int(given[0]) if given else 100
    seed = int(given[1]) if len(given) > 1 else random.randrange(10**6)
    print(f"{kills} kills, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = run_campaign(Path(folder), kills, seed, "--real" in sys.argv)
    print(tally)
    for fault in tally.faults[:50]:
        print(fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
