"""List every setting with its value and its origin."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from weighbeam.app.settings.sources import LoadedSettings

CREDENTIALS = re.compile(r"://[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting: `origin` is default, the file, or the environment."""

    name: str
    value: Any
    origin: str


def list_settings(loaded: LoadedSettings) -> list[SettingLine]:
    """All settings in force, in the order of the sections; secrets are not shown."""
    return [
        SettingLine(".".join(path), value, _find_origin(loaded, path)) for path, value in _walk((), loaded.settings)
    ]


def _walk(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _walk((*path, name), getattr(value, name))
    elif isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _walk((*path, str(name)), inner)
    else:
        yield path, hide_password(value) if path == ("store", "url") else _show(value)


def hide_password(url: str) -> str:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
        hidden = {name: "***" for name in parsed.query if "password" in name.lower()}
        return parsed.update_query_dict(hidden).render_as_string(hide_password=True)
    except ArgumentError:
        return url


def _show(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return "********"
    if isinstance(value, (tuple, list)):
        return [_show(one) for one in value]
    if isinstance(value, str):
        return CREDENTIALS.sub("://***@", value)
    return str(value) if isinstance(value, (Path, Decimal)) else value


def _find_origin(loaded: LoadedSettings, path: tuple[str, ...]) -> str:
    for origin, given in loaded.sources.items():
        here: Any = given
        for name in path:
            here = here.get(name) if isinstance(here, Mapping) else None
        if here is not None:
            return origin
    return "default"
