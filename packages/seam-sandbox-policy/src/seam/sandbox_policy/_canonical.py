"""Paths as written, and the paths they really are."""

# Paths stay strings: they may hold any bytes, and resolving a policy must stay cheap.
# ruff: noqa: PTH116

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from seam.sandbox_policy._defaults import REFUSED_ROOTS


@dataclass(frozen=True)
class Places:
    """Where `~` and relative paths start.

    Attributes:
        home: canonical home folder.
        workspace: canonical workspace, or `None` when the call has none.
    """

    home: str
    workspace: str | None


class BadPath(Exception):
    """A path cannot be what the configuration says; the text says why."""


def expand(written: str, places: Places) -> str:
    """`~` and relative paths made absolute, once; `..` is taken out lexically.

    Raises:
        BadPath: empty, with NUL, of another user's home, or relative without a workspace.
    """
    if not written or "\0" in written:
        raise BadPath("it is empty or holds a NUL byte")
    if written == "~" or written.startswith("~/"):
        return os.path.normpath(places.home + written[1:])
    if written.startswith("~"):
        raise BadPath("homes of other users are not expanded; write the whole path")
    if written.startswith("/"):
        return os.path.normpath("/" + written.lstrip("/"))
    if places.workspace is None:
        raise BadPath("it is relative and this call has no workspace; write the whole path")
    return os.path.normpath(f"{places.workspace}/{written}")


def writable_root(path: str) -> str:
    """The canonical folder that an expanded path leads to.

    Raises:
        BadPath: missing, no folder, or one that is always refused.
    """
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode
    except OSError as error:
        raise BadPath(f"{path!r} cannot be used ({error.strerror}); make the folder first") from error
    if not stat.S_ISDIR(mode):
        raise BadPath(f"{path!r} is no folder; name the folder that holds it")
    if real in REFUSED_ROOTS:
        raise BadPath(f"{real!r} cannot be writable: {REFUSED_ROOTS[real]}")
    return real


def inside(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies below it."""
    return root in (path, "/") or path.startswith(root + "/")
