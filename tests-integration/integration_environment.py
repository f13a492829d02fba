"""A virtual environment with chosen wheels, and how a command in it ended."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        """Its standard output, read as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Environment:
    """A virtual environment with nothing of ours but what was asked for."""

    path: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.path / "bin" / "python"

    def run(self, *command: str, cwd: Path) -> Ran:
        """Run a program of the environment, without anything of this process's environment but PATH and HOME."""
        kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
        done = subprocess.run(
            [str(self.path / "bin" / command[0]), *command[1:]],
            cwd=cwd,
            env=kept,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def imports(self, module: str) -> bool:
        """Whether a module can be imported there."""
        return (
            subprocess.run(
                [str(self.python), "-c", f"import {module}"], capture_output=True, check=False
            ).returncode
            == 0
        )
