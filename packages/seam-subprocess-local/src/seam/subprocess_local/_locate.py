"""Finding executables."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from seam.subprocess_def import ExecutableNotFound, NotExecutable


def which(name: str, env: Mapping[str, str]) -> str | None:
    """The absolute path that `name` would run with PATH of `env`; None when there is none."""
    return _look(name, env)[0]


def locate(name: str, env: Mapping[str, str]) -> str:
    """As `which`, for a start.

    Raises:
        ExecutableNotFound: no folder of PATH has it.
        NotExecutable: one has it, and this user may not execute it.
    """
    if "/" in name:
        return name
    found, refused = _look(name, env)
    if found is not None:
        return found
    if refused is not None:
        raise NotExecutable(
            f"{refused!r} may not be executed by this user; nothing was run",
            argv0=name,
            path=refused,
            reason="permission",
        )
    searched = tuple(_folders(env))
    raise ExecutableNotFound(
        f"there is no program {name!r} in PATH ({':'.join(searched) or 'which is empty or missing'}); "
        "install it, or give its path",
        argv0=name,
        searched=searched,
    )


def _folders(env: Mapping[str, str]) -> list[str]:
    return [folder.rstrip("/") for folder in env.get("PATH", "").split(":") if folder.startswith("/")]


def _look(name: str, env: Mapping[str, str]) -> tuple[str | None, str | None]:
    if not name or "\0" in name:
        return None, None
    if "/" in name:
        return (
            (name, None)
            if name.startswith("/") and _is_file(name) and os.access(name, os.X_OK)
            else (None, None)
        )
    folders = _folders(env)
    for folder in folders:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK) and _is_file(path):  # access first: it answers without an exception
            return path, None
    return None, next((f"{folder}/{name}" for folder in folders if _is_file(f"{folder}/{name}")), None)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - on the way of every start
    except (OSError, ValueError):
        return False
