"""Whatever command a page shows, run by a test or not, exists with the options it is shown with."""

import re
import shlex
from functools import cache
from typing import Any

import click
import pytest
import typer

from tests_root import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(r"^(?: {4}|\$ )?(?:[A-Z_]+=\$\()?(?:sudo -u \w+ )?(?:\S*/bin/)?weighbeam (.+)$", re.M)
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```|((?:^ {4}.*\n)+)", re.M | re.S)


def list_shown() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for fenced, indented in BLOCK.findall(page.read_text()):
            found += [(str(page.relative_to(ROOT)), line) for line in SHOWN.findall(fenced or indented)]
    return found


@cache
def load_command() -> Any:
    from weighbeam.cli.main import app

    return typer.main.get_command(app)


def follow(command: Any, words: list[str]) -> tuple[Any, list[str]]:
    """The command that words lead to, and those that are left."""
    while words and hasattr(command, "get_command"):
        below = command.get_command(click.Context(command), words[0])
        if below is None:
            break
        command, words = below, words[1:]
    return command, words


@pytest.mark.parametrize(("page", "line"), list_shown())
def test_a_command_that_is_shown_exists_with_its_options(page: str, line: str) -> None:
    words = shlex.split(re.sub(r"[)|;&<>].*", "", line.replace("…", "X")), comments=True)
    command, left = follow(load_command(), words)
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
    assert [word for word in left if word.startswith("--") and word.partition("=")[0] not in known] == []
    if hasattr(command, "get_command"):
        assert all(word.startswith("-") for word in left[:1]), f"{page}: {left[0]} is no command"


def test_pages_show_many_commands() -> None:
    assert len(list_shown()) > 80
