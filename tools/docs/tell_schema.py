"""Types and shapes of an OpenAPI document in a few words."""

from collections.abc import Mapping
from typing import Any

PLAIN = "Successful Response"
"""What FastAPI says of an answer that nobody described."""


def is_made_up(status: str, response: Mapping[str, Any], responses: Mapping[str, Any]) -> bool:
    """
    >>> is_made_up("200", {"description": "Successful Response"}, {"200": {}, "202": {}})
    True
    """
    if status == "422" and "HTTPValidationError" in str(response):
        return True
    others = any(other.startswith("2") and other != status for other in responses)
    return response["description"] == PLAIN and others


def list_fields(document: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    content = response.get("content", {})
    if "application/json" not in content:
        return "".join(f", `{kind}`" for kind in content)
    names = list(follow(document, content["application/json"].get("schema", {})).get("properties", {}))
    return f": `{{{', '.join(names)}}}`" if names else ""


def follow(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    named = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][named] if named else schema


def tell_type(schema: Mapping[str, Any]) -> str:
    """
    >>> tell_type({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})
    'integer from 1'
    """
    kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    return " or ".join(_tell_one(kind) for kind in kinds)


def _tell_one(kind: Mapping[str, Any]) -> str:
    if "enum" in kind:
        return ", ".join(f"`{value}`" for value in kind["enum"])
    if "const" in kind:
        return f"`{kind['const']}`"
    told = kind.get("type", "object" if "$ref" in kind else "anything")
    if told == "array":
        told = "list"
    least, most = kind.get("minimum"), kind.get("maximum")
    told += f" from {least:g}" if least is not None else ""
    told += f" to {most:g}" if most is not None else ""
    told += f", at most {kind['maxItems']}" if "maxItems" in kind else ""
    return told + (f"; {kind['default']} if not given" if "default" in kind and kind["default"] is not None else "")
