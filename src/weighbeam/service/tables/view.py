"""A table on a page: the rows of one page of it, and the addresses that sort, filter, turn and export it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from weighbeam.service.tables.files import list_formats
from weighbeam.service.tables.model import MAX_ROWS, Table, TableChoice, TableSource, parse_choice, select_rows
from weighbeam.service.tables.times import RANGES

ROWS = 50
EXPORTS = "/v1/tables"
WORDS = {"mechanism": "Mechanism", "miner": "Miner", "status": "State", "reason": "Reason", "range": "Time"}


@dataclass(frozen=True, slots=True)
class HeadLink:
    """The title of a column: where a click leads, and how the table is sorted by it."""

    href: str
    sorted: str


@dataclass(frozen=True, slots=True)
class FilterField:
    """One field of the form; without options it is typed."""

    name: str
    label: str
    value: str
    options: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class TableView:
    """`chosen` tells whether a filter is set, so that an empty table says why it is empty."""

    name: str
    rows: Sequence[Any]
    first: int
    counted: int
    more: bool
    chosen: bool
    path: str
    kept: Sequence[tuple[str, str]]
    heads: Mapping[str, HeadLink]
    fields: Sequence[FilterField]
    clear: str
    previous: str | None
    next: str | None
    exports: Sequence[tuple[str, str]]

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


def list_names(table: Table, *others: Table) -> tuple[str, ...]:
    """The names of a query that a page with these tables takes; the first is sorted by `sort` itself."""
    names = [*table.filters, "sort", "page"]
    for one in others:
        names += [*one.filters, f"sort_{one.name}", f"page_{one.name}"]
    return tuple(dict.fromkeys(names))


def view_table(
    table: Table,
    source: TableSource,
    path: str,
    query: Mapping[str, str],
    scope: Mapping[str, str] | None = None,
    second: bool = False,
    rows: int = ROWS,
    hidden: Sequence[str] = (),
) -> TableView:
    """The page that a query asks for. `scope` is what the path says itself; `hidden` filters are not in the form."""
    suffix = f"_{table.name}" if second else ""
    fixed = dict(scope or {})
    choice = parse_choice(table, {**query, **fixed}, suffix)
    found = select_rows(table, source, choice, min(MAX_ROWS, choice.page * rows + 1))
    start = (choice.page - 1) * rows
    shown = found.rows[start : start + rows]
    address = _Address(path, {name: value for name, value in query.items() if value})
    sort, page = f"sort{suffix}", f"page{suffix}"
    own = [name for name in table.filters if name not in fixed]
    return TableView(
        name=table.name,
        rows=shown,
        first=start + 1,
        counted=len(found.rows),
        more=found.more,
        chosen=any(choice.filters.get(name) for name in own),
        path=path,
        kept=[(name, value) for name, value in query.items() if value and name not in own and name != page]
        + [(name, query[name]) for name in ("since", "until") if name in own and query.get(name)],
        heads={one.name: _head(address, sort, page, choice, one.name, one.rises) for one in table.columns},
        fields=[_field(table, source, choice, name) for name in own if name not in hidden and name in WORDS],
        clear=address.write(dict.fromkeys((*own, page), "")),
        previous=address.write({page: str(choice.page - 1) if choice.page > 2 else ""}) if choice.page > 1 else None,
        next=address.write({page: str(choice.page + 1)}) if len(found.rows) > start + rows else None,
        exports=[(form, _export(table, choice, form)) for form in list_formats()],
    )


@dataclass(frozen=True, slots=True)
class _Address:
    path: str
    query: Mapping[str, str]

    def write(self, changed: Mapping[str, str]) -> str:
        """The same page with other values; an empty one is left out."""
        query = {name: value for name, value in {**self.query, **changed}.items() if value}
        return f"{self.path}?{urlencode(query)}" if query else self.path


def _head(address: _Address, sort: str, page: str, choice: TableChoice, name: str, rises: bool) -> HeadLink:
    """The first click sorts a column its usual way, the next one the other way."""
    first, second = (name, f"-{name}") if rises else (f"-{name}", name)
    state = {name: "ascending", f"-{name}": "descending"}.get(choice.sort, "")
    return HeadLink(address.write({sort: second if choice.sort == first else first, page: ""}), state)


def _field(table: Table, source: TableSource, choice: TableChoice, name: str) -> FilterField:
    options: Sequence[str] = table.options.get(name, ())
    if name == "mechanism":
        options = tuple(source.mechanisms)
    if name == "range":
        options = tuple(RANGES)
    shown = [("", "any"), *((one, SPANS.get(one, one)) for one in options)] if options else []
    return FilterField(name, WORDS[name], choice.filters.get(name, ""), shown)


SPANS = {"1h": "last hour", "6h": "last 6 hours", "24h": "last day", "7d": "last 7 days", "30d": "last 30 days"}


def _export(table: Table, choice: TableChoice, form: str) -> str:
    asked = {**choice.filters, "sort": choice.sort if choice.sort != table.order else "", "format": form}
    return f"{EXPORTS}/{table.name}?{urlencode({name: value for name, value in asked.items() if value})}"
