"""Tables that mechanisms declare in their folders: found by name, without loading a mechanism."""

import subprocess
import sys

from weighbeam.store.tables import load_mechanism_tables, metadata

CODE = """
import sys
from weighbeam.store.transfer import list_tables
print(*(table.name for table in list_tables()))
print([m for m in "numpy weighbeam.mechanism.base".split() if m in sys.modules])
"""


def test_a_fresh_process_finds_them() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    names, loaded = done.stdout.splitlines()
    assert {"entries", "contributions", "novelty_ledger"} <= set(names.split())
    assert loaded == "[]"


def test_each_is_declared_once_on_the_metadata_of_the_store() -> None:
    found = load_mechanism_tables()
    assert len({table.name for table in found}) == len(found) == 8
    assert all(metadata.tables[table.name] is table for table in found)
