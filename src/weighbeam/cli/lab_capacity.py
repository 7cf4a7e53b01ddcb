"""`weighbeam lab capacity`: what a load needs, by arithmetic over what was measured."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import print_json
from weighbeam.core.errors import WeighbeamError


def capacity(
    mechanism: Annotated[str, typer.Option(help="The mechanism whose rounds are counted.")] = "chunking",
    rounds: Annotated[float, typer.Option(min=1, max=1e9, help="Rounds an hour.")] = 10_000.0,
    vectors: Annotated[int, typer.Option(min=1, max=10**12, help="Pieces in the corpus of novelty.")] = 100_000_000,
    submissions: Annotated[float, typer.Option(min=0, max=1e9, help="Contributions to it, an hour.")] = 10_000.0,
    scan_cores: Annotated[int, typer.Option(min=1, max=100_000, help="Cores that search it.")] = 32,
    validators: Annotated[int, typer.Option(min=1, max=65_536, help="Validators of the subnet.")] = 256,
    miners: Annotated[int, typer.Option(min=1, max=65_536, help="Its miners.")] = 256,
    units: Annotated[Path | None, typer.Option(help="Measured units of your machine (JSON), instead of ours.")] = None,
    as_json: AsJson = False,
) -> None:
    """What a load needs in cores, processes, disk and time, with the arithmetic shown."""
    from weighbeam.engine.read_json import read_text
    from weighbeam.lab.capacity.plan import BUSY, Load, plan
    from weighbeam.lab.capacity.units import read_units

    known = read_units(None if units is None else read_text(units, 1 << 20))
    if mechanism not in known.rounds:
        told = f"rounds of {mechanism!r} were not measured"
        raise WeighbeamError("unknown_mechanism", told, f"one of {', '.join(sorted(known.rounds))}")
    load = Load(
        mechanism=mechanism,
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
