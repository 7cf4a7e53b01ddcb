"""`weighbeam lists`: sign the lists of evidence, and check them before a validator does."""

from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.settings import AsJson, ConfigOption, open_settings
from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json

lists_app = make_app("Sign and check the blacklist and the approved list.")
Places = Annotated[list[Path], typer.Argument(metavar="PLACE", help="List files, or folders of them.")]


@lists_app.command()
def sign(
    places: Places,
    wallet: Annotated[Path | None, typer.Option(help="A hotkey file to sign with; else the settings' wallet.")] = None,
    password_file: Annotated[Path | None, typer.Option(help="Its password, if it is encrypted.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Sign list files in place; a signature that is there is replaced."""
    from weighbeam.operate.lists import open_signer, sign_files

    rows = sign_files(places, open_signer(open_settings(config), wallet, password_file))
    if as_json:
        print_json({"lists": rows})
        return
    for row in rows:
        what = f"{row['list']} version {row['version']}"
        typer.echo(f"{make_printable(row['file'])}: {make_printable(what)}, signed by {row['key']}")


@lists_app.command()
def check(
    places: Places,
    key: Annotated[
        str | None, typer.Option(help="Whose signature each must carry; else the settings' validator.lists_key.")
    ] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Check list files as a validator would; exit 1 if one would be refused."""
    from weighbeam.operate.lists import check_files

    rows = check_files(places, key or open_settings(config).settings.validator.lists_key)
    if as_json:
        print_json({"lists": rows, "ok": all(row["ok"] for row in rows)})
    for row in [] if as_json else rows:
        about = f"version {row['version']}, {row['entries']} entries, {row['key'] or 'not signed'}"
        mark, said = ("ok", about) if row["ok"] else ("BAD", str(row["fault"]))
        typer.echo(f"{mark:<4} {make_printable(row['file'])}: {make_printable(said)}")
    if not all(row["ok"] for row in rows):
        raise typer.Exit(EXIT_CHECK_FAILED)
