"""`weighbeam rounds`, `leaderboard`, `copies` and `miner-report`: what a journal says."""

import time
from dataclasses import asdict
from typing import Annotated, Any

import typer

from weighbeam.cli.settings import AsJson, ConfigOption, MechanismOption, StoreOption, open_read, open_settings
from weighbeam.cli.shell import make_printable, print_json

MOST_SCORES = 100


def rounds(
    store: StoreOption = None,
    config: ConfigOption = None,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """The newest rounds of a journal."""
    from weighbeam.engine.reading.rounds import list_rounds

    lines = list(list_rounds(open_read(store, config), most=most).items)
    rows = [[line.id, line.mechanism, line.state, line.block, f"{line.valid} of {line.answers}"] for line in lines]
    show_lines(("round", "mechanism", "state", "block", "valid"), rows, lines, "rounds", as_json)


def leaderboard(
    store: StoreOption = None,
    config: ConfigOption = None,
    mechanism: MechanismOption = "chunking",
    as_json: AsJson = False,
) -> None:
    """The standings of a journal, best first, and why miners failed last."""
    from weighbeam.engine.read_journal import list_standings
    from weighbeam.engine.weigh_in.constants import Averaging
    from weighbeam.mechanisms.registry import load_mechanism

    averaging = Averaging() if store is not None else open_settings(config).averaging()
    lines = list_standings(open_read(store, config), load_mechanism(mechanism), averaging)
    rows = [
        [line.hotkey, show_number(line.standing), f"{line.valid} of {line.rounds}", line.last_reason] for line in lines
    ]
    show_lines(("hotkey", "standing", "valid", "last failure"), rows, lines, "standings", as_json)


def copies(
    store: StoreOption = None,
    config: ConfigOption = None,
    hotkey: Annotated[str | None, typer.Option(help="Only those of this miner.")] = None,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Who gave the same answer as somebody else, newest first; no clean-up removes these records."""
    from weighbeam.engine.reading.copies import find_copies

    found = find_copies(open_read(store, config), most, hotkey)
    if as_json:
        print_json({"copies": [asdict(line) for line in found]})
        return
    for line in found:
        at = time.strftime("%m-%d %H:%M:%SZ", time.gmtime(line.at))
        typer.echo(f"{at} {line.round}: cosine ≥ {line.cosine:.3f}, overlap ≥ {line.overlap:.3f}")
        for key in line.hotkeys:
            typer.echo(f"    {make_printable(key, 60)}")
    if not found:
        typer.echo("no copies")


def miner_report(
    hotkey: Annotated[str, typer.Argument(help="The miner's hotkey.")],
    store: StoreOption = None,
    config: ConfigOption = None,
    mechanism: MechanismOption = "chunking",
    as_json: AsJson = False,
) -> None:
    """One miner's scores, newest first."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.engine.reading.scores import list_scores

    lines = list(list_scores(open_read(store, config), hotkey, mechanism, most=MOST_SCORES).items)
    if not lines:
        raise WeighbeamError("unknown_hotkey", f"{hotkey!r} has no score here", "see weighbeam leaderboard")
    rows = [[line.round, line.block, line.status, show_number(line.value), ", ".join(line.reasons)] for line in lines]
    show_lines(("round", "block", "status", "score", "failure"), rows, lines, "scores", as_json)


def show_lines(heads: tuple[str, ...], rows: list[list[Any]], lines: list[Any], name: str, as_json: bool) -> None:
    if as_json:
        print_json({name: [asdict(line) for line in lines]})
    else:
        print_table(heads, rows)


def print_table(heads: tuple[str, ...], rows: list[list[Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*heads, box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for row in rows:
        table.add_row(*(Text(make_printable(str(cell), 60)) for cell in row))
    Console().print(table)


def show_number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
