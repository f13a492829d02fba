"""What a probe's result depends on beside the runner: the boot, the user, and the namespaces of this process."""

# Paths stay strings: they may hold any bytes.
# ruff: noqa: PTH115, PTH116

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_STATUS = ("NoNewPrivs", "Seccomp", "Seccomp_filters", "CapEff", "CapBnd", "Groups")
_SETTINGS = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)

Identity = tuple[str, int, int, int, int, int, int] | tuple[str]
"""A file as it is now: path, device, inode, mode, size, and both times in nanoseconds; the path alone when missing."""


def identities(paths: Iterable[str]) -> tuple[Identity, ...]:
    """The identity of each file. A change of content, owner or mode changes it (ctime, inode(7))."""
    return tuple(_identity(path) for path in paths)


def boot_id() -> str:
    """What names this boot of the machine, empty where the kernel does not tell (random(4))."""
    return _text("/proc/sys/kernel/random/boot_id").strip()


def surroundings() -> tuple[str, ...]:
    """The user, the namespaces, the restrictions of this process, and the settings that decide over namespaces."""
    lines = (line.partition(":") for line in _text("/proc/self/status").splitlines())
    status = {name: value.strip() for name, _, value in lines}
    return (
        f"uid {os.geteuid()}",
        *(_link(f"/proc/self/ns/{name}") for name in _NAMESPACES),
        *(f"{name} {status.get(name, '')}" for name in _STATUS),
        _text("/proc/self/attr/current").strip("\0\n"),
        *(f"{name} {_text(f'/proc/sys/{name}').strip()}" for name in _SETTINGS),
    )


def _identity(path: str) -> Identity:
    try:
        facts = os.stat(path)
    except OSError:
        return (path,)  # it appears, or can be looked at, later: that is another identity
    return (
        *(path, facts.st_dev, facts.st_ino, facts.st_mode),
        *(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns),
    )


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""  # this kernel has no such namespace


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""  # this kernel has no such setting
