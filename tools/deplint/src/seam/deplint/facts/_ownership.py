"""Which distribution owns a dotted module: longest prefix at full depth, never by the top-level name alone."""

from __future__ import annotations

from collections.abc import Iterable

from seam.deplint.facts._model import Distribution


class Ownership:
    """A map from dotted modules to the distributions that ship them.

    A namespace folder belongs to nobody when several distributions have modules below it; below a folder that only
    one distribution fills, that distribution is the owner even where `__init__.py` is missing.
    """

    def __init__(self, distributions: Iterable[Distribution], namespaces: frozenset[str]) -> None:
        self._exact: dict[str, set[str]] = {}
        self._folders: dict[str, set[str]] = {}
        self._namespaces = namespaces
        for item in distributions:
            self._add(item)

    def _add(self, item: Distribution) -> None:
        folders: set[str] = set()
        for name in item.modules:
            if name not in self._namespaces:
                self._exact.setdefault(name, set()).add(item.name)
            parent = name.rpartition(".")[0]
            while parent and parent not in folders:
                folders.add(parent)
                parent = parent.rpartition(".")[0]
        for folder in folders:
            self._folders.setdefault(folder, set()).add(item.name)

    def owners(self, module: str) -> frozenset[str]:
        """The owners of the longest known prefix of `module`; empty for a shared namespace or an unknown module."""
        name = module
        while name:
            if name in self._exact:
                return frozenset(self._exact[name])
            if name in self._folders:
                found = self._folders[name]
                return frozenset(found) if len(found) == 1 and name not in self._namespaces else frozenset()
            name = name.rpartition(".")[0]
        return frozenset()

    def is_shared(self, module: str) -> bool:
        """Whether `module` is a namespace folder: several distributions lie below it and none owns it."""
        if module in self._namespaces:
            return True
        return module not in self._exact and len(self._folders.get(module, ())) > 1

    def under_namespace(self, module: str) -> str:
        """The shared namespace that `module` lies directly or deeply below without any owner, or an empty text."""
        name = module.rpartition(".")[0]
        while name:
            if self.is_shared(name):
                return name
            name = name.rpartition(".")[0]
        return ""

    def shared_modules(self) -> dict[str, frozenset[str]]:
        """Every module that more than one distribution ships, with its owners."""
        return {name: frozenset(found) for name, found in self._exact.items() if len(found) > 1}
