"""The tests on every further interpreter that the machine has, of those that the README claims."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

CLAIMED = ("3.11", "3.12", "3.13")
"""Versions that the tests have passed on."""

SLOW = (
    "seam-exec-local",
    "seam-exec-sandbox",
    "seam-sandbox-bwrap",
    "seam-sandbox-landlock",
    "seam-subprocess-def",
)
"""Kits whose time goes into system calls, which are the same under every interpreter; with `--all` they run too."""  # fmt: skip


def interpreters() -> dict[str, str]:
    """Version to path, for each claimed version but the one that runs this."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {
        version: found
        for version in CLAIMED
        if version != own and (found := _interpreter(version)) is not None
    }


def _interpreter(version: str) -> str | None:
    for path in _candidates(version):
        told = subprocess.run([path, "-c", _ASK], check=False, capture_output=True, text=True)
        if (
            told.returncode == 0 and told.stdout.strip() == version
        ):  # a shim may be there without its interpreter
            return path
    return None


_ASK = "import sys; print('%d.%d' % sys.version_info[:2])"


def _candidates(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    if root.is_dir():
        yield from sorted(str(path) for path in root.glob(f"{version}.*/bin/python"))


def run_tests(root: Path, version: str, interpreter: str, folder: Path, *, everything: bool) -> int:
    """Install the workspace for one interpreter and run its tests; pytest's exit code, or the installer's."""
    place = folder / version
    python = place / "bin" / "python"
    environment = {**os.environ, "VIRTUAL_ENV": str(place), "PATH": f"{place / 'bin'}:{os.environ['PATH']}"}
    members = sorted(
        path.parent for where in ("packages", "tools") for path in root.glob(f"{where}/*/pyproject.toml")
    )
    editable = [part for member in members for part in ("-e", str(member))]
    tests = [str(python), "-m", "pytest", "-q", "-m", "not full", "-o", f"cache_dir={place}/cache"]
    commands = (
        ["uv", "venv", "--quiet", "--clear", "--python", interpreter, str(place)],
        ["uv", "pip", "install", "--quiet", "--python", str(python), *editable, *_requirements(root)],
        [*tests, "-n", "2", "--dist", "loadgroup", *_tests(members, root, everything=everything)],
    )
    code = _first_failure(commands, root, environment)
    if code == TESTS_FAILED:  # bounds in seconds are part of some contracts: once more, alone, as in .ci/run
        code = _first_failure(([*tests, "--last-failed"],), root, environment)
    return code


TESTS_FAILED = 1
"""What pytest exits with when tests ran and some failed."""


def _first_failure(commands: Sequence[Sequence[str]], root: Path, environment: dict[str, str]) -> int:
    for command in commands:
        code = subprocess.run(command, check=False, cwd=root, env=environment).returncode
        if code != 0:
            return code
    return 0


def _requirements(root: Path) -> list[str]:
    table = tomllib.loads((root / "hatch.toml").read_text("utf-8"))
    return list(table["envs"]["default"]["dependencies"])


def _tests(members: Sequence[Path], root: Path, *, everything: bool) -> list[str]:
    if everything:
        return []
    return [
        str(member.relative_to(root) / "tests")
        for member in members
        if member.name not in SLOW and (member / "tests").is_dir()
    ]
