"""Running a Python program of this workspace as an ordinary user, who can see neither root's home nor a checkout in it."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

USER = "seam-tester"
"""Made by the CI script; `useradd --create-home seam-tester` makes it elsewhere."""

_MODULES = (
    "seam.kernel",
    "seam.sandbox_def",
    "seam.sandbox_policy",
    "seam.sandbox_bwrap",
    "seam.sandbox_landlock",
    "seam.subprocess_def",
    "seam.subprocess_local",
    "annotated_types",
    "anyio",
    "h11",
    "idna",
    "psutil",
    "pydantic",
    "pydantic_core",
    "sniffio",
    "typing_extensions",
    "typing_inspection",
)


def home() -> Path | None:
    """The user's home, `None` where there is no such user or the caller cannot become that user."""
    try:
        entry = pwd.getpwnam(USER)
    except KeyError:
        return None
    return Path(entry.pw_dir) if os.geteuid() == 0 else None


def interpreter() -> str | None:
    """A Python of this version that everybody can run."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = [f"/usr/bin/{name}", f"/usr/local/bin/{name}", os.path.realpath(sys.executable)]
    return next((place for place in places if os.access(place, os.X_OK) and _for_everybody(place)), None)


def _for_everybody(path: str) -> bool:
    """Whether every folder on the way can be entered by others."""
    real = Path(os.path.realpath(path))
    return all(parent.stat().st_mode & 0o001 for parent in real.parents) and bool(real.stat().st_mode & 0o001)


def bundle(folder: Path, files: Sequence[Path]) -> None:
    """Copy this workspace's packages, what they need, and `files` to where the user can read them."""
    for name in _MODULES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            continue  # not needed by this version of its dependents
        origin = Path(found.origin)
        target = folder / Path(*name.split("."))
        target.parent.mkdir(parents=True, exist_ok=True)
        if origin.name == "__init__.py":
            shutil.copytree(origin.parent, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(origin, target.with_suffix(".py"))
    for file in files:
        shutil.copy(file, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def run(python: str, folder: Path, script: str, arguments: Sequence[str], *, timeout: float) -> None:
    """Run a script of the bundle as the user.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    entry = pwd.getpwnam(USER)
    command = (
        *("setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"),
        *(python, "-s", str(folder / script), *arguments),
    )
    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": entry.pw_dir, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        command, cwd=entry.pw_dir, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{script} failed as {USER}: {done.stderr[-3000:]}")
