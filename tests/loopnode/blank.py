"""A blank value of any type of the runtime: zero, empty, none."""

from functools import cache
from typing import Any

from bittensor._transport.codec import RuntimeCodec


@cache
def _types(codec: RuntimeCodec) -> dict[int, dict[str, Any]]:
    return {row["id"]: row["type"] for row in codec.registry_types()}


def blank(codec: RuntimeCodec, type_id: int) -> Any:
    """What `codec.encode` takes for this type, with nothing in it."""
    form = _types(codec)[type_id]["def"]
    kind, body = next(iter(form.items()))
    if kind == "sequence":
        return []
    if kind == "array":
        return [blank(codec, body["type"])] * body["len"]
    if kind == "primitive":
        return {"bool": False, "str": ""}.get(body, 0)
    if kind == "compact":
        return 0
    if kind == "tuple":
        return tuple(blank(codec, part) for part in body)
    if kind == "variant":
        return None
    return _blank_fields(codec, body.get("fields", []))


def _blank_fields(codec: RuntimeCodec, fields: list[dict[str, Any]]) -> Any:
    if len(fields) == 1 and "name" not in fields[0]:
        return blank(codec, fields[0]["type"])
    return {field["name"]: blank(codec, field["type"]) for field in fields}


def blank_inside(codec: RuntimeCodec, optional: str) -> Any:
    """A blank value of what an `Option<T>` (named `scale_info::N`) holds."""
    variants = _types(codec)[int(optional.removeprefix("scale_info::"))]["def"]["variant"]["variants"]
    some = next(one for one in variants if one["name"] == "Some")
    return blank(codec, some["fields"][0]["type"])
