"""Scores as one page: a table, and of each answer how its score comes about, in pictures and as a tree.

The page runs nothing and loads nothing; all that miners wrote is escaped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbeam.charts.picture import NARROW, WIDE, ChartPicture, dress_spec
from weighbeam.charts.render import render_svg, squeeze_svg
from weighbeam.charts.text import tame_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.scoring import ScoreResult
from weighbeam.mechanism.records import Node

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_ANSWERS = 8
"""Shown one by one, best first; --only chooses others."""
MAX_ROWS = 1000
MAX_COLUMNS = 6
LONGEST = 64
NAMES = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture twice: for a screen, and for a telephone, where a smaller one could not be read."""

    picture: ChartPicture
    wide: str
    narrow: str


@dataclass(frozen=True, slots=True)
class AnswerSection:
    name: str
    drawn: Sequence[DrawnPicture]
    explained: Node


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of the page; the first cell of a row is its heading."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def save_page(
    result: ScoreResult, file: Path, name: str, only: Sequence[str] = (), tables: Sequence[PageTable] = ()
) -> str:
    """Where the page is now; `bad_page` if it cannot be written."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise WeighbeamError("bad_page", f"{file.name} names no page", "end it with .html")
    page = render_page(result, name, only, tables)
    try:
        file.write_text(page, "utf-8")
    except OSError as fault:
        raise WeighbeamError("bad_page", f"{file}: {fault.strerror}", "name a file that can be written") from None
    return str(file)


def render_page(result: ScoreResult, name: str, only: Sequence[str] = (), tables: Sequence[PageTable] = ()) -> str:
    order = order_answers(result)
    shown = [hotkey for hotkey in order if hotkey in only] if only else order[:MAX_ANSWERS]
    columns, rows = list_scores(result)
    return (
        open_templates()
        .get_template("scores.html")
        .render(
            name=name,
            mechanism=result.mechanism.name,
            about=result.mechanism.about,
            columns=columns,
            rows=[rows[hotkey] for hotkey in order[:MAX_ROWS]],
            tables=tables,
            sections=[draw_section(result, hotkey) for hotkey in shown],
            left_out=len(order) - len(shown),
            params_hash=result.report()["params_hash"],
        )
    )


def order_answers(result: ScoreResult) -> list[str]:
    """Best first: an answer that is valid before one that failed, and the unscored last."""
    rank = {"valid": 0, "failed": 1, "unscored": 2}
    scores = result.scored.scores
    return [
        s.hotkey for s in sorted(scores, key=lambda s: (rank[s.status], s.hotkey != result.best, -(s.value or 0.0)))
    ]


def list_scores(result: ScoreResult) -> tuple[list[str], dict[str, list[Any]]]:
    """The columns of the table, and a row by hotkey: the parts that the mechanism names, or the first few numbers."""
    table = {row["hotkey"]: row for row in result.table()}
    numbers = [name for row in table.values() for name, value in row.items() if type(value) in (int, float)]
    parts = result.mechanism.page.parts or {name: name for name in dict.fromkeys(numbers) if name != "value"}
    shown = dict(list(parts.items())[:MAX_COLUMNS])
    best = result.best
    rows = {
        hotkey: [
            tame_text(hotkey, LONGEST) + (" (best)" if hotkey == best else ""),
            row["status"],
            row["value"],
            *(row.get(name) for name in shown),
            row["reasons"],
        ]
        for hotkey, row in table.items()
    }
    return ["answer", "judged", "score", *shown.values(), "why"], rows


def draw_section(result: ScoreResult, hotkey: str) -> AnswerSection:
    drawn = [draw_twice(picture) for picture in result.pictures(hotkey)]
    return AnswerSection(tame_text(hotkey, LONGEST), drawn, result.explain(hotkey))


def draw_twice(picture: ChartPicture) -> DrawnPicture:
    wide, narrow = (squeeze_svg(render_svg(dress_spec(picture.spec, width))) for width in (WIDE, NARROW))
    return DrawnPicture(picture, wide, narrow)


def part_names(svg: str, prefix: str) -> str:
    """Names inside a drawing made its own, since all drawings of a page share one space of names.

    >>> part_names('<a id="g"/><b fill="url(#g)"/>', "p1-")
    '<a id="p1-g"/><b fill="url(#p1-g)"/>'
    """
    return NAMES.sub(rf"\g<1>{prefix}", svg)


@cache
def open_templates() -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from weighbeam.charts.picture import shorten_number

    def format_cell(value: Any) -> str:
        return shorten_number(value) if isinstance(value, float) or value is None else str(value)

    made = Environment(
        loader=ChoiceLoader([PackageLoader("weighbeam.cli.score"), PackageLoader("weighbeam.lab.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "svg": lambda drawn, prefix: Markup(part_names(drawn, prefix)),
        "cell": format_cell,
    }
    return made
