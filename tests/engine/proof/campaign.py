"""`make tamper`: every change of the catalogue, to a demo's journal, on SQLite and on PostgreSQL.

    python tests/engine/proof/campaign.py [FOLDER]

FOLDER is one that a demo has left; without it a demo is played. Each change must be found and named, and the journals
as they are must be sound. Exits with 1 otherwise.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from command import weighbeam
from demo_run import copy_database
from engine.proof.tampering import is_named, judge, list_tamperings
from postgres import open_server
from weighbeam.engine.journal.access import open_journal
from weighbeam.engine.journal.head import load_head
from weighbeam.engine.journal.transfer import copy_journal
from weighbeam.engine.proof.prove import Pins, prove
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.store.database import Store


def tamper(place: str, pins: Pins) -> tuple[int, list[str]]:
    """How many changes were made, and what is wrong."""
    store = open_journal(place)
    try:
        faults = [f"false alarm: {one.ref}: {one.fault}" for one in prove(store, load_mechanism, pins).faults]
        with store.read() as connection:
            cases = list_tamperings(connection)
        for case in cases:
            found = judge(store, case, pins)
            if not found.faults:
                faults.append(f"unseen: {case.name}")
            elif not is_named(case, found):
                faults.append(f"not named: {case.name}: {found.faults[0].ref}: {found.faults[0].fault}")
        return len(cases), faults
    finally:
        store.close()


def main() -> int:
    with TemporaryDirectory() as place:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place) / "subnet"
        if len(sys.argv) < 2:
            done = weighbeam("demo", "--rounds", 3, "--folder", folder, "--json")
            assert done.returncode == 0, done.stdout + done.stderr
        head = load_head(folder / "validator-1.db.head")
        pins = Pins(head.hotkey, (head,))
        file = copy_database(folder / "validator-1.db", Path(place) / "journal.db")
        Store(f"sqlite:///{file}").close()
        bad = 0
        with open_server() as server:
            url = server.make_database("template0")
            copy_journal(str(file), url)
            for kind, where in (("SQLite", str(file)), ("PostgreSQL", url)):
                begun = time.monotonic()
                count, faults = tamper(where, pins)
                bad += len(faults)
                print("\n".join(faults), end="\n" if faults else "", flush=True)
                spent = time.monotonic() - begun
                print(f"{kind}: {count} changes, {count - len(faults)} found and named, {spent:.0f} s", flush=True)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
