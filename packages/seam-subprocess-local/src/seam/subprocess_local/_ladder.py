"""Choosing the level of containment."""

from __future__ import annotations

import sys
from pathlib import Path

from seam.subprocess_def import Containment, NotSupported
from seam.subprocess_local._config import ContainmentChoice
from seam.subprocess_local._level import Level
from seam.subprocess_local._server import SpawnServer

LAUNCHER = Path(__file__).with_name("_bin") / "seam-launcher"
SERVER = Path(__file__).with_name("server") / "spawn_server.py"

_FACTS = {
    "launcher": Containment(level="launcher", whole_tree=True, host_death=True, gaps=()),
    "server": Containment(
        level="server",
        whole_tree=True,
        host_death=True,
        gaps=("Peak memory is never below that of the Python process that starts the command.",),
    ),
    "scan": Containment(
        level="scan",
        whole_tree=False,
        host_death=False,
        gaps=(
            "A descendant that leaves session and parent with an empty environment is not found.",
            "The variable SEAM_PROCESS is added to the environment, to find descendants by.",
        ),
    ),
}


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
    return _python("scan" if wanted == "scan" else "server")


def _launcher() -> SpawnServer | str:
    if not LAUNCHER.is_file():
        return (
            "this installation carries no launcher (a pure wheel; a C compiler was missing when it was built)"
        )
    server = SpawnServer((str(LAUNCHER),), _FACTS["launcher"])
    try:
        server.open()
    except OSError as problem:
        return f"{LAUNCHER} cannot be executed: {problem.strerror}"
    return server


def _python(mode: str) -> SpawnServer:
    if not sys.executable:
        raise NotSupported("there is no Python interpreter to run the spawn server", capability=mode)
    server = SpawnServer((sys.executable, "-I", "-S", str(SERVER), mode), _FACTS[mode])
    try:
        server.open()
    except OSError as problem:
        raise NotSupported(
            f"{sys.executable} cannot be executed: {problem.strerror}", capability=mode
        ) from None
    return server
