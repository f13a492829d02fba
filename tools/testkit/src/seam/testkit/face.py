"""The public face of a package: what `__init__` binds, what `__all__` says, what is documented."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from types import ModuleType

MEANS = frozenset({"TYPE_CHECKING", "lazy_exports"})
"""What a package needs to be lazy, and offers nobody."""


def face_problems(package: ModuleType, recorded: Collection[str] | None = None) -> list[str]:
    """What is wrong with a package's public face; empty when it is exact.

    `__all__` must be sorted, free of duplicates, and equal to what `__init__` binds (submodules and private names
    aside); every public class and function has a docstring of its own. With `recorded`, it must also be exactly
    these names: a face that changes by accident fails a test.
    """
    listed: list[str] = list(getattr(package, "__all__", ()))
    # what a lazy package has is bound when it is first used, and its `__dir__` knows it before
    bound = {
        name
        for name in dir(package)
        if not name.startswith("_")
        and name not in MEANS
        and not inspect.ismodule(getattr(package, name, None))
    }
    found: list[str] = []
    if listed != sorted(set(listed)):
        found.append("__all__ is not sorted, or names something twice")
    found += [
        f"__all__ names {name!r}, which is not bound"
        for name in sorted(set(listed))
        if not hasattr(package, name)
    ]
    found += [f"{name!r} is bound but not in __all__" for name in sorted(bound - set(listed))]
    found += [f"{name!r} has no docstring of its own" for name in listed if not _documented(package, name)]
    if recorded is not None:
        found += [f"{name!r} is new" for name in sorted(set(listed) - set(recorded))]
        found += [f"{name!r} is gone" for name in sorted(set(recorded) - set(listed))]
    return found


def _documented(package: ModuleType, name: str) -> bool:
    value: object = getattr(package, name, None)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return True  # constants and type aliases are documented beside their definition
    text = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    return bool(text) and not str(text).startswith(f"{name}(")  # what dataclass writes by itself
