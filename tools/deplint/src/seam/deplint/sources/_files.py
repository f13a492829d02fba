"""The Python files of a source tree and the dotted modules they become once the distribution is built."""

# Plain text paths and os.scandir are several times faster than pathlib here, and thousands of files pass.
# ruff: noqa: PTH112, PTH113, PTH118, PTH119

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

_NEVER = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})
_NOT_PACKED = frozenset(
    {"tests", "test", "docs", "doc", "examples", "example", "benchmarks", "bench", "scripts", "tools"}
)
_NOT_MODULES = frozenset(
    {"setup.py", "noxfile.py", "conftest.py", "hatch_build.py", "tasks.py", "fabfile.py"}
)


@dataclass(slots=True)
class Shipped:
    """What a built distribution would contain: dotted module -> file, packages with `py.typed`, all paths."""

    modules: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])
    typed: set[str] = field(default_factory=set[str])
    unowned: list[str] = field(default_factory=list[str])
    unreadable: dict[str, str] = field(default_factory=dict[str, str])


def shipped_modules(root: str, packed: tuple[str, ...], packed_roots: tuple[str, ...]) -> Shipped:
    """Map the tree below `root`; `packed` are hatchling's `packages`, `packed_roots` setuptools' `where`."""
    found = Shipped()
    if packed:
        for item in packed:
            top = os.path.join(root, item)
            _collect(top, os.path.basename(item.rstrip("/")), found)
        _unpacked(root, found)
        return found
    for where in packed_roots or (("src",) if os.path.isdir(os.path.join(root, "src")) else ()):
        _collect(os.path.join(root, where), "", found)
    if not found.modules and not packed_roots:
        _flat(root, found)
    return found


def _unpacked(root: str, found: Shipped) -> None:
    """Files below `src/` that the build configuration leaves out belong to nobody."""
    packed = {path for path, _ in found.modules.values()}
    for path, _ in _walk(os.path.join(root, "src"), found):
        if path.endswith(".py") and path not in packed:
            found.unowned.append(path)


def _flat(root: str, found: Shipped) -> None:
    """A tree without `src`: top-level packages and modules, less what is never packed."""
    for entry in sorted(os.scandir(root), key=lambda item: item.name):
        if entry.is_dir() and entry.name not in _NOT_PACKED and entry.name.isidentifier():
            _collect(entry.path, entry.name, found)
        elif entry.name.endswith(".py") and entry.name not in _NOT_MODULES:
            found.modules[entry.name.removesuffix(".py")] = (entry.path, False)


def _collect(top: str, dotted: str, found: Shipped) -> None:
    if top.endswith(".py") and os.path.isfile(top):
        found.modules[dotted.removesuffix(".py")] = (top, False)
        return
    start = len(top) + 1
    for path, name in _walk(top, found):
        folder = path[start : -len(name) - 1].replace(os.sep, ".") if len(path) - len(name) > start else ""
        parts = ".".join(part for part in (dotted, folder) if part)
        if name == "py.typed":
            found.typed.add(parts)
        elif name == "__init__.py":
            if parts:
                found.modules[parts] = (path, True)
        elif name.endswith(".py"):
            found.modules[f"{parts}.{name[:-3]}" if parts else name[:-3]] = (path, False)


def _walk(top: str, found: Shipped) -> Iterator[tuple[str, str]]:
    """Every file below `top` in a stable order; a symlink back into its own ancestry is named, not followed."""
    stack: list[tuple[str, frozenset[str]]] = [(top, frozenset())]
    while stack:
        folder, ancestry = stack.pop()
        if not os.path.isdir(folder):
            continue
        below: list[tuple[str, frozenset[str]]] = []
        try:
            entries = sorted(os.scandir(folder), key=lambda item: item.name)
        except OSError as problem:
            found.unreadable[folder] = problem.strerror or "cannot be read"
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _NEVER:
                continue
            if not entry.is_dir():
                yield entry.path, entry.name
                continue
            if entry.is_symlink():
                real = os.path.realpath(entry.path)
                seen = ancestry | {os.path.realpath(folder)}
                if any(real == past or past.startswith(real + os.sep) for past in seen):
                    found.unreadable[entry.path] = (
                        "a symbolic link leads back into its own folder; it was not followed"
                    )
                    continue
                below.append((entry.path, seen))
            else:
                below.append((entry.path, ancestry))
        stack.extend(reversed(below))
