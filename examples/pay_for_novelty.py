"""A suggestion box that pays for what nobody has said before, with no chain.

    python examples/pay_for_novelty.py my-box < examples/suggestions.txt

A line is `name: suggestion`. The folder keeps everything, so the box can be opened again: a suggestion that is
handed in again has its first receipt again, and pays nothing more.
"""

import sys
from pathlib import Path

import weighbeam

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "suggestion-box")
folder.mkdir(parents=True, exist_ok=True)
desk = weighbeam.open_novelty(folder / "novelty.db")

for number, line in enumerate(sys.stdin, 1):
    name, _, text = line.partition(":")
    try:
        receipt = desk.submit(name.strip(), text.strip())
        tokens = desk.tokens(receipt["units"])
        print(f"suggestion {receipt['id']} of {receipt['contributor']} is {receipt['status']}: {tokens} tokens")
    except weighbeam.WeighbeamError as refusal:
        print(f"line {number} is refused: {refusal.message}; {refusal.remedy}")

for account in desk.balances():
    print(f"{account['contributor']} has {desk.tokens(account['units'])} tokens")
