"""Errors with a code and a remedy, exit codes and JSON output, shared by all commands."""

import io
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from weighbeam.cli.common.help import HelpGroup
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import explain_missing

UsageError: Any = typer.BadParameter.__bases__[0]
WANTED_EXTRAS = {"serve": "service", "lab": "lab"}
"""The extra of a group of commands, where it is not the first that brings a package."""
EXIT_CHECK_FAILED = 1
EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


class Shell(HelpGroup):
    """The root command: a user's mistake ends in one clear message and exit code 2, never in a traceback."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in given
        _tolerate_narrow_terminals()
        _end_cleanly()
        try:
            sys.exit(super().main(given, *rest, **{**extra, "standalone_mode": False}) or 0)
        except UsageError as mistake:
            if as_json:
                print_error(WeighbeamError("bad_usage", mistake.format_message(), "see --help"), as_json)
            else:
                mistake.show()
            sys.exit(EXIT_USER_ERROR)
        except WeighbeamError as fault:
            print_error(fault, as_json)
            sys.exit(EXIT_USER_ERROR)
        except ModuleNotFoundError as fault:
            missing = explain_missing(fault, WANTED_EXTRAS.get(given[0] if given else "", ""))
            if missing is None:
                raise
            print_error(missing, as_json)
            sys.exit(EXIT_USER_ERROR)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_CHECK_FAILED)
        except (KeyboardInterrupt, typer.Abort):
            sys.exit(EXIT_INTERRUPTED)


def _end_cleanly() -> None:
    """End on SIGTERM as at any other end: temporary files are removed."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_TERMINATED))


def _tolerate_narrow_terminals() -> None:
    """A character that the terminal's encoding lacks is replaced, not fatal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_error(fault: WeighbeamError, as_json: bool) -> None:
    """On stdout as JSON for machines, else on stderr for people."""
    if as_json:
        print_json({"error": fault.code, "message": fault.message, "remedy": fault.remedy})
        return
    typer.echo(f"error: {make_printable(fault.message)} [{fault.code}]", err=True)
    if fault.remedy:
        typer.echo(f"remedy: {make_printable(fault.remedy)}", err=True)


def print_json(value: Any) -> None:
    """One JSON value on one line, in ASCII, so that no terminal and no pipe can spoil it."""
    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")


def name_program() -> str:
    """How this program was called, so that a suggested command can be pasted; its name alone where that finds it."""
    called = sys.argv[0]
    if Path(called).name != "weighbeam":
        return "python -m weighbeam"
    return "weighbeam" if shutil.which("weighbeam") == called else called


def make_printable(text: str, limit: int | None = None) -> str:
    """A text from anywhere, safe for a terminal: control characters shown, white space squeezed, length capped.

    >>> make_printable("a\\x1b[31mred\\n b", 12)
    'a␛[31mred b'
    """
    squeezed = " ".join(text.split())
    if limit is not None and len(squeezed) > limit:
        squeezed = squeezed[: limit - 1] + "…"
    return "".join(_show(character) for character in squeezed)


def _show(character: str) -> str:
    if character.isprintable():
        return character
    return chr(0x2400 + ord(character)) if ord(character) < 0x20 else "�"


def make_app(help: str, **settings: Any) -> typer.Typer:
    """A command group with this project's settings."""
    given = {"no_args_is_help": True, "cls": HelpGroup, **settings}
    return typer.Typer(help=help, pretty_exceptions_enable=False, rich_markup_mode=None, **given)
