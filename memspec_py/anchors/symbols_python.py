"""Functions, classes, methods, constants and type aliases of Python, by the standard ``ast``.

What an id is made of is the syntax tree of the symbol's own statement, with its decorators and with
all that is nested in it. White space, comments, the spelling of literals (quotes, ``1_000``),
parentheses that change nothing and trailing commas are no part of the tree; docstrings are taken
out of it. The condition a definition stands under is not part of it either.

The tree is written out without what is empty and without what only the compiler needs, because
those differ from one Python to the next, and an id must not.
"""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from memspec_py.anchors.symbols import Symbols, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = "py1"

_Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_UNSEEN = {"ctx", "kind", "type_comment"}


def read(data: bytes) -> Symbols | Unreadable:
    """The symbols of a source file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the compiler thinks of the code is no news here
            tree = ast.parse(data)
    except SyntaxError as problem:
        return Unreadable(f"is not Python this version can read (line {problem.lineno or '?'})")
    except (ValueError, RecursionError, MemoryError) as problem:
        return Unreadable(f"cannot be read as Python: {str(problem) or type(problem).__name__}")
    pieces: dict[str, list[ast.AST]] = {}
    for name, node in _definitions(tree, ""):
        pieces.setdefault(name, []).append(node)
    return Symbols(RULE, pieces, _folded)


def _definitions(scope: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """Every symbol with its node: of a module, a class, or (definitions only) a function."""
    is_function = isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
    for node in _statements(scope):
        if isinstance(node, _Defined):
            name = f"{prefix}{node.name}"
            yield name, node
            yield from _definitions(node, f"{name}.")
        elif not is_function:
            for bound in _bound_by(node):
                yield f"{prefix}{bound}", node


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope in file order, also those inside of conditions and the like."""
    waiting = [scope]
    is_top = True
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt) and not is_top:
            yield node
            if isinstance(node, _Defined):
                continue
        is_top = False
        inner = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        waiting += reversed(inner)


def _bound_by(node: ast.stmt) -> list[str]:
    """The names that an assignment or a type alias gives a value or a type."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    elif type(node).__name__ == "TypeAlias":  # of Python 3.12 and later
        targets = [node.name]  # type: ignore[attr-defined]
    else:
        return []
    names = (inner for target in targets for inner in _parts(target))
    return list(dict.fromkeys(names))


def _parts(target: ast.expr) -> Iterator[str]:
    """The plain names in a target such as ``a, (b, *c)``."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for inner in target.elts:
            yield from _parts(inner)
    elif isinstance(target, ast.Starred):
        yield from _parts(target.value)


class _Mark(str):
    """A word of the written tree that is already finished."""

    __slots__ = ()


_OPEN, _CLOSE = _Mark("["), _Mark("]")


def _folded(node: ast.AST) -> Iterator[str]:
    """The words of the written tree; without recursion, as code may be nested very deep."""
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Mark):
            yield item
        elif isinstance(item, ast.AST):
            yield type(item).__name__
            waiting.append(_CLOSE)
            for field in reversed(item._fields):
                value = _seen(item, field)
                if value is not None and value != []:
                    waiting += (value, _Mark(field))
        elif isinstance(item, list):
            yield _OPEN
            waiting.append(_CLOSE)
            waiting += reversed(item)
        else:
            yield _spelt(item)


def _seen(node: ast.AST, field: str) -> object:
    if field in _UNSEEN:
        return None
    value = getattr(node, field, None)
    if field == "value" and isinstance(node, ast.Constant):
        return _Mark(_spelt(value))
    if field == "values" and isinstance(node, ast.JoinedStr):
        return _merged(node.values)
    if field == "format_spec" and isinstance(value, ast.JoinedStr) and not value.values:
        return None
    if field == "body" and isinstance(node, _Defined) and _has_docstring(node):
        return node.body[1:]
    return value


def _merged(parts: list[ast.expr]) -> list[object]:
    """The parts of an f-string, neighbouring texts as one: Pythons differ in how they cut them."""
    merged: list[object] = []
    text = ""
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            text += part.value
            continue
        merged += [_Mark(_spelt(text)), part] if text else [part]
        text = ""
    return [*merged, _Mark(_spelt(text))] if text else merged


def _has_docstring(node: _Defined) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def _spelt(value: object) -> str:
    """A constant in one way for every Python: what counts as printable changes with Unicode."""
    if isinstance(value, int) and not isinstance(value, bool):
        return hex(value)
    return f"{type(value).__name__} {value!a}"


def assigned(data: bytes, name: str) -> list[tuple[ast.expr | None, str]] | Unreadable:
    """What is assigned to a constant, each time, with its source; a type alone assigns nothing."""
    symbols = read(data)
    if isinstance(symbols, Unreadable):
        return symbols
    text = data.decode("utf-8-sig", "replace")
    last = name.rpartition(".")[2]
    found: list[tuple[ast.expr | None, str]] = []
    for node in symbols.pieces_of(name):
        if isinstance(node, ast.AugAssign):
            found.append((None, ast.get_source_segment(text, node) or ""))
        found += [
            (value, ast.get_source_segment(text, value) or "") for value in _values(node, last)
        ]
    return found


def _values(node: ast.AST, name: str) -> Iterator[ast.expr]:
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                yield from (v for t, v in pairs if isinstance(t, ast.Name) and t.id == name)
            else:
                yield node.value
