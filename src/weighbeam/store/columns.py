"""Columns that store and sort identically on every database, as SQLite does.

PostgreSQL would measure a text, order it by the customs of a country and refuse the character NUL; and its integers end
at two billion. Here a text is as long as it is, ordered by its bytes and may hold anything, and zero is zero.
"""

import re

import sqlalchemy
from sqlalchemy import BigInteger, Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

Integer = BigInteger().with_variant(sqlalchemy.Integer(), "sqlite")
NUL, MARK, ESCAPED = "\x00", "\x01", re.compile("\x01([\x01\x02])")


def escape_nul(text: str) -> str:
    """Escape NUL in a text; escaped texts sort in the same order.

    >>> escape_nul("a\\x00b"), escape_nul("\\x01"), escape_nul("plain")
    ('a\\x01\\x01b', '\\x01\\x02', 'plain')
    """
    if MARK not in text and NUL not in text:
        return text
    return text.replace(MARK, "\x01\x02").replace(NUL, "\x01\x01")


def restore_nul(text: str) -> str:
    """Undo `escape_nul`.

    >>> restore_nul(escape_nul("a\\x00\\x02\\x01b")) == "a\\x00\\x02\\x01b"
    True
    """
    if MARK not in text:
        return text
    return ESCAPED.sub(lambda found: NUL if found[1] == "\x01" else MARK, text)


class String(TypeDecorator[str]):
    """A short text; the declared length is documentation, not a limit."""

    impl = sqlalchemy.String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(sqlalchemy.TEXT(collation="C"))
        return dialect.type_descriptor(self.impl_instance)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return escape_nul(value) if value is not None and dialect.name == "postgresql" else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return restore_nul(value) if value is not None and dialect.name == "postgresql" else value


class Float(TypeDecorator[float]):
    """A number; the sign of zero is dropped, as SQLite does."""

    impl = sqlalchemy.Float
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:
        del dialect
        return None if value is None else value + 0.0


class Text(String):
    """A text of any length."""

    impl = sqlalchemy.Text
    cache_ok = True
