"""Everything that a demo came to: a table per mechanism, its validators, and commands that look further."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weighbeam.cli.run.demo_summary import DETAILS, DemoFiles
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.registry import load_mechanism

COLOURS = {"honest": "green", "hostile": "red", "guest": "cyan"}
MIN_SHOWN = -1000
FILE_WIDTH = 110


def save_details(result: dict[str, Any], program: str, files: DemoFiles) -> Path:
    """Everything as text, for a reader who wants more than the summary."""
    path = files.folder / DETAILS
    buffer = io.StringIO()
    console = Console(file=buffer, width=FILE_WIDTH, no_color=True)
    show_details(console, result)
    console.print("commands on this demo:")
    for command, what in list_commands(program, files).items():
        console.print(f"  {command}\n      {what}", highlight=False, markup=False, soft_wrap=True)
    path.write_text("\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n", "utf-8")
    return path


def show_details(console: Console, result: dict[str, Any]) -> None:
    """A table per mechanism, its legend, and a line per validator."""
    for name, part in result["mechanisms"].items():
        mechanism = load_mechanism(name)
        console.print(_draw(mechanism, part, console.width >= mechanism.page.table_width))
        console.print(mechanism.page.legend, style="dim", highlight=False)
        console.print(Text(f"{name}: {_sum_up(part)}", "bold"), highlight=False)
        console.print()
    console.print(
        "score: mean of all rounds; weights: by each validator; pay: chain's incentive", style="dim", highlight=False
    )
    for name, part in result["mechanisms"].items():
        for row in part["validators"]:
            said = f"weights {row['weigh_in']}, dividends {row['dividends']:.1%}, vtrust {row['vtrust']:.2f}"
            console.print(f"{row['name']}, {name}: {said}", highlight=False)
    console.print()


def _draw(mechanism: Mechanism, part: dict[str, Any], wide: bool) -> Table:
    title = f"{mechanism.name} at block {part['block']}, best paid first"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0, title=title)
    page, standing = mechanism.page, mechanism.page.standing
    unit = page.count_units(mechanism.params_type())
    for name in ("uid", "miner", "kind", "does", "valid", "score", "why not", standing, "weights %", "pay"):
        left = name in ("miner", "kind", "does", "why not")
        if name != "does" or wide:
            table.add_column(name, no_wrap=True, justify="left" if left else "right")
    paid = [*part["miners"], *([part["burn"]] if part["burn"] else [])]
    totals = [sum(column) for column in zip(*(row["weights"] for row in paid), strict=True)]
    if part["burn"]:
        empty = ("", "") if wide else ("",)
        burnt = part["burn"]
        shown = (_share(burnt["weights"], totals), f"{burnt['incentive']:.1%}")
        table.add_row(str(burnt["uid"]), "owner", "burnt", *empty, "", "", "", *shown, style="dim")
    for row in sorted(part["miners"], key=_order):
        table.add_row(
            str(row["uid"]),
            Text(row["name"], COLOURS[row["role"]]),
            Text(row["role"], COLOURS[row["role"]]),
            *((row["about"],) if wide else ()),
            f"{row['valid']} of {row['rounds']}",
            _number(row["score"], page.decimals, unit),
            Text(row["reason"], "red"),
            _number(row["standing"], 2, unit),
            _share(row["weights"], totals),
            f"{row['incentive']:.1%}",
        )
    return table


def _share(weights: Sequence[int], totals: Sequence[int]) -> str:
    return " ".join(f"{100 * value / (total or 1):4.1f}" for value, total in zip(weights, totals, strict=True))


def _sum_up(part: dict[str, Any]) -> str:
    """The outcome in one line."""
    paid = {kind: [row["incentive"] for row in part["miners"] if row["role"] == kind] for kind in COLOURS}
    nothing = sum(not share for share in paid["hostile"])
    guests = f"; a guest {sum(paid['guest']):.1%}" if paid["guest"] else ""
    burnt = f"; {part['burn']['incentive']:.1%} is burnt" if part["burn"] else ""
    return (
        f"{len(paid['honest'])} honest miners earn {sum(paid['honest']):.1%}, "
        f"{len(paid['hostile'])} hostile {sum(paid['hostile']):.1%}; {nothing} of those nothing{guests}{burnt}"
    )


def show_narratives(console: Console, narratives: Sequence[dict[str, Any]]) -> None:
    """How many narratives the language model wrote, why it did not write the others, and the newest one."""
    if not narratives:
        return
    faults = ", ".join(sorted({one["fault"] for one in narratives if one["fault"]}))
    used = f"{sum(one['used'] for one in narratives)} of {len(narratives)}"
    told = f"narratives by the language model: {used}" + (f"; refused for {faults}" if faults else "")
    console.print(Text(told, "bold"))
    console.print(Text(narratives[0]["text"]))


def list_commands(program: str, files: DemoFiles) -> dict[str, str]:
    """Commands that look into a demo's folder, each with what it shows."""
    journal = files.folder / "validator-1.db"
    return {
        f"{program} serve --config {files.folder / 'validator-1.toml'}": "the dashboard and the API on what was kept",
        f"{program} replay --verify --store {journal}": "compute every number of all mechanisms again",
        f"{program} journal round {files.round} --store {journal}": "a round again: scores, heatmap, a narrative",
        f"{program} journal leaderboard --mechanism inference --store {journal}": "who stands where, and why",
        f"{program} journal weights --mechanism inference --store {journal}": "what was submitted",
        f"{program} novelty history --store {journal}": "every contribution, how near to what came before, and its pay",
        f"{program} demo --write my-subnet": "run the same validators and miners one by one",
    }


def _number(value: float | None, decimals: int, unit: int = 1) -> str:
    if value is None:
        return "–"
    value /= unit
    return f"{value:.{decimals}f}" if value > MIN_SHOWN else "≪ 0"


def _order(row: dict[str, Any]) -> tuple[float, bool, float, str]:
    return -row["incentive"], row["role"] == "hostile", -(row["score"] or 0.0), row["name"]
