"""Where an interpreter keeps its distributions. A virtual environment is read from disk; nothing of it is run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import cast

_ASK = """
import json, sysconfig
schemes = {sysconfig.get_default_scheme(), "posix_prefix", "posix_local", "deb_system"} & set(sysconfig.get_scheme_names())
print(json.dumps(sorted({sysconfig.get_path(part, scheme) for scheme in schemes for part in ("purelib", "platlib")})))
"""
"""Debian keeps packages of the system and of pip apart, in schemes of its own."""


class NoEnvironment(Exception):
    """The path is neither an interpreter nor an environment."""


def site_folders(path: Path) -> list[Path]:
    """The site-packages folders of an interpreter, a virtual environment or a site-packages folder itself.

    A system interpreter is asked with `-I -S`: isolated and without `site`, so no `.pth` file and nothing installed runs.
    """
    if path.is_dir() and path.name in {"site-packages", "dist-packages"}:
        return [path]
    for prefix in (path, path.parent, path.parent.parent):
        if (prefix / "pyvenv.cfg").is_file():
            return _of_prefix(prefix)
    if path.is_dir() and (found := _globbed(path)):
        return found
    if path.is_file():
        return _ask(path)
    raise NoEnvironment(
        f"{path} is neither an interpreter nor a virtual environment nor a site-packages folder"
    )


def _of_prefix(prefix: Path) -> list[Path]:
    found = _globbed(prefix)
    if not found:
        raise NoEnvironment(f"the virtual environment {prefix} has no site-packages folder")
    settings: dict[str, str] = {}
    for line in (prefix / "pyvenv.cfg").read_text("utf-8").splitlines():
        name, _, value = line.partition("=")
        settings[name.strip().lower()] = value.strip()
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        base = Path(settings["home"]) / "python3"
        found += [folder for folder in _ask(base) if folder not in found] if base.is_file() else []
    return found


def _globbed(prefix: Path) -> list[Path]:
    patterns = ("lib/python*/site-packages", "lib64/python*/site-packages", "Lib/site-packages")
    found: dict[Path, Path] = {}
    for pattern in patterns:
        for folder in sorted(prefix.glob(pattern)):
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _ask(interpreter: Path) -> list[Path]:
    try:
        done = subprocess.run(
            [str(interpreter), "-I", "-S", "-c", _ASK], capture_output=True, text=True, check=True
        )
        folders = cast("list[str]", json.loads(done.stdout))
    except (OSError, subprocess.CalledProcessError, ValueError) as problem:
        raise NoEnvironment(f"{interpreter} does not answer as a Python interpreter: {problem}") from problem
    return [Path(folder) for folder in folders if Path(folder).is_dir()]
