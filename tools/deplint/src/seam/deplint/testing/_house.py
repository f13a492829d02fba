"""Workspaces of tiny distributions, written to a folder, for tests that plant a fault in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Member:
    """One distribution to be written. `files` are paths below `src/`."""

    name: str
    dependencies: list[str] = field(default_factory=list[str])
    extras: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    entry_points: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    files: dict[str, str] = field(default_factory=dict[str, str])
    version: str = "0.1.0"
    packed: str = "src/seam"
    extra_toml: str = ""

    @property
    def leaf(self) -> str:
        """The folder of the one leaf, below `src/`."""
        head, _, rest = self.name.partition("-")
        return f"{head}/{rest.replace('-', '_')}"

    def manifest(self) -> str:
        """The pyproject.toml."""
        lines = [
            '[build-system]\nrequires = ["hatchling>=1.26"]\nbuild-backend = "hatchling.build"\n',
            f'[project]\nname = "{self.name}"\nversion = "{self.version}"',
            f"dependencies = {_array(self.dependencies)}\n",
        ]
        if self.extras:
            lines.append("[project.optional-dependencies]")
            lines += [f"{name} = {_array(items)}" for name, items in self.extras.items()]
        for group, points in self.entry_points.items():
            lines.append(f'\n[project.entry-points."{group}"]')
            lines += [f'"{name}" = "{value}"' for name, value in points.items()]
        lines.append(f'\n[tool.hatch.build.targets.wheel]\npackages = ["{self.packed}"]\n')
        return "\n".join([*lines, self.extra_toml, ""])


@dataclass
class House:
    """A workspace: change its members, then `write` it."""

    root: Path
    members: dict[str, Member] = field(default_factory=dict[str, Member])
    settings: str = '[tool.seam-deplint]\npreset = "seam"\nmembers = ["packages/*"]\n'

    def add(self, member: Member) -> Member:
        """Put a member into the house."""
        self.members[member.name] = member
        return member

    def __getitem__(self, name: str) -> Member:
        return self.members[name]

    def write(self) -> Path:
        """Write every file; returns the root."""
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "pyproject.toml").write_text(self.settings, "utf-8")
        for member in self.members.values():
            folder = self.root / "packages" / member.name
            _write(folder / "pyproject.toml", member.manifest())
            for path, text in member.files.items():
                _write(folder / "src" / path, text)
        return self.root


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _array(items: list[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"


def lawful_house(root: Path) -> House:
    """Kernel, one definition, two implementers, two consumers and an assembly, without a single finding."""
    house = House(root)
    kernel, defs = "seam-kernel>=0.1,<1", "seam-exec-def>=0.1,<1"
    house.add(_member("seam-kernel", "class Service: ...\nclass Context: ...\n"))
    house.add(
        _member(
            "seam-exec-def",
            "from seam.kernel import Service\nclass ShellExecutor(Service): ...\n",
            [kernel],
            {"seam.definition": {"exec": "seam.exec_def:ShellExecutor"}},
        )
    )
    for how in ("local", "remote"):
        house.add(
            _member(
                f"seam-exec-{how}",
                f"from seam.kernel import Context\nfrom seam.exec_def import ShellExecutor\ndef {how}(): ...\n",
                [kernel, defs],
                {"seam.implementer.exec": {how: f"seam.exec_{how}:{how}"}},
            )
        )
    for name in ("exec", "watch"):
        house.add(
            _member(
                f"seam-{name}-tool",
                "from seam.exec_def import ShellExecutor\ndef tool(): ...\n",
                [defs],
                {"seam.consumer": {f"{name}-tool": f"seam.{name}_tool:tool"}},
            )
        )
    house.add(_member("seam-host", "from seam.kernel import Context\n", [kernel]))
    return house


def _member(
    name: str,
    source: str,
    dependencies: list[str] | None = None,
    entry_points: dict[str, dict[str, str]] | None = None,
) -> Member:
    member = Member(name, dependencies or [], entry_points=entry_points or {})
    member.files = {f"{member.leaf}/__init__.py": source, f"{member.leaf}/py.typed": ""}
    return member
