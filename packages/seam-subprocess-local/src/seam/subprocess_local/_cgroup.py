"""Where cgroups of our own can be made (cgroup v2, cgroups(7))."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import anyio

_ROUNDS = 50


async def clear_cgroup(path: str) -> None:
    """Kill what is in a cgroup and remove it: the work of a supervisor that was killed itself."""
    for _ in range(_ROUNDS):
        if _try_to_clear(Path(path)):
            return
        await anyio.sleep(0.02)  # its last members are just ending


def _try_to_clear(folder: Path) -> bool:
    try:
        (folder / "cgroup.kill").write_text("1")
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False  # EBUSY
    return True


def writable_cgroup() -> str | None:
    """The folder below which this process may make cgroups that have `cgroup.kill`; None when there is none."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
        own = Path("/proc/self/cgroup").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    mount = next((line.split(" ")[4] for line in mounts if " - cgroup2 " in line), None)
    path = next((line[3:] for line in own if line.startswith("0::")), None)
    if mount is None or path is None or not path.startswith("/"):
        return None
    folder = Path(f"{mount.rstrip('/')}{path}")
    probe = folder / f"seam-probe-{secrets.token_hex(6)}"
    try:
        probe.mkdir()
    except OSError:
        return None  # not ours to write: the ordinary case
    usable = os.access(probe / "cgroup.kill", os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)
    probe.rmdir()
    return str(folder) if usable else None
