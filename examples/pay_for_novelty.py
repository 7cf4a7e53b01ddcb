"""A suggestion box that pays for what nobody has said before, with no chain.

    python examples/pay_for_novelty.py my-box < examples/suggestions.txt

A line is `name: suggestion`. The folder keeps everything, so the box can be opened again: a suggestion that is
handed in again has its first receipt again, and pays nothing more.
"""

import sys
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.explain import write_tokens
from weighbeam.novelty.read import list_balances
from weighbeam.operate.novelty import open_novelty

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "suggestion-box")
folder.mkdir(parents=True, exist_ok=True)
desk = open_novelty(str(folder / "novelty.db"))

for number, line in enumerate(sys.stdin, 1):
    name, _, text = line.partition(":")
    try:
        receipt = desk.submit(name.strip(), text.strip())
        tokens = write_tokens(receipt["units"], desk.params)
        print(f"suggestion {receipt['id']} of {receipt['contributor']} is {receipt['status']}: {tokens} tokens")
    except WeighbeamError as refusal:
        print(f"line {number} is refused: {refusal.message}; {refusal.remedy}")

for account in list_balances(desk.store):
    print(f"{account['contributor']} has {write_tokens(account['units'], desk.params)} tokens")
