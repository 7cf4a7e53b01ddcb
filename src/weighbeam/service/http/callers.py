"""A caller and its permissions."""

from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.requests.tokens import Token

TOKEN = "token:"
ANYONE_NAME = "anyone"
INCLUDED = {"check": "ask", "submit": "ask"}


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` is `token:NAME`, a hotkey's address, or `anyone` for who shows nothing.

    `priority` is the highest it may ask with; `per_minute` the pace of its own, if it has one.
    """

    name: str
    scopes: frozenset[str]
    priority: int = 0
    unranked: bool = False
    per_minute: float | None = None

    @property
    def hotkey(self) -> str | None:
        """Its address, if it signed."""
        return None if self.name.startswith(TOKEN) or self.name == ANYONE_NAME else self.name

    @property
    def is_anyone(self) -> bool:
        return self.name == ANYONE_NAME

    def may(self, scope: str) -> bool:
        """
        >>> boss, app = Caller("token:boss", frozenset({"admin"})), Caller("token:app", frozenset({"ask"}))
        >>> boss.may("operate"), app.may("submit"), app.may("operate")
        (True, True, False)
        """
        return bool({scope, INCLUDED.get(scope, scope), "admin"} & self.scopes)

    def check(self, scope: str) -> None:
        """`missing_scope` without it; who showed nothing is asked for a token."""
        if self.is_anyone and not self.may(scope):
            told = f"this needs a token with the scope {scope}"
            raise WeighbeamError("bad_token", told, "send it: Authorization: Bearer wb_…")
        told = f"this needs the scope {scope}"
        require(self.may(scope), "missing_scope", told, "ask the operator for a token that has it")


ANYONE = Caller(ANYONE_NAME, frozenset({"read"}))


def name_holder(token: Token) -> Caller:
    """Name of a token's holder."""
    return Caller(f"{TOKEN}{token.name}", token.scopes, token.priority, token.unranked, token.per_minute)
