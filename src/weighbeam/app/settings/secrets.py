"""List every secret in the settings, for code that must never show one."""

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, SecretStr
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from weighbeam.app.settings.sources import LoadedSettings

KEYS = (
    "WEIGHBEAM_EMBEDDINGS_KEY",
    "WEIGHBEAM_NARRATOR_KEY",
    "WEIGHBEAM_ASSESSOR_KEY",
    "OPENAI_API_KEY",
    "WANDB_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "PGPASSWORD",
)
NO_KEYS = frozenset("none null empty dummy unused".split())
"""Placeholders that people enter where no key is needed: a log must be able to contain these words."""
MIN_PART = 6
HOSTED = frozenset("http json xml form mailto gotify ntfy matrix mmost rocket nctalk mqtt apprise hassio".split())
"""Services whose address names a machine; in other addresses a token has that place. Each also with an s, for TLS."""


def list_secrets(loaded: LoadedSettings, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The secrets, the parts of secret URLs, the store's password and the keys of the environment."""
    given = [secret.get_secret_value() for secret in _walk(loaded.settings)]
    parts = [part for secret in given for part in list_parts(secret)]
    keys = [value for name in KEYS if (value := environment.get(name)) and value.lower() not in NO_KEYS]
    return tuple(dict.fromkeys([*given, *parts, *_list_passwords(loaded.settings.store.url), *keys]))


def list_parts(url: str) -> list[str]:
    """Parts of a secret URL that may appear alone, such as in a library's message; host names are not secret.

    >>> list_parts("tgram://12345:abcdefgh/-100200300?silent=1")
    ['12345:abcdefgh', '-100200300']
    >>> list_parts("mailto://ops:pa%24%24word@mail.example?to=me@mail.example")
    ['pa%24%24word', 'pa$$word', 'me@mail.example']
    """
    if "://" not in url:
        return []
    try:
        split = urlsplit(url)
    except ValueError:
        return []
    access, _, host = split.netloc.rpartition("@")
    found = [*access.split(":"), *split.path.split("/"), *(value for _, value in parse_qsl(split.query))]
    if host and not names_machine(split.scheme, host):
        found.insert(0, host)
    both = [form for part in found for form in (part, unquote(part))]
    return [part for part in dict.fromkeys(both) if len(part) >= MIN_PART]


def names_machine(scheme: str, host: str) -> bool:
    """Whether what stands for the host in an address is one.

    >>> names_machine("mailtos", "mail.example:25"), names_machine("json", "token"), names_machine("pbul", "o.token")
    (True, False, False)
    """
    named = "." in host or host.partition(":")[0] == "localhost"
    return named and (scheme.lower() in HOSTED or scheme.lower().removesuffix("s") in HOSTED)


def _walk(value: Any) -> Iterator[SecretStr]:
    if isinstance(value, SecretStr):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _walk(getattr(value, name))
    elif isinstance(value, (tuple, list)):
        for inner in value:
            yield from _walk(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _walk(inner)


def _list_passwords(url: str) -> list[str]:
    try:
        read = make_url(url)
    except ArgumentError:
        return []
    return [str(one) for one in (read.password, read.query.get("password")) if one]
