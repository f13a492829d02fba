"""The import package `seam` is a namespace that many distributions share; whoever ships `seam/__init__.py` breaks that."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution
from pathlib import Path

from packaging.utils import canonicalize_name

from seam.kernel import Value

INTRUDER = Path("seam/__init__.py")


class Intrusion(Value):
    """A `seam/__init__.py` that is on the path.

    Attributes:
        file: where it is.
        owner: the distribution that ships it, and its version; None where no record names one.
        unrelated: whether the owner is the other project that is called `seam`.
        hidden: distributions of Seam whose modules cannot be imported because of it (editable installs).
    """

    file: Path
    owner: str | None
    unrelated: bool = False
    hidden: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is the matter."""
        who = self.owner or "an unknown distribution"
        what = f"{who} ships {self.file}, so `seam` is no shared namespace here"
        if self.hidden:
            return f"{what}; editable installs beside it cannot be imported: {', '.join(self.hidden)}"
        return f"{what}; wheels work beside it, editable installs do not"

    @property
    def remedy(self) -> str:
        """What to do."""
        if self.unrelated:
            install = "install these from wheels" if self.hidden else "install Seam from wheels only"
            return f"it is another project of that name: uninstall it (pip uninstall seam), or {install}, or use two environments"
        if self.owner is None:
            return "remove the file: nothing of Seam ships it"
        return (
            f"tell the author of {self.owner.split()[0]}: no distribution of the namespace may ship this file"
        )


def intrusions(path: Sequence[str] | None = None) -> list[Intrusion]:
    """Every `seam/__init__.py` on `sys.path`, or on `path`. Nothing is imported."""
    folders = [Path(entry or ".") for entry in (sys.path if path is None else path)]
    files = [folder / INTRUDER for folder in dict.fromkeys(folders) if (folder / INTRUDER).is_file()]
    if not files:
        return []
    installed = list(
        importlib.metadata.distributions()
        if path is None
        else importlib.metadata.distributions(path=list(path))
    )
    hidden = tuple(sorted({name for found in installed if (name := _editable(found))}))
    return [_intrusion(file, installed, hidden) for file in files]


def _intrusion(file: Path, installed: Iterable[Distribution], hidden: tuple[str, ...]) -> Intrusion:
    for found in installed:
        if str(found.locate_file("")) == str(file.parent.parent) and _ships(found):
            name, version = _name(found), str(found.version)
            unrelated = canonicalize_name(name) == "seam"
            return Intrusion(file=file, owner=f"{name} {version}", unrelated=unrelated, hidden=hidden)
    return Intrusion(file=file, owner=None, hidden=hidden)


def _ships(found: Distribution) -> bool:
    return any(Path(str(listed)) == INTRUDER for listed in found.files or ())


def _editable(found: Distribution) -> str | None:
    """The name of a distribution of Seam that is installed as a link to its source."""
    name = _name(found)
    if not canonicalize_name(name).startswith("seam-"):
        return None
    try:
        origin: object = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    return name if "'editable': True" in repr(origin) else None


def _name(found: Distribution) -> str:
    return str((found.metadata.get_all("Name") or [""])[0])
