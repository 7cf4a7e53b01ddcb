"""Expressions of a program: every node is looked at and paid for; there are only plain values and own functions."""

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from weighbeam.mechanisms.inference.interpreter.functions import (
    FUNCTIONS,
    call_function,
    call_method,
    call_plain,
    list_items,
)
from weighbeam.mechanisms.inference.interpreter.limits import MAX_KEYS, LimitReached, Meter, ProgramFault, Unsupported
from weighbeam.mechanisms.inference.interpreter.operate import apply_binary, apply_compare, apply_unary
from weighbeam.mechanisms.inference.interpreter.values import ProgramFunction, Scope, check_arguments

Builtin = Callable[..., Any]


def name_kind(node: ast.AST) -> str:
    """The kind of a node, as methods are named after it.

    >>> name_kind(ast.IfExp())
    'if_exp'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(node).__name__).lower()


class ProgramReturn(Exception):
    """A function is left with a value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Expressions(ABC):
    """Evaluates expressions. `own` are functions offered in addition to Python's."""

    def __init__(self, meter: Meter, own: Mapping[str, Builtin] | None = None) -> None:
        self.meter = meter
        self.own = own or {}
        self.globals = Scope({"__name__": "answer"})

    def evaluate(self, tree: ast.expr) -> Any:
        """One expression, with the names that were set so far."""
        return self._evaluate(tree, self.globals)

    @abstractmethod
    def _run_all(self, lines: list[ast.stmt], scope: Scope) -> None:
        """The statements of a function's body, one after the other."""

    def _evaluate(self, tree: ast.expr, scope: Scope) -> Any:
        self.meter.enter()
        value = getattr(self, f"_value_{name_kind(tree)}")(tree, scope)
        self.meter.leave()
        return value

    def _value_constant(self, tree: ast.Constant, _scope: Scope) -> Any:
        return self.meter.check(tree.value)

    def _value_name(self, tree: ast.Name, scope: Scope) -> Any:
        if not scope.knows(tree.id):
            if tree.id in FUNCTIONS:
                raise Unsupported("a function as a value")
            raise ProgramFault("NameError")
        return scope.look_up(tree.id)

    def _value_bin_op(self, tree: ast.BinOp, scope: Scope) -> Any:
        left, right = self._evaluate(tree.left, scope), self._evaluate(tree.right, scope)
        return call_plain(lambda: apply_binary(self.meter, type(tree.op), left, right))

    def _value_unary_op(self, tree: ast.UnaryOp, scope: Scope) -> Any:
        value = self._evaluate(tree.operand, scope)
        return call_plain(lambda: apply_unary(self.meter, type(tree.op), value))

    def _value_bool_op(self, tree: ast.BoolOp, scope: Scope) -> Any:
        value = None
        for one in tree.values:
            value = self._evaluate(one, scope)
            if bool(value) != isinstance(tree.op, ast.And):
                break
        return value

    def _value_compare(self, tree: ast.Compare, scope: Scope) -> bool:
        left = self._evaluate(tree.left, scope)
        for kind, one in zip(tree.ops, tree.comparators, strict=True):
            right = self._evaluate(one, scope)
            if not call_plain(partial(apply_compare, self.meter, type(kind), left, right)):
                return False
            left = right
        return True

    def _value_if_exp(self, tree: ast.IfExp, scope: Scope) -> Any:
        return self._evaluate(tree.body if self._evaluate(tree.test, scope) else tree.orelse, scope)

    def _value_list(self, tree: ast.List, scope: Scope) -> list[Any]:
        return [self._evaluate(one, scope) for one in tree.elts]

    def _value_tuple(self, tree: ast.Tuple, scope: Scope) -> tuple[Any, ...]:
        return tuple(self._evaluate(one, scope) for one in tree.elts)

    def _value_set(self, tree: ast.Set, scope: Scope) -> Any:
        items = [self._evaluate(one, scope) for one in tree.elts]
        return call_plain(lambda: call_function(self.meter, "set", [items], {}))

    def _value_dict(self, tree: ast.Dict, scope: Scope) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, value in zip(tree.keys, tree.values, strict=True):
            if key is None:
                raise Unsupported("**")
            self._put(made, self._evaluate(key, scope), self._evaluate(value, scope))
        return made

    def _value_joined_str(self, tree: ast.JoinedStr, scope: Scope) -> Any:
        parts = [self._evaluate(one, scope) for one in tree.values]
        return call_plain(lambda: call_method(self.meter, "", "join", [parts]))

    def _value_formatted_value(self, tree: ast.FormattedValue, scope: Scope) -> Any:
        if tree.format_spec is not None or tree.conversion != -1:
            raise Unsupported("format")
        value = self._evaluate(tree.value, scope)
        return call_plain(lambda: call_function(self.meter, "str", [value], {}))

    def _value_subscript(self, tree: ast.Subscript, scope: Scope) -> Any:
        owner = self._evaluate(tree.value, scope)
        if not isinstance(owner, str | list | tuple | dict | range):
            raise ProgramFault("TypeError")
        if isinstance(tree.slice, ast.Slice):
            ends = [tree.slice.lower, tree.slice.upper, tree.slice.step]
            cut = slice(*(None if one is None else self._evaluate(one, scope) for one in ends))
            return call_plain(lambda: self.meter.check(owner[cut]))
        key = self._evaluate(tree.slice, scope)
        self.meter.weigh(key)
        return call_plain(lambda: owner[key])

    def _value_lambda(self, tree: ast.Lambda, scope: Scope) -> Any:
        return self._make_function(tree.args, tree.body, scope)

    def _value_attribute(self, _tree: ast.Attribute, _scope: Scope) -> Any:
        raise Unsupported("attribute")

    def _value_list_comp(self, tree: ast.ListComp, scope: Scope) -> Any:
        return self.meter.check([self._evaluate(tree.elt, inner) for inner in self._go_through(tree.generators, scope)])

    def _value_generator_exp(self, tree: ast.GeneratorExp, scope: Scope) -> Any:
        return self.meter.check([self._evaluate(tree.elt, inner) for inner in self._go_through(tree.generators, scope)])

    def _value_set_comp(self, tree: ast.SetComp, scope: Scope) -> Any:
        items = [self._evaluate(tree.elt, inner) for inner in self._go_through(tree.generators, scope)]
        return call_plain(lambda: call_function(self.meter, "set", [items], {}))

    def _value_dict_comp(self, tree: ast.DictComp, scope: Scope) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for inner in self._go_through(tree.generators, scope):
            self._put(made, self._evaluate(tree.key, inner), self._evaluate(tree.value, inner))
        return made

    def _go_through(self, generators: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        """The scopes of a comprehension, one for each item that passes its conditions."""
        first, *rest = generators
        inner = Scope({}, scope)
        for item in self._iterate(first.iter, scope):
            self.meter.pay()
            self._assign(first.target, item, inner)
            if all(self._evaluate(test, inner) for test in first.ifs):
                if rest:
                    yield from self._go_through(rest, inner)
                else:
                    yield inner

    def _value_call(self, tree: ast.Call, scope: Scope) -> Any:
        given = [self._evaluate(one, scope) for one in tree.args]
        named = {str(one.arg): self._evaluate(one.value, scope) for one in tree.keywords if one.arg is not None}
        if len(named) < len(tree.keywords):
            raise Unsupported("**")
        if isinstance(tree.func, ast.Attribute):
            return self._call_method(tree.func, given, named, scope)
        if isinstance(tree.func, ast.Name) and not scope.knows(tree.func.id):
            return self._call_known(tree.func.id, given, named)
        function = self._evaluate(tree.func, scope)
        if not isinstance(function, ProgramFunction):
            raise ProgramFault("TypeError")
        return self._call_own(function, given, named)

    def _call_method(self, tree: ast.Attribute, given: list[Any], named: dict[str, Any], scope: Scope) -> Any:
        owner = self._evaluate(tree.value, scope)
        if isinstance(owner, list) and tree.attr == "sort":
            owner[:] = self._sort(owner, named, given)
            return None
        if named:
            raise Unsupported(f"method {tree.attr}")
        return call_plain(lambda: call_method(self.meter, owner, tree.attr, given))

    def _call_known(self, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        if name in ("sorted", "min", "max") and named and len(given) == 1:
            ordered = self._sort(given[0], {key: one for key, one in named.items() if key != "default"}, [])
            if name == "sorted":
                return ordered
            raise Unsupported(name)
        if name in self.own:
            return self.meter.check(call_plain(lambda: self.own[name](self.meter, *given, **named)))
        return call_plain(lambda: call_function(self.meter, name, given, named))

    def _sort(self, value: Any, named: dict[str, Any], given: list[Any]) -> list[Any]:
        """Sorted, by a key of the program's own if it gives one."""
        key, reverse = named.pop("key", None), bool(named.pop("reverse", False))
        if named or given or (key is not None and not isinstance(key, ProgramFunction)):
            raise Unsupported("sort")
        items = call_plain(lambda: list_items(self.meter, value))
        keys = items if key is None else [self._call_own(key, [item], {}) for item in items]
        self.meter.weigh(keys)
        order = call_plain(lambda: sorted(range(len(items)), key=lambda place: keys[place], reverse=reverse))
        return [items[place] for place in order]

    def _call_own(self, function: ProgramFunction, given: list[Any], named: Mapping[str, Any]) -> Any:
        scope, nested = function.bind(given, named), self.meter.nested
        if isinstance(function.body, ast.expr):
            return self._evaluate(function.body, scope)
        try:
            self._run_all(function.body, scope)
        except ProgramReturn as returned:
            self.meter.nested = nested
            return returned.value
        return None

    def _make_function(self, arguments: ast.arguments, body: list[ast.stmt] | ast.expr, scope: Scope) -> Any:
        check_arguments(arguments)
        return ProgramFunction(arguments, body, tuple(self._evaluate(one, scope) for one in arguments.defaults), scope)

    def _assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            items = call_plain(lambda: list_items(self.meter, value))
            if len(items) != len(target.elts):
                raise ProgramFault("ValueError")
            for one, item in zip(target.elts, items, strict=True):
                self._assign(one, item, scope)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            self._put(self._evaluate(target.value, scope), self._evaluate(target.slice, scope), value)
        else:
            raise Unsupported("target")

    def _put(self, owner: Any, key: Any, value: Any) -> None:
        self.meter.weigh(key)
        if not isinstance(owner, list | dict):
            raise ProgramFault("TypeError")
        if isinstance(owner, dict) and len(owner) >= MAX_KEYS:
            raise LimitReached("keys")
        call_plain(lambda: owner.__setitem__(key, value))

    def _iterate(self, tree: ast.expr, scope: Scope) -> Iterator[Any]:
        """A range as it goes on, since most loops end early; a copy of anything else."""
        value = self._evaluate(tree, scope)
        return iter(value if isinstance(value, range) else call_plain(lambda: list_items(self.meter, value)))
