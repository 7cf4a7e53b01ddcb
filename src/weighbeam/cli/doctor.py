"""`weighbeam doctor`: what is installed and sound, and the remedy for what is not."""

from typing import Annotated

import typer

from weighbeam.cli.settings import ConfigOption
from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_printable, print_json

MARKS = {"ok": ("✓", "green"), "missing": ("–", "yellow"), "fault": ("✗", "red")}


def doctor(
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check this installation; exit 1 if something needed is broken. Optional parts may be missing."""
    from weighbeam.engine.diagnose import diagnose
    from weighbeam.operate.diagnose import diagnose_settings

    symptoms = [*diagnose(), *diagnose_settings(config)]
    healthy = all(symptom.state != "fault" for symptom in symptoms)
    if as_json:
        rows = [{"name": s.name, "state": s.state, "detail": s.detail, "remedy": s.remedy or None} for s in symptoms]
        print_json({"healthy": healthy, "checks": rows})
    else:
        from rich.console import Console
        from rich.text import Text

        console = Console()
        for symptom in symptoms:
            mark, colour = MARKS[symptom.state]
            line = Text(f"{mark} ", colour)
            line.append(f"{symptom.name}: ", "bold").append(make_printable(symptom.detail, 800))
            console.print(line)
            if symptom.remedy:
                console.print(Text(f"    remedy: {symptom.remedy}", "cyan"))
        console.print("everything needed is there" if healthy else "something needed is broken", highlight=False)
    if not healthy:
        raise typer.Exit(EXIT_CHECK_FAILED)
