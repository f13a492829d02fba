"""Python from a folder beside the deployment: loaded from source, never from bytecode, under names of its own.

Each load gets a package name that no other has, so two generations never share a module object, relative imports and pickling
work, and an edit within the same second is an edit. The finder is an object that its owner installs and removes.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

PREFIX = "_seam_source_"


class SourceLoader(InspectLoader):
    """Compiles one file as it is on disk now."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get_source(self, fullname: str) -> str:
        """The text, decoded as PEP 263 says."""
        return importlib.util.decode_source(self.path.read_bytes())

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from the source; no cache is read or written."""
        return compile(self.path.read_bytes(), str(self.path), "exec", dont_inherit=True)

    def is_package(self, fullname: str) -> bool:
        """Whether the file is a package's `__init__.py`."""
        return self.path.name == "__init__.py"

    def get_filename(self, fullname: str) -> str:
        """For tracebacks and `inspect`."""
        return str(self.path)


class SourceFinder(MetaPathFinder):
    """Finds the modules of loaded folders. Installed on `sys.meta_path` by its owner, for as long as the owner lives."""

    def __init__(self) -> None:
        self._roots: dict[str, Path] = {}
        self._count = 0

    def install(self) -> None:
        """Start finding."""
        sys.meta_path.append(self)

    def remove(self) -> None:
        """Stop finding, and forget every module that was loaded."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for root in list(self._roots):
            self.forget(root)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for a module of a loaded folder, None for any other name."""
        root, _, rest = fullname.partition(".")
        start = self._roots.get(root)
        if start is None:
            return None
        place = start.parent if start.name == "__init__.py" else start.parent / "(no package)"
        file = start if not rest else _module_file(place, rest.split("."))
        if file is None:
            return None
        loader = SourceLoader(file)
        spec = importlib.util.spec_from_loader(
            fullname, loader, origin=str(file), is_package=loader.is_package(fullname)
        )
        if spec is not None:
            spec.has_location = True
            if spec.submodule_search_locations is not None:
                spec.submodule_search_locations.append(str(file.parent))
        return spec

    def load(self, file: Path) -> ModuleType:
        """Load a file, or a package by its `__init__.py`, under a new name.

        Raises:
            Whatever the code raises; nothing of it stays importable then.
        """
        self._count += 1
        name = f"{PREFIX}{id(self):x}_{self._count}_{file.parent.name if file.name == '__init__.py' else file.stem}"
        name = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name)
        self._roots[name] = file
        try:
            return importlib.import_module(name)
        except BaseException:
            self.forget(name)
            raise

    def forget(self, name: str) -> None:
        """Drop a loaded module and its submodules; what still holds objects of it keeps them."""
        self._roots.pop(name, None)
        for loaded in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[loaded]


def _module_file(package: Path, parts: list[str]) -> Path | None:
    place = package.joinpath(*parts)
    for candidate in (place / "__init__.py", place.with_name(place.name + ".py")):
        if candidate.is_file():
            return candidate
    return None


def content_digest(path: Path) -> str:
    """Digest over names and contents of a file, or of everything below a folder (links are not followed; odd names are fine)."""
    total = hashlib.sha256()
    files = (
        [path]
        if path.is_file()
        else sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    )
    for file in files:
        try:
            data = file.read_bytes()
        except OSError as error:
            data = f"unreadable: {error.errno}".encode()  # its becoming readable is a change too
        name = str(file.relative_to(path.parent)).encode(errors="surrogateescape")
        total.update(b"%d:%s%d:" % (len(name), name, len(data)))
        total.update(data)
    return total.hexdigest()
