"""The API reference as a page, from the OpenAPI document of this very server: nothing is fetched from elsewhere."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render

PATH = "/docs"
METHODS = ("get", "post", "put", "patch", "delete")
OTHER = "service"
MAX_DEPTH = 4
MAX_VALUES = 12
NOT_WORD = re.compile(r"[^a-z0-9]+")


def show_reference(data: PageData, document: Mapping[str, Any]) -> str:
    return render(
        "reference.html",
        data.frame(),
        PATH,
        data.now(),
        title="API reference",
        groups=list_groups(document),
        records=list_records(document),
        public=data.reader.pipeline.authenticator.reading != "closed",
    )


def list_groups(document: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Operations by tag, in the order of the document."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in document.get("paths", {}).items():
        for method in METHODS:
            if method in methods:
                tag = (methods[method].get("tags") or [OTHER])[0]
                groups.setdefault(tag, []).append(describe_operation(path, method, methods[method]))
    return list(groups.items())


def describe_operation(path: str, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    body = given.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return {
        "id": name_anchor(f"{method} {path}"),
        "method": method.upper(),
        "path": path,
        "about": given.get("description", ""),
        "parameters": [describe_parameter(one) for one in given.get("parameters", [])],
        "body": [] if body is None else list_fields(body),
        "replies": [describe_reply(status, reply) for status, reply in given.get("responses", {}).items()],
    }


def describe_parameter(given: Mapping[str, Any]) -> dict[str, Any]:
    schema = given.get("schema", {})
    default = schema.get("default")
    return {
        "name": given["name"],
        "place": given["in"],
        "kind": format_kind(schema),
        "needed": bool(given.get("required")),
        "about": given.get("description", "") + ("" if default is None else f" (default {default})"),
        "links": (),
    }


def describe_reply(status: str, given: Mapping[str, Any]) -> dict[str, Any]:
    content = given.get("content", {})
    kinds = [(media, find_name(one.get("schema", {}))) for media, one in content.items()]
    return {"status": status, "about": given.get("description", ""), "kinds": kinds}


def list_records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The shapes that replies are made of, by name."""
    schemas = document.get("components", {}).get("schemas", {})
    return [
        {"name": name, "about": one.get("description", ""), "fields": list_fields(one)}
        for name, one in sorted(schemas.items())
    ]


def list_fields(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    needed = set(schema.get("required", ()))
    return [
        {
            "name": name,
            "place": None,
            "kind": format_kind(one),
            "needed": name in needed,
            "about": one.get("description", ""),
            "links": sorted(set(find_names(one))),
        }
        for name, one in schema.get("properties", {}).items()
    ]


def format_kind(schema: Any, depth: int = 0) -> str:
    """The type of a value in few words.

    >>> format_kind({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'list of string or null'
    >>> format_kind({"enum": ["valid", "failed"]}), format_kind({"$ref": "#/components/schemas/Round"}), format_kind({})
    ('"valid", "failed"', 'Round', 'anything')
    """
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return "anything"
    if (name := find_name(schema)) is not None:
        return name
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(format_kind(one, depth + 1) for one in choices))
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        shown = [f'"{one}"' if isinstance(one, str) else str(one) for one in values[:MAX_VALUES]]
        return ", ".join([*shown, "…"] if len(values) > MAX_VALUES else shown)
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {format_kind(schema.get('items', {}), depth + 1)}"
    inner = schema.get("additionalProperties")
    if kind == "object" and isinstance(inner, Mapping):
        return f"object of {format_kind(inner, depth + 1)}"
    return kind


def find_name(schema: Mapping[str, Any]) -> str | None:
    reference = schema.get("$ref")
    return None if reference is None else str(reference).rpartition("/")[2]


def find_names(schema: Any) -> Iterator[str]:
    """The records that a value refers to."""
    if isinstance(schema, Mapping):
        if (name := find_name(schema)) is not None:
            yield name
        for inner in schema.values():
            yield from find_names(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from find_names(inner)


def name_anchor(text: str) -> str:
    """
    >>> name_anchor("get /v1/rounds/{round_id}")
    'get-v1-rounds-round-id'
    """
    return NOT_WORD.sub("-", text.lower()).strip("-")
