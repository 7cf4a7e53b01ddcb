"""Many more calls than a test has time for: `make fuzz-api`."""

import logging
import sys
import tempfile
import time
from pathlib import Path

from service.holders import bear
from service.schema_calls import find_faults
from service.whole_apps import KNOWN, OPEN, fill


def main(examples: int = 300, begin: int = 7) -> int:
    """By app and caller whatever was not answered as documented; how many operations that were."""
    logging.disable(logging.CRITICAL)
    faults = 0
    for name, opened in OPEN.items():
        with tempfile.TemporaryDirectory() as folder, opened(fill(Path(folder))) as url:
            for who, headers in (("a token of all scopes", bear("all")), ("nobody", {})):
                began = time.monotonic()
                found = list(find_faults(url, headers, KNOWN, examples, begin))
                for label, fault in found:
                    print(f"{name}, {who}, {label}: {fault}\n")
                took = time.monotonic() - began
                print(f"{name}, {who}: {examples} calls of each operation in {took:.0f} s, {len(found)} with faults")
                faults += len(found)
    return faults


if __name__ == "__main__":
    sys.exit(min(main(*map(int, sys.argv[1:])), 1))
