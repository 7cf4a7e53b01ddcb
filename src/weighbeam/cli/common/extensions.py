"""Commands that packages add to the command line: found by entry point, loaded when they are needed.

A package that does not load stops only its own command, and says why when that command is run.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NoReturn

import typer
from typer.main import solve_typer_info_help
from typer.models import TyperInfo

from weighbeam.cli.common.help import HelpGroup
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import explain_missing

COMMANDS = "weighbeam.commands"
"""Groups of commands: `NAME = "module:app"`, a `typer.Typer`."""
SCORES = "weighbeam.score"
"""Score commands by mechanism: `MECHANISM = "module:Class"`, a subclass of `ScoreCommand`."""
PASS_ALL = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def list_extensions(group: str) -> list[str]:
    return sorted({entry.name for entry in _find_entries().select(group=group)})


@cache
def _find_entries() -> Any:
    """Every entry point installed. Listing them reads a file of each package, so it is done once."""
    return entry_points()


def load_extension(group: str, name: str) -> Any:
    """The object that a package registered under this name; None if none did."""
    found = {entry.value: entry for entry in _find_entries().select(group=group, name=name)}
    if len(found) > 1:
        told = f"two packages provide the command {name!r}: {' and '.join(sorted(found))}"
        raise WeighbeamError("duplicate_command", told, "uninstall one of them")
    for value, entry in found.items():
        with explain_broken(name, f"reinstall {value.partition(':')[0].partition('.')[0]}"):
            return entry.load()
    return None


@contextmanager
def explain_broken(name: str, remedy: str) -> Iterator[None]:
    """Whatever a package raises while its command is made is one error with a remedy."""
    try:
        yield
    except Exception as fault:
        missing = explain_missing(fault)
        if missing is not None:
            raise missing from fault
        told = f"the command {name!r} does not load: {type(fault).__name__}: {fault}"
        raise WeighbeamError("broken_command", told, remedy) from fault


def load_command(name: str) -> Any:
    """The group of commands that a package added under this name; None if none did."""
    try:
        app = load_extension(COMMANDS, name)
        if app is None:
            return None
        with explain_broken(name, f"register a typer.Typer as {COMMANDS}"):
            return build_group(name, app)
    except WeighbeamError as fault:
        return make_broken_command(name, fault)


def load_group(name: str) -> typer.Typer | None:
    """The same before it is built; None also if it is broken."""
    try:
        app = load_extension(COMMANDS, name)
    except WeighbeamError:
        return None
    return app if isinstance(app, typer.Typer) else None


def build_group(name: str, part: typer.Typer) -> Any:
    """A group of commands under this name."""
    above = _make_bare_app()
    group = part.info.cls if isinstance(part.info.cls, type) else HelpGroup
    above.add_typer(part, name=name, cls=group)
    return typer.main.get_group(above).commands[name]


def describe_part(part: typer.Typer | Callable[..., None]) -> str:
    """The help of a command that need not be built for it."""
    told = solve_typer_info_help(TyperInfo(part)) if isinstance(part, typer.Typer) else inspect.getdoc(part)
    return str(told or "")


def make_command(name: str, callback: Callable[..., None], **settings: Any) -> Any:
    """A function as the command called `name`; its signature names the options."""
    app = _make_bare_app()
    app.command(name, **settings)(callback)
    return typer.main.get_command(app)


def make_broken_command(name: str, fault: WeighbeamError) -> Any:
    """A command that is listed like any other, and fails when it is run."""

    def fail() -> NoReturn:
        raise fault

    return make_command(name, fail, help=f"Not available: {fault.code}.", context_settings=PASS_ALL)


def _make_bare_app() -> typer.Typer:
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
