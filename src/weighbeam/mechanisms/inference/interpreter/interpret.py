"""Run a program of a miner's without executing it: every node of its tree is looked at, and paid for, by this code.

It can neither hang nor exhaust memory nor reach anything: there are only numbers, strings, lists, tuples, dicts, sets
and functions of its own; no attribute is read but the methods of `functions.METHODS`; sizes are checked before
something is made. What it does not know is `Unsupported`: nothing is said of such a program, neither for nor against.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
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


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Interpreter:
    """Runs statements and expressions. `own` are functions offered besides those of Python."""

    def __init__(self, meter: Meter, own: Mapping[str, Builtin] | None = None) -> None:
        self.meter = meter
        self.own = own or {}
        self.globals = Scope({"__name__": "answer"})

    def run(self, tree: ast.Module) -> None:
        """The whole program, one statement after the other."""
        try:
            self._run_all(tree.body, self.globals)
        except (_Return, _Break, _Continue):
            raise ProgramFault("SyntaxError") from None
        except RecursionError:
            raise LimitReached("nesting") from None

    def call(self, name: str, given: list[Any]) -> Any:
        """A function that the program defined; its result is a plain value of bounded size."""
        function = self.globals.look_up(name)
        if not isinstance(function, ProgramFunction):
            raise ProgramFault("NameError")
        self.meter.nested = 0
        try:
            result = self._call_own(function, given, {})
        except RecursionError:
            raise LimitReached("nesting") from None
        self.meter.weigh(result)
        return result

    def evaluate(self, tree: ast.expr) -> Any:
        """One expression, with the names that `run` left."""
        return self._evaluate(tree, self.globals)

    def _run_all(self, lines: list[ast.stmt], scope: Scope) -> None:
        for line in lines:
            self.meter.enter()
            getattr(self, f"_run_{type(line).__name__}")(line, scope)
            self.meter.leave()

    def _run_FunctionDef(self, line: ast.FunctionDef, scope: Scope) -> None:
        scope.names[line.name] = self._make_function(line.args, line.body, scope)

    def _make_function(self, arguments: ast.arguments, body: list[ast.stmt] | ast.expr, scope: Scope) -> Any:
        check_arguments(arguments)
        return ProgramFunction(arguments, body, tuple(self._evaluate(one, scope) for one in arguments.defaults), scope)

    def _run_Return(self, line: ast.Return, scope: Scope) -> None:
        raise _Return(None if line.value is None else self._evaluate(line.value, scope))

    def _run_Assign(self, line: ast.Assign, scope: Scope) -> None:
        value = self._evaluate(line.value, scope)
        for target in line.targets:
            self._assign(target, value, scope)

    def _run_AnnAssign(self, line: ast.AnnAssign, scope: Scope) -> None:
        if line.value is not None:
            self._assign(line.target, self._evaluate(line.value, scope), scope)

    def _run_AugAssign(self, line: ast.AugAssign, scope: Scope) -> None:
        target = line.target
        if not isinstance(target, ast.Name | ast.Subscript):
            raise Unsupported("target")
        before = self._evaluate(target, scope)
        value = self._evaluate(line.value, scope)
        if isinstance(before, list) and isinstance(line.op, ast.Add):
            call_plain(lambda: call_method(self.meter, before, "extend", [value]))
        else:
            made = call_plain(lambda: apply_binary(self.meter, type(line.op), before, value))
            self._assign(target, made, scope)

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

    def _run_If(self, line: ast.If, scope: Scope) -> None:
        self._run_all(line.body if self._evaluate(line.test, scope) else line.orelse, scope)

    def _run_While(self, line: ast.While, scope: Scope) -> None:
        def repeat() -> Iterator[None]:
            while self._evaluate(line.test, scope):
                yield

        self._loop(repeat(), line.body, line.orelse, scope)

    def _run_For(self, line: ast.For, scope: Scope) -> None:
        def repeat() -> Iterator[None]:
            for item in self._iterate(line.iter, scope):
                self._assign(line.target, item, scope)
                yield

        self._loop(repeat(), line.body, line.orelse, scope)

    def _loop(self, turns: Iterator[None], body: list[ast.stmt], orelse: list[ast.stmt], scope: Scope) -> None:
        nested = self.meter.nested
        for _ in turns:
            self.meter.pay()
            try:
                self._run_all(body, scope)
            except _Continue:
                self.meter.nested = nested
            except _Break:
                self.meter.nested = nested
                return
        self._run_all(orelse, scope)

    def _iterate(self, tree: ast.expr, scope: Scope) -> Iterator[Any]:
        """A range as it goes on, since most loops end early; a copy of anything else."""
        value = self._evaluate(tree, scope)
        return iter(value if isinstance(value, range) else call_plain(lambda: list_items(self.meter, value)))

    def _run_Expr(self, line: ast.Expr, scope: Scope) -> None:
        self._evaluate(line.value, scope)

    def _run_Pass(self, line: ast.Pass, scope: Scope) -> None:
        pass

    def _run_Break(self, line: ast.Break, scope: Scope) -> None:
        raise _Break

    def _run_Continue(self, line: ast.Continue, scope: Scope) -> None:
        raise _Continue

    def _run_Assert(self, line: ast.Assert, scope: Scope) -> None:
        if not self._evaluate(line.test, scope):
            raise ProgramFault("AssertionError")

    def _run_Raise(self, line: ast.Raise, scope: Scope) -> None:
        raise ProgramFault("raised")

    def _evaluate(self, tree: ast.expr, scope: Scope) -> Any:
        self.meter.enter()
        value = getattr(self, f"_value_{type(tree).__name__}")(tree, scope)
        self.meter.leave()
        return value

    def _value_Constant(self, tree: ast.Constant, scope: Scope) -> Any:
        return self.meter.check(tree.value)

    def _value_Name(self, tree: ast.Name, scope: Scope) -> Any:
        if not scope.knows(tree.id):
            if tree.id in FUNCTIONS:
                raise Unsupported("a function as a value")
            raise ProgramFault("NameError")
        return scope.look_up(tree.id)

    def _value_BinOp(self, tree: ast.BinOp, scope: Scope) -> Any:
        left, right = self._evaluate(tree.left, scope), self._evaluate(tree.right, scope)
        return call_plain(lambda: apply_binary(self.meter, type(tree.op), left, right))

    def _value_UnaryOp(self, tree: ast.UnaryOp, scope: Scope) -> Any:
        value = self._evaluate(tree.operand, scope)
        return call_plain(lambda: apply_unary(self.meter, type(tree.op), value))

    def _value_BoolOp(self, tree: ast.BoolOp, scope: Scope) -> Any:
        value = None
        for one in tree.values:
            value = self._evaluate(one, scope)
            if bool(value) != isinstance(tree.op, ast.And):
                break
        return value

    def _value_Compare(self, tree: ast.Compare, scope: Scope) -> bool:
        left = self._evaluate(tree.left, scope)
        for kind, one in zip(tree.ops, tree.comparators, strict=True):
            right = self._evaluate(one, scope)
            if not call_plain(lambda kind=kind, left=left, right=right: apply_compare(self.meter, type(kind), left, right)):
                return False
            left = right
        return True

    def _value_IfExp(self, tree: ast.IfExp, scope: Scope) -> Any:
        return self._evaluate(tree.body if self._evaluate(tree.test, scope) else tree.orelse, scope)

    def _value_List(self, tree: ast.List, scope: Scope) -> list[Any]:
        return [self._evaluate(one, scope) for one in tree.elts]

    def _value_Tuple(self, tree: ast.Tuple, scope: Scope) -> tuple[Any, ...]:
        return tuple(self._evaluate(one, scope) for one in tree.elts)

    def _value_Set(self, tree: ast.Set, scope: Scope) -> Any:
        items = [self._evaluate(one, scope) for one in tree.elts]
        return call_plain(lambda: call_function(self.meter, "set", [items], {}))

    def _value_Dict(self, tree: ast.Dict, scope: Scope) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, value in zip(tree.keys, tree.values, strict=True):
            if key is None:
                raise Unsupported("**")
            self._put(made, self._evaluate(key, scope), self._evaluate(value, scope))
        return made

    def _value_JoinedStr(self, tree: ast.JoinedStr, scope: Scope) -> Any:
        parts = [self._evaluate(one, scope) for one in tree.values]
        return call_plain(lambda: call_method(self.meter, "", "join", [parts]))

    def _value_FormattedValue(self, tree: ast.FormattedValue, scope: Scope) -> Any:
        if tree.format_spec is not None or tree.conversion != -1:
            raise Unsupported("format")
        value = self._evaluate(tree.value, scope)
        return call_plain(lambda: call_function(self.meter, "str", [value], {}))

    def _value_Subscript(self, tree: ast.Subscript, scope: Scope) -> Any:
        owner = self._evaluate(tree.value, scope)
        if not isinstance(owner, str | list | tuple | dict | range):
            raise ProgramFault("TypeError")
        if isinstance(tree.slice, ast.Slice):
            ends = [tree.slice.lower, tree.slice.upper, tree.slice.step]
            cut = slice(*(None if one is None else self._evaluate(one, scope) for one in ends))
            return call_plain(lambda: self.meter.check(owner[cut]))  # type: ignore[index]
        key = self._evaluate(tree.slice, scope)
        self.meter.weigh(key)
        return call_plain(lambda: owner[key])

    def _value_Lambda(self, tree: ast.Lambda, scope: Scope) -> Any:
        return self._make_function(tree.args, tree.body, scope)

    def _value_Attribute(self, tree: ast.Attribute, scope: Scope) -> Any:
        raise Unsupported("attribute")

    def _value_ListComp(self, tree: ast.ListComp, scope: Scope) -> Any:
        return self.meter.check([self._evaluate(tree.elt, inner) for inner in self._go_through(tree.generators, scope)])

    def _value_GeneratorExp(self, tree: ast.GeneratorExp, scope: Scope) -> Any:
        return self.meter.check([self._evaluate(tree.elt, inner) for inner in self._go_through(tree.generators, scope)])

    def _value_SetComp(self, tree: ast.SetComp, scope: Scope) -> Any:
        items = [self._evaluate(tree.elt, inner) for inner in self._go_through(tree.generators, scope)]
        return call_plain(lambda: call_function(self.meter, "set", [items], {}))

    def _value_DictComp(self, tree: ast.DictComp, scope: Scope) -> dict[Any, Any]:
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

    def _value_Call(self, tree: ast.Call, scope: Scope) -> Any:
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
        except _Return as returned:
            self.meter.nested = nested
            return returned.value
        return None
