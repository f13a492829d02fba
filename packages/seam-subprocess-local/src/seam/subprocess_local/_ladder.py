"""Choosing the level of containment."""

from __future__ import annotations

import sys
from pathlib import Path

from seam.subprocess_def import Containment, NotSupported
from seam.subprocess_local._config import ContainmentChoice
from seam.subprocess_local._level import Level
from seam.subprocess_local._server import SpawnServer

LAUNCHER = Path(__file__).with_name("_bin") / "seam-launcher"


def choose(wanted: ContainmentChoice) -> Level:
    """Start the level for a configuration; `auto` takes the best that works here.

    Raises:
        NotSupported: the level that is demanded does not work here, with the reason.
    """
    if not sys.platform.startswith("linux"):
        raise NotSupported(
            f"local processes are written for Linux, not for {sys.platform}", capability="platform"
        )
    if wanted in ("auto", "launcher"):
        found = _launcher()
        if isinstance(found, SpawnServer):
            return found
        if wanted == "launcher":
            raise NotSupported(f"containment 'launcher' does not work here: {found}", capability="launcher")
    raise NotSupported("the spawn server is not written yet", capability="server")


def _launcher() -> SpawnServer | str:
    if not LAUNCHER.is_file():
        return (
            "this installation carries no launcher (a pure wheel; a C compiler was missing when it was built)"
        )
    facts = Containment(level="launcher", whole_tree=True, host_death=True, gaps=())
    server = SpawnServer((str(LAUNCHER),), facts)
    try:
        server.open()
    except OSError as problem:
        return f"{LAUNCHER} cannot be executed: {problem.strerror}"
    return server
