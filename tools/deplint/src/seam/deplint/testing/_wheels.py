"""Wheels of members and installations of them, written by hand: no build backend, no installer, no network."""

from __future__ import annotations

import zipfile
from pathlib import Path

from seam.deplint.built import record_digest
from seam.deplint.testing._house import House, Member


def wheel_files(member: Member) -> dict[str, str]:
    """Every file of the member's wheel but RECORD."""
    stem = f"{member.name.replace('-', '_')}-{member.version}"
    info = f"{stem}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {member.name}", f"Version: {member.version}"]
    lines += [f"Requires-Dist: {text}" for text in member.dependencies]
    for extra, texts in member.extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {text}; extra == "{extra}"' for text in texts]
    files = dict(member.files)
    files[f"{info}/METADATA"] = "\n".join(lines) + "\n\nA description with: a colon.\n"
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    points = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
        for group, names in member.entry_points.items()
    ]
    if points:
        files[f"{info}/entry_points.txt"] = "\n".join(points)
    return files


def record(files: dict[str, str], info: str) -> str:
    """The RECORD of files."""
    rows = [f"{name},{record_digest(text.encode())},{len(text.encode())}" for name, text in files.items()]
    return "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"


def write_wheel(
    member: Member, folder: Path, *, files: dict[str, str] | None = None, rows: str | None = None
) -> Path:
    """Write the member's wheel; `files` and `rows` (RECORD) replace what would be right."""
    folder.mkdir(parents=True, exist_ok=True)
    content = wheel_files(member) if files is None else files
    info = next(name for name in content if ".dist-info/" in name).partition("/")[0]
    path = folder / f"{info.removesuffix('.dist-info')}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", record(content, info) if rows is None else rows)
    return path


def write_wheels(house: House, folder: Path) -> Path:
    """A wheel of every member; returns the folder."""
    for member in house.members.values():
        write_wheel(member, folder)
    return folder


def install(house: House, prefix: Path, *, python: str = "3.11") -> Path:
    """A virtual environment's shape with every member installed; returns its prefix."""
    site = prefix / "lib" / f"python{python}" / "site-packages"
    site.mkdir(parents=True, exist_ok=True)
    (prefix / "pyvenv.cfg").write_text("home = /nowhere\n", "utf-8")
    for member in house.members.values():
        files = wheel_files(member)
        info = next(name for name in files if ".dist-info/" in name).partition("/")[0]
        files[f"{info}/RECORD"] = record(files, info)
        for name, text in files.items():
            path = site / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return prefix
