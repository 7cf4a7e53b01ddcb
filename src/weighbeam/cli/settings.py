"""What commands that read settings share: `--config`, `--store`, and the logs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.complete import complete_mechanism
from weighbeam.cli.shell import make_printable

if TYPE_CHECKING:
    from weighbeam.settings.load import Loaded
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

LogJson = Annotated[bool, typer.Option("--log-json", help="Log one JSON object per line; else as log.format says.")]
LogLevel = Annotated[
    str | None, typer.Option("--log-level", help="DEBUG, INFO, WARNING or ERROR; else as log.level says.")
]


def open_settings(config: Path | None) -> "Loaded":
    from weighbeam.settings.load import load_settings

    return load_settings(config)


def start_logs(loaded: "Loaded | None", as_json: bool, level: str | None, default: str = "INFO") -> None:
    """As the settings say, unless the command line says otherwise; without settings, from `default` on."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.operate.logs import start_logging
    from weighbeam.settings.model import LogSection
    from weighbeam.settings.secrets import list_secrets

    below = {"level": default} if loaded is None else loaded.settings.log.model_dump()
    above = {"format": "json"} if as_json else {}
    try:
        section = LogSection(**{**below, **above, **({"level": level.upper()} if level else {})})
    except ValueError:
        told = f"{level!r} is no level of the log"
        raise WeighbeamError("bad_usage", told, "write DEBUG, INFO, WARNING or ERROR") from None
    start_logging(section, () if loaded is None else list_secrets(loaded))


def open_read(store: str | None, config: Path | None) -> "Store":
    """A journal to look at, which stays as it is: the one named, or that of the settings."""
    from weighbeam.engine.read_journal import view_journal

    return view_journal(find_journal(store, config))


def choose_mechanism(given: str | None, there: Sequence[str]) -> str:
    """The one named, else the first that is there; with none, `chunking`.

    >>> choose_mechanism(None, ["evidence", "novelty"]), choose_mechanism("novelty", []), choose_mechanism(None, [])
    ('evidence', 'novelty', 'chunking')
    """
    return given or (there[0] if there else "chunking")


def tell_others(mechanism: str, there: Sequence[str]) -> str:
    """A mechanism's name as a headline, and how to see the others.

    >>> tell_others("chunking", ["chunking", "evidence", "novelty"])
    'chunking (--mechanism evidence or novelty for another)'
    """
    others = [make_printable(name, LONGEST_NAME) for name in there if name != mechanism]
    own = make_printable(mechanism, LONGEST_NAME)
    return f"{own} (--mechanism {' or '.join(others)} for another)" if others else own


def find_journal(store: str | None, config: Path | None) -> str:
    """Where the journal is: as it was named, or as the settings say."""
    return store if store is not None else open_settings(config).store_url()
