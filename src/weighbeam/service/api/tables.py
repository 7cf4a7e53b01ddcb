"""Tables as files over HTTP: with the filters and the order of a page, as JSON, CSV or Parquet."""

from functools import partial
from typing import Annotated, Any, cast

from fastapi import FastAPI
from pydantic import Field, create_model

from weighbeam.service.api.query import FROM_DIGITS, OneOf, Query
from weighbeam.service.api.reader import ReadingApi, ReadingContext
from weighbeam.service.api.reading_shapes import TableShown
from weighbeam.service.tables.catalogue import TABLES
from weighbeam.service.tables.files import FORMATS, TableFile, make_file
from weighbeam.service.tables.model import FILTERS, MAX_ROWS, FoundRows, Table, TableSource, parse_choice, select_rows
from weighbeam.service.tables.times import RANGES

SECONDS = 15.0


def open_source(shown: ReadingContext) -> TableSource:
    return TableSource(shown.store, shown.mechanisms, shown.averaging, shown.now(), shown.load_names())


def describe_table(table: Table) -> type[Query]:
    """The query of a table: its filters, its order, how many rows, and as what."""
    fields: dict[str, Any] = {}
    for name in (*table.needs, *table.filters):
        options = tuple(RANGES) if name == "range" else table.options.get(name)
        kind: Any = Annotated[str | None, OneOf(options)] if options else str | None
        needed = " (always needed)" if name in table.needs else ""
        fields[name] = (Annotated[kind, Field(description=FILTERS[name] + needed)], None)
    order = Field(description="by this column; with a minus before it, the greatest first")
    fields["sort"] = (Annotated[str | None, OneOf(table.sorts), order], None)
    limit = Field(ge=1, le=MAX_ROWS, description="at most this many")
    fields["limit"] = (Annotated[int, limit, FROM_DIGITS], MAX_ROWS)
    form = Field(description="as JSON, CSV or Parquet; JSON if it is left out")
    fields["format"] = (Annotated[str | None, OneOf(tuple(FORMATS)), form], None)
    return cast(type[Query], create_model(f"{table.name.title()}TableQuery", __base__=Query, **fields))


def add_tables(app: FastAPI, reader: ReadingApi) -> None:
    for table in TABLES.values():
        refused = (404,) if table.needs else ()
        files = [kind for kind in FORMATS.values() if kind != "application/json"]
        query, path = describe_table(table), f"/tables/{table.name}"
        route = reader.declare(app, path, TableShown, "tables", query, refused, seconds=SECONDS, files=files)
        give = partial(give_table, reader, table)
        give.__name__, give.__doc__ = f"table_{table.name}", table.about  # type: ignore[attr-defined]
        route(give)


def give_table(reader: ReadingApi, table: Table, given: Query) -> TableFile:
    asked: dict[str, Any] = given.model_dump()
    form, limit = asked.pop("format") or "json", asked.pop("limit")
    choice = parse_choice(table, {name: value for name, value in asked.items() if value})
    found = select_rows(table, open_source(reader.shown), choice, limit)
    kept = FoundRows(found.rows[:limit], found.more or len(found.rows) > limit)
    return make_file(table, choice, kept, form)
