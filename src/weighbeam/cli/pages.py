"""`weighbeam pages`: save pages of the web, to read them again without it."""

import sys
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from weighbeam.cli.settings import AsJson, ConfigOption, StoreOption, open_read, open_settings
from weighbeam.cli.shell import make_app, make_printable, print_json

pages_app = make_app("Save pages of the web.")


@pages_app.callback()
def root() -> None:
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
    """Read pages as a validator would, through the same guard and caps, and save them for `archive:PLACE`."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.operate.record_pages import list_round_urls, record_pages
    from weighbeam.operate.web import write_live
    from weighbeam.senses.pages.age import AgeSettings, RdapAges
    from weighbeam.senses.pages.live import LivePages

    wanted = list(urls or [])
    if of_round is not None:
        with closing(open_read(store, config)) as journal:
            wanted += list_round_urls(journal, of_round)
    if not wanted:
        raise WeighbeamError("bad_usage", "no page is named", "name URLs, or a round with --round")
    validator = open_settings(config).settings.validator
    live = write_live(validator.user_agent, validator.robots)
    asked = RdapAges(AgeSettings(user_agent=live.user_agent)) if ages else None
    try:
        with _tell_waiting(f"reading {len(wanted)} pages"):
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


def _tell_waiting(text: str) -> AbstractContextManager[Any]:
    """It may take a minute, and how much of it is over nobody knows."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(text)
