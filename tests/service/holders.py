"""Tokens that tests know: the same text for the same name, in whatever process and store."""

import hashlib
import time
from collections.abc import Collection
from typing import Any

from sqlalchemy import insert

from weighbeam.engine.requests.tokens import digest_secret, select_token
from weighbeam.store import tables
from weighbeam.store.database import Store


def show(name: str) -> str:
    return f"wb_{hashlib.sha256(name.encode()).hexdigest()[:8]}_{f'{name:x<43}'[:43]}"


def bear(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {show(name)}"}


def place(store: Store, name: str, scopes: Collection[str], **more: Any) -> str:
    """Keep a token, unless it is kept already; gives its id."""
    _, token_id, secret = show(name).split("_", 2)
    if select_token(store, token_id) is None:
        row = {"per_minute": None, "priority": 0, "unranked": False, "created": time.time(), **more}
        named = {"id": token_id, "digest": digest_secret(secret), "name": name, "scopes": list(scopes)}
        with store.write() as connection:
            connection.execute(insert(tables.tokens).values(**named, **row))
    return token_id
