"""A commented settings file to start from, for a validator, a miner or an app.

Every comment is the setting's own description, so a file never says something else than the reference does.
"""

import json
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from weighbeam.app.settings.sections import MechanismSection, SettingsSection
from weighbeam.app.settings.sources import Settings, load_added_sections, make_settings_type
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.defaults import DEFAULT_MECHANISM
from weighbeam.mechanism.registry import load_mechanism

StarterRole = Literal["validator", "miner", "app"]
WIDTH = 96
DEFAULT_CHAIN = "chain.sqlite"
DEFAULT_FILES: Mapping[StarterRole, str] = {
    "validator": "validator.toml",
    "miner": "miner.toml",
    "app": "weighbeam.toml",
}
COMMANDS: Mapping[StarterRole, str] = {"validator": "run validator", "miner": "run miner", "app": "serve"}


@dataclass(frozen=True, slots=True)
class StarterChoice:
    """The purpose of the file. Without `netuid` the chain is a local one, on this machine."""

    role: StarterRole
    file: Path
    netuid: int | None = None
    wallet: str = "default"
    hotkey: str = "default"
    chain: str = DEFAULT_CHAIN
    listen: str | None = None
    mechanisms: tuple[str, ...] = ()

    @property
    def uri(self) -> str:
        """The key on a local chain: each file has one of its own."""
        return f"//{self.file.stem}"

    @property
    def chosen(self) -> tuple[str, ...]:
        return self.mechanisms or (DEFAULT_MECHANISM,)


@dataclass(slots=True)
class StarterTable:
    """A table of the file: settings with a value, then those to know of, commented out with an example or default."""

    name: str
    kind: type[BaseModel]
    given: dict[str, Any]
    known: dict[str, Any] = field(default_factory=dict)
    commented: bool = False


