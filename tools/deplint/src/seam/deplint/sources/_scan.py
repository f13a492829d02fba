"""What a Python file imports, read from its syntax tree; the file is never executed."""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from io import BytesIO

from seam.deplint.facts import FileScan, ImportKind, RawImport, Waiver
from seam.deplint.sources._dynamic import DynamicImports

_DYNAMIC_HINT = re.compile(rb"import_module|__import__|resolve_name")
_WAIVER = re.compile(r"#\s*deplint:\s*ignore\[([a-z-]+)\]\s*(.*)")
_IMPORT_FAILURES = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def scan_source(source: bytes, roots: frozenset[str] = frozenset()) -> FileScan:
    """Read the imports, top-level names and waivers of one file; what does not parse is named in `error`.

    `roots` are top-level names of namespaces: other strings that begin with one of them and look like a module count
    as naming it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the checked file's invalid escapes are not ours to report
            tree = ast.parse(source)
    except SyntaxError as problem:
        return FileScan(error=f"does not parse: {problem.msg}", error_line=problem.lineno or 0)
    except (ValueError, RecursionError, MemoryError, UnicodeDecodeError) as problem:
        return FileScan(error=f"cannot be read as Python: {problem}")
    reader = _Reader()
    reader.block(tree.body, ImportKind.RUN, top=True)
    found = list(reader.found)
    unverifiable: list[tuple[str, int]] = []
    if _DYNAMIC_HINT.search(source) or any(_quoted(root, source) for root in roots):
        dynamic = DynamicImports(tree, roots)
        found += dynamic.found
        unverifiable = dynamic.unverifiable
    return FileScan(
        imports=tuple(found),
        unverifiable=tuple(unverifiable),
        names=frozenset(reader.names),
        star=reader.star,
        waivers=_waivers(source) if b"deplint:" in source else (),
    )


def _quoted(root: str, source: bytes) -> bool:
    name = root.encode()
    return b'"' + name + b"." in source or b"'" + name + b"." in source


def _waivers(source: bytes) -> tuple[Waiver, ...]:
    found: list[Waiver] = []
    for token in tokenize.tokenize(BytesIO(source).readline):
        match = _WAIVER.match(token.string) if token.type == tokenize.COMMENT else None
        if match:
            found.append(Waiver(match[1], match[2].strip(" -"), token.start[0]))
    return tuple(found)


class _Reader:
    """Walks statements only: expressions cannot hold an import statement, and most of a tree is expressions."""

    def __init__(self) -> None:
        self.found: list[RawImport] = []
        self.names: set[str] = set()
        self.star = False
        self._type_flags = {"TYPE_CHECKING", "MYPY"}

    def block(self, body: list[ast.stmt], kind: ImportKind, *, top: bool = False) -> None:
        for node in body:
            self._statement(node, kind, top)

    def _statement(self, node: ast.stmt, kind: ImportKind, top: bool) -> None:  # noqa: PLR0912 - one arm a statement
        match node:
            case ast.Import():
                for alias in node.names:
                    self.found.append(RawImport(alias.name, (), 0, kind, node.lineno))
                    self._name(alias.asname or alias.name.partition(".")[0], top)
            case ast.ImportFrom():
                self._from(node, kind, top)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._name(node.name, top)
                self.block(node.body, _within(kind, ImportKind.FUNCTION))
            case ast.ClassDef():
                self._name(node.name, top)
                self.block(node.body, kind)
            case ast.If():
                self._condition(node, kind, top)
            case ast.Try() | ast.TryStar():
                self._attempt(node, kind, top)
            case ast.With() | ast.AsyncWith():
                guarded = any(_suppresses(item.context_expr) for item in node.items)
                self.block(node.body, _within(kind, ImportKind.GUARDED) if guarded else kind, top=top)
            case ast.For() | ast.AsyncFor() | ast.While():
                self.block(node.body, kind, top=top)
                self.block(node.orelse, kind, top=top)
            case ast.Match():
                for arm in node.cases:
                    self.block(arm.body, kind, top=top)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() if top:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self.names.update(item.id for item in ast.walk(target) if isinstance(item, ast.Name))
            case _:
                if top and type(node).__name__ == "TypeAlias":  # Python 3.12 and newer
                    self.names.update(
                        item.id for item in ast.iter_child_nodes(node) if isinstance(item, ast.Name)
                    )

    def _name(self, name: str, top: bool) -> None:
        if top:
            self.names.add(name)

    def _from(self, node: ast.ImportFrom, kind: ImportKind, top: bool) -> None:
        names = tuple(alias.name for alias in node.names if alias.name != "*")
        self.found.append(RawImport(node.module or "", names, node.level, kind, node.lineno))
        for alias in node.names:
            if alias.name == "*":
                self.star = self.star or top
            elif alias.name == "TYPE_CHECKING":
                self._type_flags.add(alias.asname or alias.name)
            if alias.name != "*":
                self._name(alias.asname or alias.name, top)

    def _condition(self, node: ast.If, kind: ImportKind, top: bool) -> None:
        verdict = self._type_only(node.test)
        typed = _within(kind, ImportKind.TYPE_CHECKING)
        self.block(node.body, typed if verdict is True else kind, top=top)
        self.block(node.orelse, typed if verdict is False else kind, top=top)

    def _type_only(self, test: ast.expr) -> bool | None:
        """True where the body is for type checkers only, False where the `else` is, None where neither."""
        match test:
            case ast.Name():
                return True if test.id in self._type_flags else None
            case ast.Attribute():
                return True if test.attr == "TYPE_CHECKING" else None
            case ast.Constant():
                return True if test.value is False or test.value == 0 else None
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                verdict = self._type_only(inner)
                return None if verdict is None else not verdict
            case ast.BoolOp(op=ast.And(), values=values):
                return True if any(self._type_only(value) is True for value in values) else None
            case _:
                return None

    def _attempt(self, node: ast.Try | ast.TryStar, kind: ImportKind, top: bool) -> None:
        guarded = any(_catches_import_failure(handler) for handler in node.handlers)
        inner = _within(kind, ImportKind.GUARDED) if guarded else kind
        self.block(node.body, inner, top=top)
        for handler in node.handlers:
            self.block(handler.body, inner, top=top)
        self.block(node.orelse, inner, top=top)
        self.block(node.finalbody, kind, top=top)


def _within(outer: ImportKind, inner: ImportKind) -> ImportKind:
    """The weaker promise wins: type checking over guarded over function over run time."""
    order = (ImportKind.RUN, ImportKind.FUNCTION, ImportKind.GUARDED, ImportKind.TYPE_CHECKING)
    return max(outer, inner, key=order.index)


def _catches_import_failure(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(_last_name(item) in _IMPORT_FAILURES for item in caught)


def _suppresses(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or _last_name(context.func) != "suppress":
        return False
    return any(_last_name(item) in _IMPORT_FAILURES for item in context.args)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
