"""import-linter, tach and deptry: installed in environments of their own, configured as well as they can be for the house."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from seam.deplint.testing import House, Member, install

Command = list[str]


@dataclass(frozen=True)
class Outcome:
    """One run: how it ended and what it said."""

    code: int
    text: str


@dataclass(frozen=True)
class Rival:
    """Another linter: its distribution, how it is configured for a house, and what is run then."""

    name: str
    configure: Callable[[House], None]
    commands: Callable[[House, Path, str], list[tuple[Command, Path, Mapping[str, str]]]]

    def check(self, house: House, folder: Path, only: str = "") -> Outcome:
        """Configure and run; the worst exit code counts. `only` is enough for tools that look at one distribution a run."""
        self.configure(house)
        worst, said = 0, ""
        for command, where, extra in self.commands(house, folder, only):
            env = {**os.environ, **extra, "NO_COLOR": "1"}
            done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
            worst, said = max(worst, done.returncode), said + done.stdout + done.stderr
        return Outcome(worst, said)


def prepare(folder: Path) -> dict[str, str]:
    """An environment for each rival; returns the versions that pip installed."""
    versions: dict[str, str] = {}
    for name in ("import-linter", "tach", "deptry"):
        python = folder / name / "bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "-q", name], check=True, capture_output=True)
        ask = f"from importlib.metadata import version; print(version({name!r}))"
        done = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=True)
        versions[name] = done.stdout.strip()
    return versions


def _leaf(member: Member) -> str:
    return member.leaf.replace("/", ".")


def _lawful(house: House, member: Member) -> list[Member]:
    """What a member may import by the law, told by the endings of the names."""
    if member.name in {"seam-kernel"}:
        return []
    library = [other for other in house.members.values() if other.name == "seam-glue"]
    may = [other for other in house.members.values() if other.name.endswith(("-def", "-kernel"))]
    if member.name == "seam-glue":
        return [other for other in house.members.values() if other is not member]
    return [other for other in may if other is not member] + (
        library if member.name.endswith("-tool") else []
    )


def _sources(house: House) -> str:
    return os.pathsep.join(str(house.root / "packages" / name / "src") for name in house.members)


def _configure_import_linter(house: House) -> None:
    lines = ["[importlinter]", "root_packages ="]
    lines += [f"    {_leaf(member)}" for member in house.members.values()]
    for member in house.members.values():
        lawful = {other.name for other in _lawful(house, member)}
        forbidden = [
            other for other in house.members.values() if other.name not in lawful and other is not member
        ]
        lines += [f"[importlinter:contract:{member.name}]", f"name = {member.name}", "type = forbidden"]
        lines += ["source_modules =", f"    {_leaf(member)}", "forbidden_modules ="]
        lines += [f"    {_leaf(other)}" for other in forbidden]
    (house.root / ".importlinter").write_text("\n".join(lines) + "\n", "utf-8")


def _configure_tach(house: House) -> None:
    roots = ", ".join(f'"packages/{name}/src"' for name in house.members)
    lines = [f"source_roots = [{roots}]", "exact = false", 'root_module = "ignore"']
    for member in house.members.values():
        lawful = ", ".join(f'"{_leaf(other)}"' for other in _lawful(house, member))
        lines += ["[[modules]]", f'path = "{_leaf(member)}"', f"depends_on = [{lawful}]"]
    (house.root / "tach.toml").write_text("\n".join(lines) + "\n", "utf-8")


def _configure_deptry(house: House) -> None:
    install(
        house, house.root / ".siblings"
    )  # deptry learns which distribution has which modules from metadata


def _import_linter(house: House, folder: Path, only: str) -> list[tuple[Command, Path, Mapping[str, str]]]:
    command = [str(folder / "import-linter/bin/lint-imports"), "--no-cache"]
    return [(command, house.root, {"PYTHONPATH": _sources(house)})]


def _tach(house: House, folder: Path, only: str) -> list[tuple[Command, Path, Mapping[str, str]]]:
    binary = str(folder / "tach/bin/tach")
    return [([binary, "check"], house.root, {}), ([binary, "check-external"], house.root, {})]


def _deptry(house: House, folder: Path, only: str) -> list[tuple[Command, Path, Mapping[str, str]]]:
    site = next((house.root / ".siblings").glob("lib/python*/site-packages"))
    extra = {"PYTHONPATH": str(site)}
    return [
        ([str(folder / "deptry/bin/deptry"), "src"], house.root / "packages" / name, extra)
        for name in ([only] if only else house.members)
    ]


RIVALS = (
    Rival("import-linter", _configure_import_linter, _import_linter),
    Rival("tach", _configure_tach, _tach),
    Rival("deptry", _configure_deptry, _deptry),
)
