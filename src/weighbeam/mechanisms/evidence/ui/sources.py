"""`weighbeam evidence`: record web pages, sign and check list files."""

import sys
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, StoreOption, open_read, open_settings
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_app, make_printable, print_json

pages_app = make_app("Save web pages.")


@pages_app.callback()
def pages_root() -> None:
    pass


@pages_app.command()
def record(
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="Pages to save.")] = None,
    out: Annotated[Path, typer.Option(help="A .warc or .warc.gz file, or a folder; added to if it is there.")] = Path(
        "pages.warc.gz"
    ),
    of_round: Annotated[
        str | None, typer.Option("--round", metavar="ROUND", help="Also the pages this round of evidence read.")
    ] = None,
    ages: Annotated[bool, typer.Option(help="Ask registries how old the domains are, and save that too.")] = True,
    config: ConfigOption = None,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Save web pages as a validator reads them.

    They are read through the same guard and limits, and saved for `archive:PLACE`.
    """
    from weighbeam.app.senses import make_live_settings
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.mechanisms.evidence.ui.archives import list_round_urls, record_pages
    from weighbeam.senses.adapters.pages.domain_age import AgeSettings, RdapAges
    from weighbeam.senses.adapters.pages.live import LivePages

    wanted = list(urls or [])
    if of_round is not None:
        with closing(open_read(store, config)) as journal:
            wanted += list_round_urls(journal, of_round)
    if not wanted:
        raise WeighbeamError("bad_usage", "no page is named", "name URLs, or a round with --round")
    validator = open_settings(config).settings.validator
    live = make_live_settings(validator.user_agent, validator.robots)
    asked = RdapAges(AgeSettings(user_agent=live.user_agent)) if ages else None
    try:
        with _show_waiting(f"reading {len(wanted)} pages"):
            pages = record_pages(wanted, out, lambda keep: LivePages(live, keep=keep), asked)
    finally:
        if asked is not None:
            asked.close()
    rows = [
        {"url": url, "outcome": page.outcome, "final": page.url, "fault": page.fault}
        for url, page in zip(wanted, pages, strict=True)
    ]
    if as_json:
        print_json({"out": str(out), "pages": rows})
        return
    for row in rows:
        typer.echo(f"{row['outcome']:<12} {make_printable(str(row['url']), 160)}")
    typer.echo(f"saved in {out}")


def _show_waiting(text: str) -> AbstractContextManager[Any]:
    """It may take a minute, and how much of it is over nobody knows."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(text)


lists_app = make_app("Sign and check the blacklist and approved list.")
ListPlaces = Annotated[list[Path], typer.Argument(metavar="PLACE", help="List files, or folders of them.")]


@lists_app.command()
def sign(
    places: ListPlaces,
    wallet: Annotated[Path | None, typer.Option(help="A hotkey file to sign with; else the settings' wallet.")] = None,
    password_file: Annotated[Path | None, typer.Option(help="Its password, if it is encrypted.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Sign list files in place.

    An earlier signature is replaced.
    """
    from weighbeam.mechanisms.evidence.ui.archives import open_signer, sign_files

    rows = sign_files(places, open_signer(open_settings(config), wallet, password_file))
    if as_json:
        print_json({"lists": rows})
        return
    for row in rows:
        what = f"{row['list']} version {row['version']}"
        typer.echo(f"{make_printable(row['file'])}: {make_printable(what)}, signed by {row['key']}")


@lists_app.command()
def check(
    places: ListPlaces,
    key: Annotated[
        str | None, typer.Option(help="The key that must have signed each; else the settings' validator.lists_key.")
    ] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Check list files as a validator would.

    Exits with 1 if one would be refused.
    """
    from weighbeam.mechanisms.evidence.ui.archives import check_files

    rows = check_files(places, key or open_settings(config).settings.validator.lists_key)
    if as_json:
        print_json({"lists": rows, "ok": all(row["ok"] for row in rows)})
    for row in [] if as_json else rows:
        about = f"version {row['version']}, {row['entries']} entries, {row['key'] or 'not signed'}"
        mark, said = ("ok", about) if row["ok"] else ("BAD", str(row["fault"]))
        typer.echo(f"{mark:<4} {make_printable(row['file'])}: {make_printable(said)}")
    if not all(row["ok"] for row in rows):
        raise typer.Exit(EXIT_CHECK_FAILED)


evidence_app = make_app("Save web pages; sign and check lists.")
evidence_app.add_typer(pages_app, name="pages")
evidence_app.add_typer(lists_app, name="lists")
