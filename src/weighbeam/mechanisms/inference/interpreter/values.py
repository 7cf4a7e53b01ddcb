"""Functions that a program defines, and the names it knows."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weighbeam.mechanisms.inference.interpreter.limits import ProgramFault, Unsupported


@dataclass(slots=True, eq=False)
class Scope:
    """Names of a function's call, and those around it."""

    names: dict[str, Any] = field(default_factory=dict)
    around: "Scope | None" = None

    def look_up(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.around
        return None

    def knows(self, name: str) -> bool:
        return name in self.names or (self.around is not None and self.around.knows(name))


@dataclass(frozen=True, slots=True, eq=False)
class ProgramFunction:
    """A function of the program's own, with the values of its defaults."""

    arguments: ast.arguments
    body: list[ast.stmt] | ast.expr
    defaults: tuple[Any, ...]
    scope: Scope

    def bind(self, given: list[Any], named: Mapping[str, Any]) -> Scope:
        """A scope in which the arguments have their values."""
        names = [one.arg for one in self.arguments.args]
        if len(given) > len(names) or any(name not in names[len(given) :] for name in named):
            raise ProgramFault("TypeError")
        values = dict(zip(names[len(names) - len(self.defaults) :], self.defaults, strict=True))
        values |= dict(zip(names, given, strict=False)) | dict(named)
        if len(values) < len(names):
            raise ProgramFault("TypeError")
        return Scope(values, self.scope)


def check_arguments(arguments: ast.arguments) -> None:
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise Unsupported("arguments")
