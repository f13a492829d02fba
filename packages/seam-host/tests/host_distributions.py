"""Distributions that are installed by hand, so that they can be broken in every way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

PLUGIN = """
from seam.kernel import plugin

@plugin({arguments})
async def {name}(ctx, config):
    yield
"""


def plugin_code(name: str = "good", *, needs: str = "") -> str:
    """A module with one plugin that needs nothing, or the arguments of `@plugin` given."""
    return PLUGIN.format(name=name, arguments=needs)


def install(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    entry_points: str = "",
    requires: Sequence[str] = (),
    modules: Mapping[str, str] | None = None,
) -> Path:
    """Lay a distribution into a folder as an installer would; answers its metadata folder."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    if entry_points:
        (info / "entry_points.txt").write_text(entry_points)
    for path, text in (modules or {}).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return info


def consumer(name: str, reference: str) -> str:
    """An `entry_points.txt` with one consumer."""
    return f"[seam.consumer]\n{name} = {reference}\n"


def implementer(key: str, mechanism: str, reference: str) -> str:
    """An `entry_points.txt` with one implementer."""
    return f"[seam.implementer.{key}]\n{mechanism} = {reference}\n"
