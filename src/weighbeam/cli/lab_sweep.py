"""`weighbeam lab sweep`: parameters over a grid, accuracy of ranks against what attacks earn."""

from typing import Annotated, Any

import typer

from weighbeam.cli.lab_options import (
    RayAddress,
    ReportFile,
    Workers,
    check_report,
    choose_spread,
    save_report,
    show_progress,
)
from weighbeam.cli.overrides import read_value
from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import print_json
from weighbeam.core.errors import require

Mechanism = Annotated[str, typer.Option(help="Whose parameters to vary.")]
GridOption = Annotated[
    list[str], typer.Option("--grid", metavar="NAME=VALUE,VALUE...", help="Values of one parameter; may be repeated.")
]
Attacks = Annotated[list[str] | None, typer.Option("--attack", help="Only this family; may be repeated.")]


def sweep(
    mechanism: Mechanism,
    grid: GridOption,
    attacks: Attacks = None,
    seeds: Annotated[int, typer.Option(help="Seasons of each attack at each point.")] = 3,
    rounds: Annotated[int, typer.Option(help="Rounds of a season.")] = 24,
    workers: Workers = 0,
    ray: RayAddress = None,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Play the attacks under other parameters, and mark those that no others beat."""
    from weighbeam.lab.catalogue import find_attacks
    from weighbeam.lab.play import Season
    from weighbeam.lab.records import write_record
    from weighbeam.lab.sweep import run_sweep

    chosen = [one for one in find_attacks(attacks or [mechanism]) if one.mechanism == mechanism]
    values = read_grid(grid)
    check_report(report)
    with show_progress() as on_done:
        spread, season = choose_spread(workers, ray), Season(rounds=rounds)
        swept = run_sweep(mechanism, values, chosen, range(seeds), season, spread, on_done)
    if as_json:
        print_json(write_record(swept))
    else:
        from weighbeam.cli.show_lab import show_sweep

        show_sweep(swept)
    save_report(report, [swept], None, quiet=as_json)


def read_grid(settings: list[str]) -> dict[str, list[Any]]:
    """
    >>> read_grid(["top=1,2", "shape=exp,null"])
    {'top': [1, 2], 'shape': ['exp', None]}
    """
    grid: dict[str, list[Any]] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        fits = bool(name and equals and text) and name not in grid
        require(fits, "bad_grid", f"--grid {setting!r}", "write each parameter once, as name=value,value")
        grid[name] = [read_value(value) for value in text.split(",")]
    return grid
