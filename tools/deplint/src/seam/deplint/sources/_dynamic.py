"""Modules that a file names in strings: arguments of importlib's functions, and other constants that look like one."""

from __future__ import annotations

import ast
import re

from seam.deplint.facts import ImportKind, RawImport

_CALLS = frozenset({"import_module", "__import__", "resolve_name"})
_TARGET = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_][\w.]*)?")


class DynamicImports:
    """Reads a whole tree; `found` holds what is constant, `unverifiable` what is computed (text, line)."""

    def __init__(self, tree: ast.Module, roots: frozenset[str]) -> None:
        self.found: list[RawImport] = []
        self.unverifiable: list[tuple[str, int]] = []
        self._functions = set(_CALLS - {"resolve_name"})
        self._roots = roots
        self._constants = _module_constants(tree)
        taken: set[int] = set()
        docstrings = _docstrings(tree)
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module in {"importlib", "pkgutil"}:
                self._functions.update(
                    alias.asname or alias.name for alias in node.names if alias.name in _CALLS
                )
        for node in nodes:
            if isinstance(node, ast.Call) and self._is_import(node.func):
                taken.update(id(inner) for inner in ast.walk(node))
                self._call(node)
        for node in nodes:
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in taken | docstrings
            ):
                self._string(node.value, node.lineno)

    def _is_import(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name):
            return function.id in self._functions
        return isinstance(function, ast.Attribute) and function.attr in _CALLS

    def _call(self, node: ast.Call) -> None:
        arguments = {keyword.arg: keyword.value for keyword in node.keywords}
        target = node.args[0] if node.args else arguments.get("name")
        name = self._constant(target)
        if name is None:
            shown = ast.unparse(node)
            self.unverifiable.append((shown if len(shown) <= 80 else shown[:77] + "...", node.lineno))
            return
        level = len(name) - len(name.lstrip("."))
        if level:
            package = self._constant(node.args[1] if len(node.args) > 1 else arguments.get("package"))
            if package is None:
                # `__package__` and `__name__` are the file's own: a relative import like any other
                self.found.append(RawImport(name.lstrip("."), (), level, ImportKind.DYNAMIC, node.lineno))
                return
            parts = package.split(".")
            name = ".".join([*parts[: len(parts) - level + 1], name.lstrip(".")])
        self.found.append(RawImport(name.partition(":")[0], (), 0, ImportKind.DYNAMIC, node.lineno))

    def _constant(self, node: ast.expr | None) -> str | None:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self._constants.get(name)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                first, second = self._constant(left), self._constant(right)
                return None if first is None or second is None else first + second
            case ast.JoinedStr(values=values) if all(isinstance(value, ast.Constant) for value in values):
                return "".join(str(value.value) for value in values if isinstance(value, ast.Constant))
            case _:
                return None

    def _string(self, text: str, line: int) -> None:
        if text.partition(".")[0] in self._roots and _TARGET.fullmatch(text):
            self.found.append(RawImport(text.partition(":")[0], (), 0, ImportKind.STRING, line))


def _module_constants(tree: ast.Module) -> dict[str, str]:
    """Names that the module binds exactly once, to a constant text."""
    bound: dict[str, list[str | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, []).append(None)
    found: dict[str, str] = {}
    for node in tree.body:
        target = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else node.target
            if isinstance(node, ast.AnnAssign)
            else None
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if not isinstance(target, ast.Name) or len(bound.get(target.id, [])) != 1:
            continue
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found[target.id] = value.value
    return found


def _docstrings(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
    return found
