"""The look of `--help`: commands in panels, nothing cut, as wide as the terminal allows."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

from typer.core import TyperGroup

MAX_WIDTH = 100
"""Longer lines are hard to read, however wide the terminal is."""
SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.S)
GAP = 2


class HelpGroup(TyperGroup):
    """A group that lists its commands in panels, each with its whole first sentence."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {}
    """By panel, the commands in it, in the order in which they are listed."""
    last_panel: ClassVar[str] = "Commands"
    """Of all other commands."""

    def __init__(self, **settings: Any) -> None:
        given = settings.pop("context_settings", None) or {}
        super().__init__(**settings, context_settings={"max_content_width": MAX_WIDTH, **given})

    def list_commands(self, ctx: Any) -> list[str]:
        return self.order(super().list_commands(ctx))

    def order(self, names: Collection[str]) -> list[str]:
        """As the panels have them, then the others."""
        order = [name for listed in self.panels.values() for name in listed]
        return [*(name for name in order if name in names), *(name for name in names if name not in order)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands, then the options: a reader of a group looks for a command."""
        panels = {panel: self._list_rows(ctx, panel) for panel in (*self.panels, self.last_panel)}
        width = max((len(name) for rows in panels.values() for name, _ in rows), default=0)
        for panel, rows in panels.items():
            if rows:
                with formatter.section(panel):
                    # Names of equal width keep the texts of all panels in one column.
                    formatter.write_dl([(name.ljust(width), text) for name, text in rows], col_spacing=GAP)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """They come before the options."""

    def _list_rows(self, ctx: Any, panel: str) -> list[tuple[str, str]]:
        elsewhere = {name for other, names in self.panels.items() if other != panel for name in names}
        named = self.panels.get(panel)
        rows = []
        for name in self.list_commands(ctx):
            if name in (named or ()) if named is not None else name not in elsewhere:
                text = self.describe_command(ctx, name)
                if text is not None:
                    rows.append((name, read_first_sentence(text)))
        return rows

    def describe_command(self, ctx: Any, name: str) -> str | None:
        """Its help; None if it is not listed."""
        command = self.get_command(ctx, name)
        return None if command is None or command.hidden else command.help or ""

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        offered = super().shell_complete(ctx, incomplete)
        for item in offered:
            if item.value in self.list_commands(ctx):
                item.help = read_first_sentence(self.describe_command(ctx, item.value))
        return offered


def read_first_sentence(text: str | None) -> str:
    """
    >>> read_first_sentence("List rounds, newest first. Reads\\nthe journal only.")
    'List rounds, newest first.'
    >>> read_first_sentence(None)
    ''
    """
    flat = " ".join((text or "").split("\n\n")[0].split())
    found = SENTENCE.match(flat)
    return found[1] if found else flat


def walk_commands(group: Any, ctx: Any = None, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command below a group, the nearest first."""
    deeper = []
    for name in group.list_commands(ctx):
        yield (*above, name)
        command = group.get_command(ctx, name)
        if hasattr(command, "list_commands"):
            deeper.append((command, (*above, name)))
    for command, words in deeper:
        yield from walk_commands(command, ctx, words)


def find_commands(group: Any, name: str) -> list[str]:
    """Every place below a group where a command has this name; else the places of names like it."""
    places = [(words[-1], " ".join(words)) for words in walk_commands(group)]
    exact = [place for last, place in places if last == name]
    if exact:
        return exact
    like = get_close_matches(name, {last for last, _ in places}, n=2, cutoff=0.75)
    return [place for last, place in places if last in like]
