"""Run a program of a miner's without executing it: every node of its tree is looked at, and paid for, by this code.

It can neither hang nor exhaust memory nor reach anything: there are only numbers, strings, lists, tuples, dicts, sets
and functions of its own; no attribute is read but the methods of `functions.METHODS`; sizes are checked before
something is made. What it does not know is `Unsupported`: nothing is said of such a program, neither for nor against.
"""

import ast
from collections.abc import Iterator
from typing import Any

from weighbeam.mechanisms.inference.interpreter.expressions import Expressions, ProgramReturn, name_kind
from weighbeam.mechanisms.inference.interpreter.functions import call_method, call_plain
from weighbeam.mechanisms.inference.interpreter.limits import LimitReached, ProgramFault, Unsupported
from weighbeam.mechanisms.inference.interpreter.operate import apply_binary
from weighbeam.mechanisms.inference.interpreter.values import ProgramFunction, Scope


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Interpreter(Expressions):
    """Runs statements."""

    def run(self, tree: ast.Module) -> None:
        """The whole program, one statement after the other."""
        try:
            self._run_all(tree.body, self.globals)
        except (ProgramReturn, _Break, _Continue):
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
        except (_Break, _Continue):
            raise ProgramFault("SyntaxError") from None
        except RecursionError:
            raise LimitReached("nesting") from None
        self.meter.weigh(result)
        return result

    def _run_all(self, lines: list[ast.stmt], scope: Scope) -> None:
        for line in lines:
            self.meter.enter()
            getattr(self, f"_run_{name_kind(line)}")(line, scope)
            self.meter.leave()

    def _run_function_def(self, line: ast.FunctionDef, scope: Scope) -> None:
        scope.names[line.name] = self._make_function(line.args, line.body, scope)

    def _run_return(self, line: ast.Return, scope: Scope) -> None:
        raise ProgramReturn(None if line.value is None else self._evaluate(line.value, scope))

    def _run_assign(self, line: ast.Assign, scope: Scope) -> None:
        value = self._evaluate(line.value, scope)
        for target in line.targets:
            self._assign(target, value, scope)

    def _run_ann_assign(self, line: ast.AnnAssign, scope: Scope) -> None:
        if line.value is not None:
            self._assign(line.target, self._evaluate(line.value, scope), scope)

    def _run_aug_assign(self, line: ast.AugAssign, scope: Scope) -> None:
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

    def _run_if(self, line: ast.If, scope: Scope) -> None:
        self._run_all(line.body if self._evaluate(line.test, scope) else line.orelse, scope)

    def _run_while(self, line: ast.While, scope: Scope) -> None:
        def repeat() -> Iterator[None]:
            while self._evaluate(line.test, scope):
                yield

        self._loop(repeat(), line.body, line.orelse, scope)

    def _run_for(self, line: ast.For, scope: Scope) -> None:
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

    def _run_expr(self, line: ast.Expr, scope: Scope) -> None:
        self._evaluate(line.value, scope)

    def _run_pass(self, _line: ast.Pass, _scope: Scope) -> None:
        pass

    def _run_break(self, _line: ast.Break, _scope: Scope) -> None:
        raise _Break

    def _run_continue(self, _line: ast.Continue, _scope: Scope) -> None:
        raise _Continue

    def _run_assert(self, line: ast.Assert, scope: Scope) -> None:
        if not self._evaluate(line.test, scope):
            raise ProgramFault("AssertionError")

    def _run_raise(self, _line: ast.Raise, _scope: Scope) -> None:
        raise ProgramFault("raised")
