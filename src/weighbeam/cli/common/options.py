"""Options that commands share, their shell completion, and opening the settings, the journal and the logs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.extensions import list_extensions
from weighbeam.cli.common.shell import make_printable


def complete_mechanism(incomplete: str) -> list[str]:
    """Installed mechanisms."""
    return [name for name in list_extensions("weighbeam.mechanisms") if name.startswith(incomplete)]


def complete_setting(ctx: typer.Context, incomplete: str) -> list[str]:
    """`NAME=` for every parameter of the mechanism that the command is about; `MECHANISM.NAME=` if it names none."""
    from weighbeam.mechanism.released import load_released

    *_, newest = load_released().values()
    meant = [word for word in ctx.command_path.split() if word in newest]
    if meant:
        names = [f"{param}=" for param in newest[meant[0]]]
    else:
        names = [f"{mechanism}.{param}=" for mechanism, params in newest.items() for param in params]
    return sorted(name for name in names if name.startswith(incomplete))


if TYPE_CHECKING:
    from weighbeam.app.settings.sources import LoadedSettings
    from weighbeam.engine.views.names import NameBook
    from weighbeam.store.database import Store

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings; else WEIGHBEAM_CONFIG, else weighbeam.toml here.")
]
StoreOption = Annotated[
    str | None, typer.Option("--store", help="A journal: its file or database URL; else the settings' store.")
]
MechanismOption = Annotated[
    str | None,
    typer.Option(help="Of this mechanism; else of the first by name.", autocompletion=complete_mechanism),
]
LONGEST_NAME = 60
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each score comes about.")]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="HOTKEY", help="Explain only these answers.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Save the scores and their pictures as a page.")]
ParamsFile = Annotated[Path | None, typer.Option("--params", help="JSON or TOML file of parameters.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set one parameter.", autocompletion=complete_setting),
]
LogJson = Annotated[bool, typer.Option("--log-json", help="Log one JSON object per line; else as log.format says.")]
LogLevel = Annotated[
    str | None, typer.Option("--log-level", help="DEBUG, INFO, WARNING or ERROR; else as log.level says.")
]


def open_settings(config: Path | None) -> "LoadedSettings":
    from weighbeam.app.settings.sources import load_settings

    return load_settings(config)


def start_logs(loaded: "LoadedSettings | None", as_json: bool, level: str | None, default: str = "INFO") -> None:
    """As the settings say, unless the command line says otherwise; without settings, from `default` on."""
    from weighbeam.app.logs import start_logging
    from weighbeam.app.settings.secrets import list_secrets
    from weighbeam.app.settings.sections import LogSection
    from weighbeam.core.errors import WeighbeamError

    below = {"level": default} if loaded is None else loaded.settings.log.model_dump()
    above = {"format": "json"} if as_json else {}
    try:
        section = LogSection(**{**below, **above, **({"level": level.upper()} if level else {})})
    except ValueError:
        told = f"{level!r} is not a level of the log"
        raise WeighbeamError("bad_usage", told, "write DEBUG, INFO, WARNING or ERROR") from None
    start_logging(section, () if loaded is None else list_secrets(loaded))


def open_read(store: str | None, config: Path | None) -> "Store":
    """A journal to look at, which stays as it is: the one named, or that of the settings."""
    from weighbeam.engine.journal.access import view_journal

    return view_journal(find_journal_url(store, config))


def open_names(journal: "Store", store: str | None, config: Path | None) -> "NameBook":
    """The names of miners in a journal; with --store without aliases of settings found by chance."""
    from weighbeam.engine.views.names import load_names

    by_settings = store is None or config is not None
    return load_names(journal, open_settings(config).settings.aliases if by_settings else None)


def choose_mechanism(given: str | None, there: Sequence[str]) -> str:
    """The one named, else the first that is there; with none, the first that is installed.

    >>> choose_mechanism(None, ["first", "second"]), choose_mechanism("second", [])
    ('first', 'second')
    """
    return given or (*there, *complete_mechanism(""))[0]


def format_headline(mechanism: str, there: Sequence[str], about: str = "") -> str:
    """A mechanism's name as a headline, and on a line of its own how to see the others.

    >>> print(format_headline("first", ["first", "second", "third"], "higher is better"))
    first: higher is better
    (--mechanism second or third for another)
    """
    others = [make_printable(name, LONGEST_NAME) for name in there if name != mechanism]
    own = make_printable(mechanism, LONGEST_NAME) + (f": {about}" if about else "")
    return f"{own}\n(--mechanism {' or '.join(others)} for another)" if others else own


def find_journal_url(store: str | None, config: Path | None) -> str:
    """Where the journal is: as it was named, or as the settings say."""
    return store if store is not None else open_settings(config).store_url()
