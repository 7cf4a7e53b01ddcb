"""API tokens of users and programs: `wb_ID_SECRET`; the store keeps only the SHA-256 of the secret."""

import base64
import hashlib
import math
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.store import tables
from weighbeam.store.database import Store

SCOPES = ("ask", "read", "admin", "check", "submit", "operate")
SHAPE = re.compile(r"wb_([0-9a-f]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
DAY = 86_400.0
COLUMNS = tables.tokens.c


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept. `priority` is the highest it may ask with, `unranked` whether its rounds may not count."""

    id: str
    digest: str
    name: str
    scopes: frozenset[str]
    per_minute: float | None
    priority: int
    unranked: bool
    created: float
    expires: float | None = None
    revoked: float | None = None

    def is_live(self, now: float) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class Grant:
    """Permissions of a new token."""

    name: str
    scopes: Collection[str]
    per_minute: float | None = None
    priority: int = 0
    unranked: bool = False
    days: float | None = None

    def check(self) -> None:
        named = NAME.fullmatch(self.name) is not None
        require(named, "bad_token_name", f"{self.name[:80]!r} is not a valid name", "1 to 64 letters, digits and . _ -")
        known = bool(self.scopes) and set(self.scopes) <= set(SCOPES)
        require(known, "bad_scope", "a token needs known scopes", f"some of {', '.join(SCOPES)}")
        for number in (self.per_minute, self.days):
            sound = number is None or (math.isfinite(number) and number > 0)
            require(sound, "bad_usage", "a rate and a duration must be above 0", "correct it, or leave it out")


def make_token(store: Store, grant: Grant, at: float) -> tuple[Token, str]:
    """A new token, and the text that shows it: here and never again. A name has one live token."""
    grant.check()
    secret = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    expires = None if grant.days is None else at + grant.days * DAY
    scopes = sorted(set(grant.scopes), key=SCOPES.index)
    with store.write() as connection:
        if any(token.name == grant.name and token.is_live(at) for token in _select_tokens(connection)):
            told = f"{grant.name} has a token already"
            raise WeighbeamError("token_exists", told, "choose another name, or revoke that one first")
        row = {
            "id": secrets.token_hex(4),
            "digest": digest_secret(secret),
            "name": grant.name,
            "scopes": scopes,
            "per_minute": grant.per_minute,
            "priority": grant.priority,
            "unranked": grant.unranked,
            "created": at,
            "expires": expires,
        }
        connection.execute(insert(tables.tokens).values(**row))
        made = _parse_token(connection.execute(select(tables.tokens).where(COLUMNS.id == row["id"])).one())
    return made, f"wb_{made.id}_{secret}"


def select_token(store: Store, token_id: str) -> Token | None:
    with store.read() as connection:
        row = connection.execute(select(tables.tokens).where(COLUMNS.id == token_id)).one_or_none()
    return None if row is None else _parse_token(row)


def list_tokens(store: Store) -> tuple[Token, ...]:
    """All tokens ever made, newest first."""
    with store.read() as connection:
        return _select_tokens(connection)


def has_live(store: Store, now: float) -> bool:
    return any(token.is_live(now) for token in list_tokens(store))


def revoke_token(store: Store, token_id: str, at: float) -> Token:
    """Revoke a token; repeating this has no effect."""
    with store.write() as connection:
        row = connection.execute(select(tables.tokens).where(COLUMNS.id == token_id)).one_or_none()
        if row is None:
            raise WeighbeamError("unknown_token", f"no token is called {token_id[:80]!r}", "see serve token list")
        if row.revoked is None:
            connection.execute(update(tables.tokens).where(COLUMNS.id == token_id).values(revoked=at))
        return _parse_token(connection.execute(select(tables.tokens).where(COLUMNS.id == token_id)).one())


def digest_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def split_token(shown: str) -> tuple[str, str] | None:
    """Split a text into id and secret, if it looks like a token.

    >>> split_token("wb_0123abcd_" + "x" * 43) == ("0123abcd", "x" * 43), split_token("wb_secret")
    (True, None)
    """
    found = SHAPE.fullmatch(shown)
    return None if found is None else (found[1], found[2])


def _select_tokens(connection: Connection) -> tuple[Token, ...]:
    rows = connection.execute(select(tables.tokens).order_by(COLUMNS.created.desc(), COLUMNS.id)).all()
    return tuple(_parse_token(row) for row in rows)


def _parse_token(row: Any) -> Token:
    return Token(**{**row._mapping, "scopes": frozenset(row.scopes)})
