"""The command line in this process, over distributions that a test lays out."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from host_distributions import consumer, implementer, install, plugin_code
from typer.testing import CliRunner, Result

from seam.host import _inventory
from seam.host._installed import Installed, InstalledProblem, read_installed
from seam.host.cli._app import app

RUNTIME = """
from seam.kernel import plugin
from seam.tools_def import Journal, Permissions, Tools
from seam.exec_def import ShellExecutor
from pydantic import BaseModel, ConfigDict
from seam.kernel import DeploymentPath

class Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")
    path: DeploymentPath

@plugin(provides=[Tools])
async def tools(ctx, config):
    yield

@plugin(provides=[Journal], config=Kept)
async def journal(ctx, config):
    yield

@plugin(provides=[ShellExecutor])
async def shell(ctx, config):
    yield

@plugin(requires=[ShellExecutor], optional=[Permissions])
async def shell_tool(ctx, config):
    yield
"""

COMPLETE = """
[agents.default]
workspace = "."
[process.journal]
use = "kept"
path = "journal.db"
[implement.tools]
use = "fake"
[implement.exec]
use = "fake"
[consume.shell-tool]
"""


@contextmanager
def site_packages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A folder that is the only place where distributions are looked for; what is imported from it is forgotten."""
    folder.mkdir()

    def only_here(path: Sequence[str] | None = None) -> tuple[list[Installed], list[InstalledProblem]]:
        return read_installed([str(folder)])

    monkeypatch.setattr(_inventory, "read_installed", only_here)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    known = set(sys.modules)
    yield folder
    for name in set(sys.modules) - known:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    importlib.invalidate_caches()


def install_runtime(folder: Path, *, shell: bool = True) -> None:
    """Implementers of `tools`, `journal` and (with `shell`) `exec`, and a consumer of `exec`."""
    (folder / "host_cli_runtime.py").write_text(RUNTIME)
    points = implementer("tools", "fake", "host_cli_runtime:tools")
    points += implementer("journal", "kept", "host_cli_runtime:journal")
    install(folder, "fake-runtime", "1.5", entry_points=points)
    install(folder, "fake-shell-tool", entry_points=consumer("shell-tool", "host_cli_runtime:shell_tool"))
    if shell:
        install(folder, "fake-shell", entry_points=implementer("exec", "fake", "host_cli_runtime:shell"))


def install_broken(folder: Path) -> None:
    """A consumer whose module raises, and says so in a file when somebody imports it."""
    code = f"from pathlib import Path\nPath({str(folder / 'imported')!r}).touch()\nraise RuntimeError('half installed')\n"
    install(
        folder,
        "broken",
        entry_points=consumer("bad", "host_cli_broken:bad"),
        modules={"host_cli_broken.py": code},
    )


def install_good(folder: Path) -> None:
    """A consumer that needs nothing."""
    modules = {"host_cli_good.py": plugin_code()}
    install(folder, "good", entry_points=consumer("good", "host_cli_good:good"), modules=modules)


def seam(*arguments: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


def document(result: Result) -> dict[str, object]:
    """The JSON document that a command printed."""
    found: object = json.loads(result.stdout)
    assert isinstance(found, dict)
    return {str(key): value for key, value in found.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
