"""The hardened profile: bwrap's arguments for one plan of mounts.

Source: bwrap(1). The reasons are in docs/decisions/0051-sandbox-layers.md.
"""

# Paths stay strings: they may hold any bytes.
# ruff: noqa: PTH110

from __future__ import annotations

import os
from dataclasses import dataclass

from seam.sandbox_bwrap._mounts import Mount, Plan
from seam.sandbox_def import InheritedPath

FIRST_FREE = 68
"""First descriptor for binds and masks; the launcher and the arguments have those before."""

MOST_BOUND_BY_DESCRIPTOR = 100
"""Roots that are bound by descriptor; a start cannot carry many more (253 in one message, unix(7))."""

LAUNCHER_FOLDER = "/run/seam"
"""Where the launcher is found inside, whatever is hidden there otherwise."""


@dataclass(frozen=True)
class Shape:
    """What this machine permits.

    Attributes:
        private_proc: a /proc of its own can be mounted.
        own_network: the command gets a network namespace.
        bind_fd: binds by descriptor are possible.
        disable_userns: further user namespaces can be forbidden by number.
        root: the caller is root.
        landlock: Landlock is a layer inside.
    """

    private_proc: bool
    own_network: bool
    bind_fd: bool
    disable_userns: bool
    root: bool
    landlock: bool


@dataclass(frozen=True)
class Arguments:
    """Arguments, and the descriptors that they name."""

    options: tuple[str, ...]
    paths: tuple[InheritedPath, ...]


_ROOT_ONLY = ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs")
"""What files of /proc root may write although every capability is gone: their owner is root. Where Landlock is a layer
it refuses all of them already; the first is bound in any case, the others each cost 0.15 ms."""
_SYSRQ = "/proc/sysrq-trigger"


def arguments(plan: Plan, shape: Shape, *, launcher: str, size: int | None, socket: str | None) -> Arguments:
    """Assemble the profile.

    Args:
        plan: see `plan_mounts`.
        shape: see `Shape`.
        launcher: file of the launcher, bound into `LAUNCHER_FOLDER`.
        size: bytes of each private temporary folder, `None` for half of the memory.
        socket: path of the proxy's socket, bound into `LAUNCHER_FOLDER`.
    """
    assembly = _Assembly(shape, size)
    assembly.options += [*_namespaces(shape), "--ro-bind", "/", "/", "--dev", "/dev", *_proc(shape)]
    for mount in plan.mounts:
        assembly.mount(mount, opened=mount.path in plan.open_hidden or mount.path == "/run")
    if not any(mount.path == "/run" for mount in plan.mounts):
        assembly.mount(Mount("/run", "hidden"), opened=True)
    for target, path in plan.links:
        assembly.options += ["--symlink", target, path]
    assembly.options += ["--ro-bind", launcher, f"{LAUNCHER_FOLDER}/confine"]
    if socket is not None:
        assembly.options += ["--bind", socket, f"{LAUNCHER_FOLDER}/proxy"]
    for path in assembly.read_only:
        assembly.options += ["--remount-ro", path]
    return Arguments(tuple(assembly.options), tuple(assembly.paths))


class _Assembly:
    """Collects options, and numbers the descriptors that they name."""

    def __init__(self, shape: Shape, size: int | None) -> None:
        self._shape = shape
        self._size = [] if size is None else ["--size", str(size)]
        self._number = FIRST_FREE
        self.options: list[str] = []
        self.paths: list[InheritedPath] = []
        self.read_only: list[str] = []

    def mount(self, mount: Mount, *, opened: bool) -> None:
        """Append what mounts one entry of the plan; `opened`: something below it is visible."""
        match mount.kind:
            case "private":
                self.options += ["--perms", "1777", *self._size, "--tmpfs", mount.path]
            case "hidden" if mount.folder:
                self._mask(mount.path, "0111" if opened else "0000", opened=opened)
            case "hidden":
                # A device on a mount that permits none: it cannot be opened, and no descriptor is needed for it.
                self.options += ["--ro-bind", "/dev/null", mount.path]
            case "ghost":
                self._mask(mount.path, "0555", opened=False)
            case "writable" if self._shape.bind_fd and len(self.paths) < MOST_BOUND_BY_DESCRIPTOR:
                number = self._next()
                self.options += ["--bind-fd", str(number), mount.path]
                self.paths.append(InheritedPath(number=number, path=mount.path))
            case "writable" | "pin":
                self.options += ["--bind", mount.path, mount.path]
            case _:
                self.options += ["--ro-bind", mount.path, mount.path]

    def _mask(self, path: str, mode: str, *, opened: bool) -> None:
        # Making a mask read-only takes ten times as long as making it (bwrap reads all mounts for it). The command owns a
        # mask and could change its mode: what it then writes is nowhere, one page of it at most. Where something is
        # mounted inside, its place is the sandbox's.
        self.options += ["--perms", mode, "--size", "4096", "--tmpfs", path]
        if opened:
            self.read_only.append(path)

    def _next(self) -> int:
        self._number += 1
        return self._number - 1


def _proc(shape: Shape) -> list[str]:
    options = ["--proc", "/proc"] if shape.private_proc else ["--ro-bind", "/proc", "/proc"]
    if shape.root:
        for path in filter(os.path.exists, _ROOT_ONLY[:1] if shape.landlock else _ROOT_ONLY):
            options += ["--ro-bind", path, path]
        if not shape.landlock and os.path.exists(_SYSRQ):
            options += ["--ro-bind", "/dev/null", _SYSRQ]
    return options


def _namespaces(shape: Shape) -> list[str]:
    options = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--unshare-net"] if shape.own_network else []
    options += ["--disable-userns"] if shape.disable_userns else []
    return [*options, "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--hostname", "sandbox"]