def format_starter(choice: StarterChoice) -> str:
    """The text of the file; it is read back before anybody gets it."""
    lines = [*_format_head(choice)]
    for table in _list_tables(choice):
        lines += ["", *_format_table(table)]
    text = "\n".join(lines) + "\n"
    try:
        make_settings_type(Settings)(**tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as fault:
        told = f"these values cannot be settings: {str(fault).splitlines()[0]}"
        raise WeighbeamError("bad_config", told, "use plain names and addresses") from None
    return text


def _format_head(choice: StarterChoice) -> Iterator[str]:
    command = f"weighbeam {COMMANDS[choice.role]} --config {choice.file.name}"
    yield from _format_comment(f"Settings of {'an app' if choice.role == 'app' else f'a {choice.role}'}.")
    yield from _format_comment(f"Start: {command}")
    yield from _format_comment(f"Check: weighbeam doctor --config {choice.file.name}")
    yield from _format_comment(
        "Relative paths start at the folder of this file. weighbeam config show lists every setting."
    )


def _list_tables(choice: StarterChoice) -> Iterator[StarterTable]:
    if choice.role == "app":
        yield from _list_app_tables(choice)
        return
    sections: dict[str, Any] = {name: info.annotation for name, info in Settings.model_fields.items()}
    stem = choice.file.stem
    if choice.netuid is None:
        yield StarterTable("wallet", sections["wallet"], {"uri": choice.uri})
        yield StarterTable("chain", sections["chain"], {"kind": "local", "path": choice.chain})
    else:
        wallet = {"name": choice.wallet, "hotkey_name": choice.hotkey}
        yield StarterTable("wallet", sections["wallet"], wallet, {"hotkey": "5F...", "password_file": "password.txt"})
        chain = {"kind": "bittensor", "endpoint": "finney", "netuid": choice.netuid}
        yield StarterTable("chain", sections["chain"], chain, {"fallbacks": [], "cache": "bittensor-cache"})
    if choice.role == "miner":
        yield _make_miner_table(choice, sections["miner"])
    else:
        yield StarterTable("store", sections["store"], {"url": f"sqlite:///{stem}.db"}, {"artifacts": "artifacts"})
        given: dict[str, Any] = {"listen": choice.listen or "127.0.0.1:9090"}
        given |= {} if choice.netuid is not None else {"allow_private_addresses": True}
        known = {"known_validators": "https://example.org/validators.json", "pages": "live", "replies": "required"}
        yield StarterTable("validator", sections["validator"], given, known)
        yield from _list_mechanism_tables(choice)
        yield StarterTable("alerts", sections["alerts"], {}, {"urls": ["discord://ID/TOKEN"]}, commented=True)
    yield StarterTable("log", sections["log"], {}, {"level": "INFO", "format": "json"}, commented=True)


def _make_miner_table(choice: StarterChoice, kind: type[BaseModel]) -> StarterTable:
    given = {
        "listen": choice.listen or "127.0.0.1:8091",
        "answers": kind.model_fields["answers"].get_default(call_default_factory=True),
        "nonces": f"{choice.file.stem}-nonces.sqlite",
    }
    return StarterTable("miner", kind, given, {"announce": "203.0.113.7:8091", "allow": [], "deny": []})


def _list_mechanism_tables(choice: StarterChoice) -> Iterator[StarterTable]:
    for mechid, name in enumerate(choice.chosen):
        known: dict[str, Any] = {"tasks": "generated"}
        known |= {"burn_hotkey": "5F..."} if load_mechanism(name).burns else {}
        yield StarterTable(f"mechanisms.{name}", MechanismSection, {"mechid": mechid}, known)


def _list_app_tables(choice: StarterChoice) -> Iterator[StarterTable]:
    """Store and service, then the sections that packages add, as far as they speak of a service."""
    sections: dict[str, Any] = {name: info.annotation for name, info in Settings.model_fields.items()}
    yield StarterTable("store", sections["store"], {"url": f"sqlite:///{choice.file.stem}.db"})
    listen = {"listen": choice.listen or "127.0.0.1:8080"}
    yield StarterTable("service", sections["service"], listen, {"public": False, "origins": [], "per_minute": 600.0})
    for name, kind in sorted(load_added_sections().kinds.items()):
        shown = {key: info.get_default(call_default_factory=True) for key, info in kind.model_fields.items()}
        yield StarterTable(name, kind, {}, shown, commented=True)


def _format_table(table: StarterTable) -> Iterator[str]:
    about = (table.kind.__doc__ or "").strip().split("\n\n")[0]
    if about and table.kind.__doc__ is not SettingsSection.__doc__:
        yield from _format_comment(" ".join(about.split()))
    yield f"{'# ' if table.commented else ''}[{table.name}]"
    for name, value in table.given.items():
        yield from _format_comment(_describe(table, name))
        yield f"{name} = {format_value(value)}"
    for name, value in table.known.items():
        yield from _format_comment(_describe(table, name))
        yield f"# {name} = {'...' if value is None else format_value(value)}"


def _describe(table: StarterTable, name: str) -> str:
    said = table.kind.model_fields[name].description or name
    return f"{said[0].upper()}{said[1:]}."


def _format_comment(text: str) -> Sequence[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False)


def format_value(value: Any) -> str:
    """A value as TOML writes it.

    >>> format_value("a\\"b"), format_value(True), format_value({"a": ["x", 1]})
    ('"a\\\\"b"', 'true', '{ a = ["x", 1] }')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {format_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(format_value(one) for one in value) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def save_starter(choice: StarterChoice, force: bool) -> str:
    """Write the file and give its text; an existing one stays as it is unless `force` is set."""
    text = format_starter(choice)
    try:
        with choice.file.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        told = f"{choice.file} exists already"
        raise WeighbeamError("file_exists", told, "name another file, or replace it with --force") from None
    except OSError as fault:
        raise WeighbeamError("cannot_write", f"{choice.file}: {fault.strerror}", "name another file") from None
    return text
