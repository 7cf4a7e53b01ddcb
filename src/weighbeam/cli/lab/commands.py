"""`weighbeam lab`: the command group, with `list`, `capacity` and `report`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from weighbeam.cli.common.help import HelpGroup
from weighbeam.cli.common.options import AsJson
from weighbeam.cli.common.shell import make_app, print_json
from weighbeam.cli.lab.attacks import attack, sweep
from weighbeam.cli.lab.backtest import backtest
from weighbeam.cli.lab.options import Names, check_report, save_report
from weighbeam.cli.lab.seasons import simulate, year
from weighbeam.cli.lab.validity import validity
from weighbeam.core.errors import WeighbeamError


def capacity(
    mechanism: Annotated[
        str | None, typer.Option(help="The mechanism whose rounds are counted; else the first by name.")
    ] = None,
    rounds: Annotated[float, typer.Option(min=1, max=1e9, help="Rounds an hour.")] = 10_000.0,
    vectors: Annotated[int, typer.Option(min=1, max=10**12, help="Pieces in the corpus.")] = 100_000_000,
    submissions: Annotated[float, typer.Option(min=0, max=1e9, help="Contributions to it, an hour.")] = 10_000.0,
    scan_cores: Annotated[int, typer.Option(min=1, max=100_000, help="Cores that search it.")] = 32,
    validators: Annotated[int, typer.Option(min=1, max=65_536, help="Validators of the subnet.")] = 256,
    miners: Annotated[int, typer.Option(min=1, max=65_536, help="Its miners.")] = 256,
    units: Annotated[Path | None, typer.Option(help="Measured units of your machine (JSON), instead of ours.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the machines that a load needs.

    Cores, processes, disk and time, with the arithmetic shown.
    """
    from weighbeam.engine.support.json_files import load_text
    from weighbeam.lab.capacity.plan import BUSY, CapacityLoad, plan
    from weighbeam.lab.capacity.units import load_units

    known = load_units(None if units is None else load_text(units, 1 << 20))
    counted = min(known.rounds) if mechanism is None else mechanism
    if counted not in known.rounds:
        told = f"rounds of {counted!r} were not measured"
        raise WeighbeamError("unknown_mechanism", told, f"one of {', '.join(sorted(known.rounds))}")
    load = CapacityLoad(
        mechanism=counted,
        rounds_per_hour=rounds,
        vectors=vectors,
        submissions_per_hour=submissions,
        scan_cores=scan_cores,
        validators=validators,
        miners=miners,
    )
    needs = plan(load, known)
    if as_json:
        print_json({"load": asdict(load), "machine": known.machine, "needs": [asdict(need) for need in needs]})
        return
    for need in needs:
        typer.echo(f"{need.what}: {need.amount}{'' if need.borne else ' (!)'}\n    {need.because}")
    typer.echo(f"\nUnits measured on {known.machine}. (!): more than one bears without being busy over {BUSY:.0%}.")


def report(
    records: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="JSON files that --report wrote: a bench, sweeps.")
    ],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("lab.html"),
) -> None:
    """Combine saved results on one page."""
    from weighbeam.lab.report.records import load_record

    check_report(out)
    save_report(out, [load_record(file) for file in records], None, quiet=False, numbers=False)


class LabGroup(HelpGroup):
    """Attacks, simulations, recorded rounds and measurements."""

    panels: ClassVar = {
        "Attack": ("list", "attack", "sweep"),
        "Simulate": ("simulate", "year", "backtest"),
        "Measure": ("validity", "capacity", "report"),
    }


lab_app = make_app("Attack, vary and simulate mechanisms.\n\nOn the code that pays.", cls=LabGroup)


@lab_app.command("list")
def list_catalogue(
    names: Names = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per attack.")] = False,
) -> None:
    """List the attacks and what each was last worth."""
    from weighbeam.cli.lab.tables import show_catalogue
    from weighbeam.lab.attack.catalogue import find_attacks
    from weighbeam.lab.attack.expectations import FULL, load_expectations

    attacks = find_attacks(names or [])
    if not as_json:
        show_catalogue(attacks, load_expectations(FULL))
        return
    for one in attacks:
        print_json({name: getattr(one, name) for name in ("name", "family", "mechanism", "what", "against", "open")})


lab_app.command()(attack)
lab_app.command()(sweep)
lab_app.command()(backtest)
lab_app.command()(simulate)
lab_app.command()(year)
lab_app.command()(validity)
lab_app.command()(capacity)
lab_app.command()(report)
