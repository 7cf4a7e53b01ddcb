"""Options that the `weighbeam novelty` commands share: store, signing key, parameters."""

import os
import sys
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.core.errors import WeighbeamError

if TYPE_CHECKING:
    from weighbeam.app.settings.sources import LoadedSettings
    from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
    from weighbeam.mechanisms.novelty.desk.vector_corpus import CorpusScan
    from weighbeam.mechanisms.novelty.params import NoveltyParams
    from weighbeam.network.keys import Hotkey
    from weighbeam.senses.ports.protocols import Senses

DEFAULT_STORE = "novelty.db"
MAX_TEXT = 4_000_000
MAX_TOKENS = 10**18

Text = Annotated[str | None, typer.Argument(help="The text; `-` reads standard input.")]
TextFile = Annotated[Path | None, typer.Option("--file", help="Read the text from this file.")]
StoreOption = Annotated[
    str | None, typer.Option("--store", help="File or database URL; else the settings' store, else novelty.db here.")
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Settings: store, signing key, parameters, budgets; else, without --store, WEIGHBEAM_CONFIG or "
        "weighbeam.toml here.",
    ),
]
EmbedderName = Annotated[str | None, typer.Option("--embedder", help="Else the one the corpus was begun with.")]
Number = Annotated[int, typer.Argument(min=1, help="The contribution's number.")]


@dataclass(frozen=True, slots=True)
class NoveltyOptions:
    """Everything that the options resolve to."""

    place: str
    loaded: "LoadedSettings | None"

    def key(self) -> "Hotkey | None":
        """That of the settings, as `weighbeam serve` signs by it; None for the key file beside the store."""
        from weighbeam.app.identity import open_signer

        return None if self.loaded is None else open_signer(self.loaded)

    def params(self, file: Path | None, settings: list[str] | None) -> "NoveltyParams":
        """The settings' parameters, then those of the file, then those set one by one."""
        from weighbeam.cli.common.overrides import load_overrides
        from weighbeam.mechanism.params import make_params
        from weighbeam.mechanisms.novelty.mechanism import Novelty
        from weighbeam.mechanisms.novelty.params import NoveltyParams

        section = self.loaded.settings.mechanisms.get("novelty") if self.loaded else None
        given: dict[str, Any] = section.given_params if section else {}
        made = make_params(Novelty(), {**given, **load_overrides(file, settings)})
        assert isinstance(made, NoveltyParams)
        return made

    def limits(self, per_day: Decimal | None, per_contributor: Decimal | None, params: "NoveltyParams") -> "PayLimits":
        """The settings' budgets, unless the options name others."""
        from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
        from weighbeam.mechanisms.novelty.service.budgets import make_limits, to_units

        own = PayLimits() if self.loaded is None else make_limits(self.loaded, params)
        given = to_units("--per-day", per_day, params.base_units)
        each = to_units("--per-contributor", per_contributor, params.base_units)
        return PayLimits(own.per_day if given is None else given, own.per_contributor if each is None else each)

    def scan(self) -> "CorpusScan":
        from weighbeam.mechanisms.novelty.service.settings import NoveltySection

        return self.loaded.section(NoveltySection).scan if self.loaded else "auto"

    def senses(self, embedder: str | None) -> "Senses | None":
        """The embedder named, or that of the settings; None for the corpus's own."""
        from weighbeam.senses.local import LocalSenses

        name = embedder or (self.loaded.settings.validator.embedder if self.loaded else None)
        return None if name is None else LocalSenses(name)


def choose(store: str | None, config: Path | None) -> NoveltyOptions:
    """A store that is named stands for itself, unless settings are named too."""
    from weighbeam.app.settings.sources import find_file
    from weighbeam.cli.common.options import open_settings

    named = config is not None or (store is None and find_file(None, os.environ) is not None)
    loaded = open_settings(config) if named else None
    url = loaded.store_url() if loaded else DEFAULT_STORE
    return NoveltyOptions(store or url, loaded)


def parse_tokens(text: str) -> Decimal:
    """An option's amount of tokens, exactly as it is written."""
    try:
        tokens = Decimal(text)
    except InvalidOperation:
        tokens = Decimal(-1)
    if not tokens.is_finite() or tokens < 0 or tokens > MAX_TOKENS:
        raise typer.BadParameter(f"{text!r} is not an amount of tokens")
    return tokens


def load_input(text: str | None, file: Path | None) -> str:
    """The one text that was given, exactly as it was given."""
    from weighbeam.engine.support.json_files import load_text

    if (text is None) == (file is None):
        raise WeighbeamError("bad_usage", "give one text", "as an argument, with --file, or - for standard input")
    if file is not None:
        return load_text(file, MAX_TEXT)
    assert text is not None
    return _load_standard_input() if text == "-" else text


def _load_standard_input() -> str:
    data = sys.stdin.buffer.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        told = f"standard input has more than {MAX_TEXT:,} bytes"
        raise WeighbeamError("file_too_large", told, "contribute it in parts")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        told = f"standard input is not UTF-8: bad byte at {fault.start}"
        raise WeighbeamError("not_utf8", told, "send UTF-8") from None
