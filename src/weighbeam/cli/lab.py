"""`weighbeam lab`: attack a mechanism, vary its parameters, play a population."""

from typing import Annotated

import typer

from weighbeam.cli.lab_attack import attack
from weighbeam.cli.lab_capacity import capacity
from weighbeam.cli.lab_options import Names
from weighbeam.cli.lab_report import report
from weighbeam.cli.lab_simulate import simulate
from weighbeam.cli.lab_sweep import sweep
from weighbeam.cli.lab_year import year
from weighbeam.cli.shell import make_app, print_json

lab_app = make_app("Attack mechanisms, vary their parameters and simulate them, on the code that pays.")


@lab_app.command("list")
def list_catalogue(
    names: Names = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line per attack.")] = False,
) -> None:
    """Which attacks there are, and what each was worth when somebody last looked."""
    from weighbeam.cli.show_lab import show_catalogue
    from weighbeam.lab.catalogue import find_attacks
    from weighbeam.lab.expectations import FULL, load_expectations

    attacks = find_attacks(names or [])
    if not as_json:
        show_catalogue(attacks, load_expectations(FULL))
        return
    for one in attacks:
        print_json({name: getattr(one, name) for name in ("name", "family", "mechanism", "what", "against", "open")})


lab_app.command()(attack)
lab_app.command()(sweep)
lab_app.command()(simulate)
lab_app.command()(year)
lab_app.command()(capacity)
lab_app.command()(report)
