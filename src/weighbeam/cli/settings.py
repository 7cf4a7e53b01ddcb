"""What commands that read settings share: `--config`, `--store`, and the logs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from weighbeam.settings.load import Loaded
    from weighbeam.store.database import Store

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings; else WEIGHBEAM_CONFIG, else weighbeam.toml here.")
]
StoreOption = Annotated[
    str | None, typer.Option("--store", help="A journal: its file or database URL; else the settings' store.")
]
MechanismOption = Annotated[str, typer.Option(help="Of this mechanism.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def open_settings(config: Path | None) -> "Loaded":
    from weighbeam.settings.load import load_settings

    return load_settings(config)


def open_read(store: str | None, config: Path | None) -> "Store":
    """A journal to read: the one named, or that of the settings."""
    from weighbeam.engine.read_journal import open_journal

    if store is not None:
        return open_journal(store)
    url = open_settings(config).store_url()
    return open_journal(url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else url)
