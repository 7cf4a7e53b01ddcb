"""What the demo came to, on a terminal."""

from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.shell import name_program

COLOURS = {"honest": "green", "hostile": "red"}


def show_result(result: dict[str, Any], kept: Path | None) -> None:
    console = Console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0, title=f"Miners at block {result['block']}, best first")
    for name in ("miner", "does", "standing", "why not", "weights", "pay"):
        table.add_column(name, no_wrap=True, justify="right" if name in ("standing", "weights", "pay") else "left")
    for row in sorted(result["miners"], key=_order):
        standing = "unranked" if row["standing"] is None else f"{row['standing']:.2f}"
        table.add_row(
            Text(row["name"], COLOURS[row["role"]]),
            row["about"],
            standing,
            Text(row["reason"] or "", "red"),
            " ".join(str(value) for value in row["weights"]),
            f"{row['incentive']:.1%}",
        )
    console.print(table)
    console.print(
        "weights: what each validator set, of 65535; pay: the chain's incentive", style="dim", highlight=False
    )
    for row in result["validators"]:
        console.print(f"{row['name']}: dividends {row['dividends']:.1%}, vtrust {row['vtrust']:.2f}", highlight=False)
    replayed = result["replay"]
    verdict = Text("equal to the bit", "green") if replayed["equal"] else Text("; ".join(replayed["faults"]), "red")
    console.print(Text(f"replay of {replayed['entries']} journal entries: ").append(verdict))
    _point_further(console, kept)


def _point_further(console: Console, kept: Path | None) -> None:
    program = name_program()
    console.print("to look further:", style="bold")
    lines = {}
    if kept is None:
        kept = Path("demo-subnet")
        lines[f"{program} demo --folder {kept}"] = "keep the chain and both journals, then:"
    journal = kept / "validator-1.db"
    lines |= {
        f"{program} replay --verify --store {journal}": "compute every number again",
        f"{program} leaderboard --store {journal}": "who stands where, and why",
        f"{program} weights --store {journal}": "what was submitted",
        f"{program} demo --write my-subnet": "run the same validators and miners one by one",
    }
    for command, what in lines.items():
        console.print(f"  {command}\n      {what}", highlight=False, markup=False, soft_wrap=True)


def _order(row: dict[str, Any]) -> tuple[float, bool, float, str]:
    return -row["incentive"], row["standing"] is None, row["standing"] or 0.0, row["name"]
