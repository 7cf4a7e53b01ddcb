"""Query parameters: one model per query describes and parses it; any fault is `bad_query`."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from weighbeam.core.errors import require
from weighbeam.core.validation import validate_model

MAX_VALUE = 3000
DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""No store and no name can hold it; other invisible characters may occur in a chosen name."""
REMEDY = "correct the query"


class Query(BaseModel):
    """The query of a path; this one has no parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class OneOf:
    """In a field's annotation: its value is one of these, or None."""

    values: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.nullable_schema(core_schema.literal_schema(list(self.values)))


def parse_digits(given: Any) -> int:
    if not isinstance(given, str) or DIGITS.fullmatch(given) is None:
        raise ValueError("Input should be written in digits")
    return int(given)


FROM_DIGITS = BeforeValidator(parse_digits)
"""In the annotation of an integer, after its `Field`: queries are text."""
MechanismName = Annotated[str | None, Field(description="of this mechanism", examples=["keyword-recall"])]
HotkeyName = Annotated[str | None, Field(description="of this miner: its name, uid or hotkey, or how that begins")]


class PageQuery(Query):
    """A list, page by page."""

    cursor: Annotated[str | None, Field(description="`next` of the page before")] = None
    limit: Annotated[int, Field(ge=1, le=500, description="at most this many"), FROM_DIGITS] = 50


class ShortPageQuery(Query):
    """A list that is mostly read from its newest line."""

    limit: Annotated[int, Field(ge=1, le=100, description="at most this many"), FROM_DIGITS] = 20


class MechanismQuery(Query):
    mechanism: MechanismName = None


class MechanismPageQuery(PageQuery):
    mechanism: MechanismName = None


Parsed = TypeVar("Parsed", bound=Query)


def parse_query(request: Request, model: type[Parsed]) -> Parsed:
    """The query of a request, whose path is plain text too."""
    given = collect_query(request, model.model_fields)
    return validate_model(model, given, "bad_query", REMEDY, field_code="bad_query")


def collect_query(request: Request, names: Collection[str]) -> dict[str, str]:
    """Values by name: each name known and given once, each value plain text."""
    plain = not any(NOT_TEXT.search(str(value)) for value in request.path_params.values())
    require(plain, "bad_query", "the path is not plain text", "correct the path")
    given = request.query_params.multi_items()
    found = dict(given)
    known = f"only {', '.join(names)} may be given, each once" if names else "this route takes no query parameters"
    require(len(found) == len(given) and set(found) <= set(names), "bad_query", known, REMEDY)
    sound = all(len(value) <= MAX_VALUE and not NOT_TEXT.search(value) for value in found.values())
    require(sound, "bad_query", "a value is too long or not plain text", REMEDY)
    return found


def describe_query(model: type[Query]) -> dict[str, Any]:
    """FastAPI's `openapi_extra` for a query."""
    schema = model.model_json_schema()
    needed, properties = schema.get("required", []), schema.get("properties", {})
    described = [_describe(name, field, name in needed) for name, field in properties.items()]
    return {"parameters": described} if described else {}


def _describe(name: str, field: dict[str, Any], needed: bool) -> dict[str, Any]:
    """Null stays out of the schema: a parameter without a value is left out."""
    about, given = field["description"], {**field, **next(iter(field.get("anyOf", [])), {})}
    unsaid = {"title", "description", "anyOf"} | ({"default"} if given.get("default") is None else set())
    schema = {key: value for key, value in given.items() if key not in unsaid}
    return {"in": "query", "name": name, "description": about, "required": needed, "schema": schema}
