"""A table: named columns over records, the filters it takes, and the rows that a choice leaves, in order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.views.names import NO_NAMES, NameBook
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.service.tables.times import RANGES, parse_moment
from weighbeam.store.database import Store

Cell: TypeAlias = str | int | float | tuple[str, ...] | None
Kind: TypeAlias = Literal["text", "integer", "real", "time", "list"]
MAX_ROWS = 5000
"""Rows that are read for one table: those that are sorted, counted and exported."""
MAX_FILTER = 100
REMEDY = "go by the links of the table, or leave the value out"


@dataclass(frozen=True, slots=True)
class TableSource:
    """Source of tables."""

    store: Store
    mechanisms: Mapping[str, tuple[Mechanism, Params]]
    averaging: Averaging
    now: float
    book: NameBook = NO_NAMES


@dataclass(frozen=True, slots=True)
class Column:
    """`name` is that in addresses and files; `rises`: the first click on its title sorts the least first."""

    name: str
    kind: Kind
    value: Callable[[Any], Cell]
    about: str
    rises: bool = False


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The query of a table: an order (`-name` falls), filters by name, and a page, which counts from 1."""

    sort: str
    filters: Mapping[str, str] = field(default_factory=dict)
    page: int = 1


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Records, and whether there are more than were read."""

    rows: Sequence[Any]
    more: bool = False


Select: TypeAlias = Callable[[TableSource, Mapping[str, str], int], FoundRows]
"""Records in the table's own order, so many at most. It may apply any filter itself; `matches` are applied after it."""


@dataclass(frozen=True, slots=True)
class Table:
    """`order` is the order in which `select` gives rows. A filter of `needs` cannot be left out.

    `matches` gives the words of a row that a filter is held against, and `options` the words that a filter can take.
    """

    name: str
    about: str
    columns: tuple[Column, ...]
    select: Select
    order: str
    needs: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    matches: Mapping[str, Callable[[Any], Iterable[str]]] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find_column(self, name: str) -> Column | None:
        return next((one for one in self.columns if one.name == name), None)

    @property
    def sorts(self) -> tuple[str, ...]:
        """Every order it can have."""
        return tuple(f"{sign}{one.name}" for one in self.columns for sign in ("", "-"))


FILTERS: Mapping[str, str] = {
    "mechanism": "of this mechanism",
    "round": "of this round",
    "miner": "of miners whose uid this is, or whose name or hotkey holds it",
    "hotkey": "of this miner",
    "status": "in this state",
    "reason": "with this reason",
    "range": f"of the last hours or days: {', '.join(RANGES)}",
    "since": "from this time on: 2027-01-31, 2027-01-31T09:30 (UTC) or Unix seconds",
    "until": "up to this time",
}
EXACT = ("mechanism", "round", "hotkey", "status")


def parse_choice(table: Table, given: Mapping[str, str], prefix: str = "") -> TableChoice:
    """The choice that a query makes; what is empty counts as left out. Otherwise `bad_query`.

    With a prefix, order and page are those of one table of several on a page: `sort_validators`.
    """
    sort, page = given.get(f"sort{prefix}") or table.order, given.get(f"page{prefix}") or "1"
    require(sort in table.sorts, "bad_query", f"a table cannot be sorted by {sort[:40]!r}", REMEDY)
    counted = page.isascii() and page.isdigit() and 1 <= len(page) <= 4 and int(page) > 0
    require(counted, "bad_query", "pages count from 1", REMEDY)
    filters = {name: text for name in (*table.needs, *table.filters) if (text := given.get(name, "").strip())}
    for name, text in filters.items():
        require(len(text) <= MAX_FILTER, "bad_query", f"{name} is too long", REMEDY)
        options = table.options.get(name)
        require(options is None or text in options, "bad_query", f"{name} cannot be {text[:40]!r}", REMEDY)
    for name in table.needs:
        require(name in filters, "bad_query", f"{name} is missing: a table needs it", f"add {name}=…")
    require(filters.get("range", "all") in ("all", *RANGES), "bad_query", "there is no such range", REMEDY)
    for name in ("since", "until"):
        parse_moment(filters.get(name))
    return TableChoice(sort, filters, int(page))


def find_span(filters: Mapping[str, str], now: float) -> tuple[float | None, float | None]:
    """From when to when; a range counts back from now."""
    since, until = parse_moment(filters.get("since")), parse_moment(filters.get("until"))
    seconds = RANGES.get(filters.get("range", ""))
    if seconds is not None:
        since = max(now - seconds, since or 0.0)
    return since, until


def select_rows(table: Table, source: TableSource, choice: TableChoice, limit: int = MAX_ROWS) -> FoundRows:
    """The rows of a query, in its order; in the table's own order at most `limit` are read."""
    own = choice.sort == table.order
    checks = {name: text for name, text in choice.filters.items() if name in table.matches}
    found = table.select(source, choice.filters, limit if own and not checks else MAX_ROWS)
    rows = [row for row in found.rows if all(_holds(table, name, text, row) for name, text in checks.items())]
    return FoundRows(rows if own else sort_rows(table, rows, choice.sort), found.more)


def _holds(table: Table, name: str, text: str, row: Any) -> bool:
    words = table.matches[name](row)
    if name in EXACT:
        return text in words
    wanted = text.casefold()
    if name == "miner" and wanted.isdigit():
        return text in words
    return any(wanted in word.casefold() for word in words)


def sort_rows(table: Table, rows: Iterable[Any], sort: str) -> list[Any]:
    """By one column; rows without a value come last, whichever way."""
    falls = sort.startswith("-")
    column = table.find_column(sort.removeprefix("-"))
    if column is None:
        raise WeighbeamError("bad_query", "there is no such column", REMEDY)
    valued = [(column.value(row), row) for row in rows]
    known = [(_rank(value), row) for value, row in valued if value is not None and value != ()]
    ordered = sorted(known, key=lambda one: one[0], reverse=falls)
    return [row for _, row in ordered] + [row for value, row in valued if value is None or value == ()]


def _rank(value: Cell) -> Any:
    if isinstance(value, str):
        return value.casefold()
    return tuple(value) if isinstance(value, tuple) else value
