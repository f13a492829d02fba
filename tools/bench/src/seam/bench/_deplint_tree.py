"""A workspace of about 100 distributions and 110,000 lines: a lawful house filled with the standard library's own code."""

from __future__ import annotations

import sysconfig
from itertools import cycle
from pathlib import Path

from seam.deplint.testing import House, Member, lawful_house

_FAMILIES = 16
"""Each has a definition, three implementers and two consumers."""


def large_house(root: Path, *, lines: int, families: int = _FAMILIES) -> House:
    """Write nothing yet: members with imports of their siblings, filled up to about `lines` lines in total."""
    house = lawful_house(root)
    for number in range(families):
        _family(house, f"fam{number}")
    _fill(house, lines)
    return house


def _family(house: House, name: str) -> None:
    kernel, definition = "seam-kernel>=0.1,<1", f"seam-{name}-def>=0.1,<1"
    source = "from seam.kernel import Service\nclass Thing(Service): ...\n"
    points = {"seam.definition": {name: f"seam.{name}_def:Thing"}}
    _add(house, Member(f"seam-{name}-def", [kernel], entry_points=points), source)
    user = f"from seam.{name}_def import Thing\ndef plugin(): ...\n"
    for how in ("local", "remote", "fast"):
        points = {f"seam.implementer.{name}": {how: f"seam.{name}_{how}:plugin"}}
        _add(house, Member(f"seam-{name}-{how}", [definition], entry_points=points), user)
    for what in ("", "x"):
        points = {"seam.consumer": {f"{name}{what}": f"seam.{name}{what}_tool:plugin"}}
        _add(house, Member(f"seam-{name}{what}-tool", [definition], entry_points=points), user)


def _add(house: House, member: Member, source: str) -> None:
    member.files = {f"{member.leaf}/__init__.py": source, f"{member.leaf}/py.typed": ""}
    house.add(member)


def _fill(house: House, lines: int) -> None:
    """Real code of many kinds; files with dynamic imports would add warnings and are left out."""
    written = 0
    members = cycle(house.members.values())
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py")):
        if any(part in {"site-packages", "lib2to3"} or "test" in part for part in path.parts):
            continue
        text = path.read_text("utf-8", errors="replace")
        if "import_module" in text or "__import__" in text or "from ." in text or "�" in text:
            continue
        member = next(members)
        member.files[f"{member.leaf}/part_{len(member.files)}.py"] = text
        written += text.count("\n")
        if written >= lines:
            return
