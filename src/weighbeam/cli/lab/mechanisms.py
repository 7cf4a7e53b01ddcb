"""`weighbeam mechanism`: make, list, show, check and diff mechanisms."""

import json
from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.common.options import AsJson, complete_mechanism
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json
from weighbeam.cli.journal.reports import print_table
from weighbeam.cli.lab.backtest import JournalOption

mechanism_app = make_app("Create, list, check and compare mechanisms.")
Name = Annotated[str, typer.Argument(help="As weighbeam mechanism list names it.", autocompletion=complete_mechanism)]
SIDE = "a dump (weighbeam lab backtest --outcomes), a journal, or the python of another version"


@mechanism_app.command("list")
def list_installed(as_json: AsJson = False) -> None:
    """List installed mechanisms and their packages."""
    from weighbeam.mechanism.registry import list_broken, list_mechanisms, load_usable

    rows, entries = [], list_mechanisms()
    for name, mechanism in load_usable(sorted(entries))[0].items():
        entry = entries[name]
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else (entry.module.split(".")[0], "")
        says = set(mechanism.read_by) == set(mechanism.params_type.model_fields)
        rows.append({"name": name, "package": package, "version": version, "kind": mechanism.kind, "backtest": says})
    broken = [
        {"name": name, "code": fault.code, "message": fault.message, "remedy": fault.remedy}
        for name, fault in list_broken().items()
    ]
    if as_json:
        print_json({"mechanisms": rows, "broken": broken})
        return
    shown = [[*(str(value) for value in list(row.values())[:4]), "yes" if row["backtest"] else "no"] for row in rows]
    print_table(("name", "package", "version", "kind", "backtest"), shown)
    for one in broken:
        typer.echo(make_printable(f"broken: {one['name']} [{one['code']}] {one['message']} | {one['remedy']}", 500))


@mechanism_app.command()
def new(
    name: Annotated[str, typer.Argument(help="Lower-case words joined by hyphens, such as keyword-recall.")],
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Where to make the folder NAME.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Create the package of a new mechanism."""
    from weighbeam.mechanism.scaffold import write_package

    files = [str(path) for path in write_package(name, into)]
    if as_json:
        print_json({"mechanism": name, "files": files})
        return
    for path in files:
        typer.echo(path)
    typer.echo(f"next: pip install -e {into / name} && weighbeam mechanism check {name}")


@mechanism_app.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """Show a mechanism's parameters.

    With defaults, meanings, and what they were in the released versions.
    """
    from weighbeam.mechanism.params import make_params
    from weighbeam.mechanism.registry import list_mechanisms, load_mechanism
    from weighbeam.mechanism.released import describe_version, find_changes, load_released

    mechanism, entry = load_mechanism(name), list_mechanisms()[name]
    defaults = make_params(mechanism).model_dump(mode="json")
    known = {version: every[name] for version, every in load_released().items() if name in every}
    if as_json:
        changed = {version: sorted(find_changes(was, defaults)) for version, was in known.items()}
        version = entry.dist.version if entry.dist else ""
        print_json({"name": name, "version": version, "params": defaults, "changed_since": changed})
        return
    fields = mechanism.params_type.model_fields
    print_table(
        ("parameter", "default", "meaning"),
        [[param, json.dumps(value), fields[param].description or ""] for param, value in defaults.items()],
    )
    typer.echo(f"parameters: {describe_version(name, defaults)}")


@mechanism_app.command()
def check(
    name: Name,
    as_json: AsJson = False,
) -> None:
    """Check that a mechanism keeps the contract.

    Runs the mechanism's own examples. Exits with 1 if a promise is not kept.
    """
    from weighbeam.app.senses import EMBEDDED, find_web
    from weighbeam.cli.common.progress import open_senses
    from weighbeam.mechanism.checks import run_checks
    from weighbeam.mechanism.registry import load_mechanism
    from weighbeam.senses.local import DEFAULT_EMBEDDER

    mechanism = load_mechanism(name)
    with open_senses(DEFAULT_EMBEDDER, **find_web(EMBEDDED, None, Path())) as senses:
        found = run_checks(mechanism, senses)
    kept = all(one.ok for one in found)
    if as_json:
        print_json({"mechanism": name, "ok": kept, "findings": [{"check": o.check, "fault": o.fault} for o in found]})
    for one in [] if as_json else found:
        typer.echo(f"{'✓' if one.ok else '✗'} {one.check}" + ("" if one.ok else f": {make_printable(one.fault or '')}"))
    if not kept:
        raise typer.Exit(EXIT_CHECK_FAILED)


@mechanism_app.command()
def diff(
    old: Annotated[Path, typer.Argument(help=f"Before: {SIDE}.")],
    new: Annotated[Path, typer.Argument(help="After: the same.")],
    journal: JournalOption = None,
    as_json: AsJson = False,
) -> None:
    """Compare what two versions make of a journal.

    Scores, standings and weights. Exits with 1 if anything differs by a bit.
    """
    from weighbeam.lab.backtest.diff import find_difference
    from weighbeam.lab.backtest.sources import load_outcomes

    found = find_difference(load_outcomes(old, journal), load_outcomes(new, journal))
    if as_json:
        print_json(found.as_json())
    elif found.is_equal:
        typer.echo(f"{found.entries} entries, all equal to the bit")
    else:
        for what, count in found.differ.most_common():
            largest = found.largest.get(what, 0.0)
            typer.echo(f"{what} differ {count} times" + (f", by up to {largest:.6g}" if largest else ""))
        typer.echo(f"first: {make_printable(found.first or '', 200)}; {found.entries} entries in all")
    if not found.is_equal:
        raise typer.Exit(EXIT_CHECK_FAILED)
