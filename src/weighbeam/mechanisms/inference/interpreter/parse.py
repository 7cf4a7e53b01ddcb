"""From a text to a syntax tree that the interpreter knows: small, shallow, and of known parts only."""

import ast

from weighbeam.mechanisms.inference.interpreter.limits import LimitReached, ProgramFault, Unsupported

MAX_SOURCE = 4000
"""Characters; also what keeps Python's own parser from deep recursion."""
MAX_NODES = 2000
MAX_DEPTH = 40
KNOWN = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign),
    *(ast.For, ast.While, ast.If, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Assert, ast.Raise),
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp),
    *(ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call, ast.keyword, ast.JoinedStr),
    *(ast.FormattedValue, ast.Constant, ast.Attribute, ast.Subscript, ast.Name, ast.List, ast.Tuple, ast.Slice),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
TYPING = ("typing", "__future__")
"""Modules whose names occur only in annotations, which are never evaluated."""


def parse_program(source: str, max_source: int = MAX_SOURCE) -> ast.Module:
    """The tree of a program; `ProgramFault` if it is not Python."""
    if len(source) > max_source:
        raise LimitReached("source")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProgramFault("SyntaxError") from None
    tree.body = [line for line in tree.body if not _is_typing(line)]
    _check_tree(tree)
    return tree


def _is_typing(line: ast.stmt) -> bool:
    if isinstance(line, ast.ImportFrom):
        return line.module in TYPING and not line.level
    return isinstance(line, ast.Import) and all(name.name in TYPING and not name.asname for name in line.names)


def _check_tree(tree: ast.Module) -> None:
    """Breadth first, so that depth costs no frames."""
    level: list[ast.AST] = [tree]
    met = 0
    for _ in range(MAX_DEPTH):
        met += len(level)
        if met > MAX_NODES:
            raise LimitReached("nodes")
        for node in level:
            if not isinstance(node, KNOWN):
                raise Unsupported(type(node).__name__)
        level = [child for node in level for child in _list_children(node)]
        if not level:
            return
    raise LimitReached("depth")


def _list_children(node: ast.AST) -> list[ast.AST]:
    """All but annotations and decorators; a function with decorators is not known."""
    if isinstance(node, ast.FunctionDef):
        if node.decorator_list:
            raise Unsupported("decorator")
        return [node.args, *node.body]
    if isinstance(node, ast.arg):
        return []
    if isinstance(node, ast.AnnAssign):
        return [node.target, *([node.value] if node.value else [])]
    return list(ast.iter_child_nodes(node))
