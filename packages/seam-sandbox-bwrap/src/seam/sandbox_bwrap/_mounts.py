"""From a policy to mounts, outermost first, so that the most specific rule is mounted last and wins."""

# Paths stay strings: they may hold any bytes.
# ruff: noqa: PTH112, PTH114, PTH115, PTH116, PTH118, PTH120

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field

from seam.sandbox_def import LinkRefused, Policy, WorkspaceChanged

PRIVATE = ("/tmp", "/var/tmp")
"""Shared temporary folders, each replaced by an empty one of the command's own."""

_OWN = (*PRIVATE, "/dev/shm")
"""Hidden by being replaced, not by a mask; /dev/shm comes with the command's own /dev."""

_MOST_LINKS = 40
"""As many as the kernel follows."""

_RANK = {"private": 0, "readable": 1, "pin": 2, "writable": 3, "ghost": 4, "protected": 5, "hidden": 6}
"""On one path a higher kind replaces a lower one, as the policy says; a pin of a writable root is that root."""


@dataclass(frozen=True)
class Mount:
    """One thing to mount.

    Attributes:
        path: where, and for binds also from where.
        kind: `private`, `hidden`, `readable`, `writable`, `pin` (stays writable but cannot be moved),
            `protected`, or `ghost` (protected, and does not exist yet).
        folder: whether it is a folder.
    """

    path: str
    kind: str
    folder: bool = True


@dataclass
class Plan:
    """Everything to mount for one command.

    Attributes:
        mounts: in the order in which they must be made.
        ghosts: mount points that the runner will create on the real disk, to be removed afterwards.
        open_hidden: hidden folders that have something visible below them.
        links: pairs of target and path: symlinks by which a root was named, and which a mask would hide.
    """

    mounts: list[Mount] = field(default_factory=list[Mount])
    ghosts: list[str] = field(default_factory=list[str])
    open_hidden: set[str] = field(default_factory=set[str])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def plan_mounts(policy: Policy, ghosts: frozenset[str]) -> Plan:
    """Look at each rule of a policy on this machine.

    Args:
        policy: one that confines.
        ghosts: mount points that other commands have made; they count as missing.

    Raises:
        WorkspaceChanged: a writable root is not a folder any more.
        LinkRefused: a protected path has become a symlink.
    """
    found: dict[str, Mount] = {}

    def add(path: str, kind: str, folder: bool) -> None:
        # A path may have several rules; the strongest is the one of the highest rank.
        known = found.get(path)
        if known is None or _RANK[kind] > _RANK[known.kind]:
            found[path] = Mount(path, kind, folder)

    plan = Plan()
    for rule in policy.writable:
        _must_be_folder(rule.path)
        add(rule.path, "writable", True)
    for rule in policy.protected:
        root = _root_of(rule.path, policy)
        if root is not None:
            _protect(rule.path, root, ghosts, add, plan)
    for path in PRIVATE:
        if os.path.isdir(path):
            add(path, "private", True)
    for rule in policy.hidden:
        folder = _kind_of(rule.path)
        if folder is not None and rule.path not in _OWN:
            add(rule.path, "hidden", folder)
    for rule in policy.readable:
        folder = _kind_of(rule.path)
        if folder is not None and policy.access_of(rule.path) == "read":
            add(rule.path, "readable", folder)
    plan.mounts = sorted(found.values(), key=lambda mount: (mount.path.count("/"), mount.path))
    plan.open_hidden = {
        mount.path
        for mount in plan.mounts
        if mount.kind == "hidden" and any(other.path.startswith(mount.path + "/") for other in plan.mounts)
    }
    masked = [mount.path for mount in plan.mounts if mount.kind in ("private", "hidden") and mount.folder]
    for rule in policy.writable + policy.readable:
        plan.links += [
            link for link in _links_to(rule.given) if _covered(link[1], masked) and link not in plan.links
        ]
    return plan


def _links_to(given: str | None) -> list[tuple[str, str]]:
    """The symlinks that a path leads through, as pairs of target and place."""
    found: list[tuple[str, str]] = []
    rest = given or ""
    while rest.startswith("/") and len(found) < _MOST_LINKS:
        current = ""
        for name in rest.strip("/").split("/"):
            current = f"{current}/{name}"
            if os.path.islink(current):
                break
        else:
            return found
        target = os.readlink(current)
        found.append((target, current))
        whole = os.path.join(os.path.dirname(current), target)
        rest = os.path.normpath(whole + rest[len(current) :])
    return found


def _covered(path: str, masked: list[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in masked)


def _protect(
    path: str, root: str, ghosts: frozenset[str], add: Callable[[str, str, bool], None], plan: Plan
) -> None:
    """Pin every folder on the way, mask the path itself, or the first component of it that is missing."""
    current = root
    names = path[len(root) + 1 :].split("/")
    for index, name in enumerate(names):
        current = f"{current}/{name}"
        last = index == len(names) - 1
        mode = None if current in ghosts else _mode_of(current)
        if mode is None:
            plan.ghosts.append(current)
            add(current, "ghost", True)
            return
        if stat.S_ISLNK(mode):
            raise LinkRefused(
                f"{current!r} is protected and has become a symlink, which cannot be pinned. Replace it by what it "
                f"points to.",
                path=current,
                kind="symlink",
                target=os.readlink(current),
            )
        if last:
            add(current, "protected", stat.S_ISDIR(mode))
        elif not stat.S_ISDIR(mode):
            add(current, "protected", False)
            return
        else:
            add(current, "pin", True)


def _mode_of(path: str) -> int | None:
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:
        return None


def _must_be_folder(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        mode = 0
    if not stat.S_ISDIR(mode):
        raise WorkspaceChanged(
            f"{path!r} is not the folder any more that the policy was made for; see what replaced it, then try again.",
            path=path,
        )


def _kind_of(path: str) -> bool | None:
    """Whether an existing path is a folder; `None` when there is nothing, or nothing the caller could read."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    return stat.S_ISDIR(mode) if os.access(path, os.R_OK) else None


def _root_of(path: str, policy: Policy) -> str | None:
    roots = [rule.path for rule in policy.writable if path.startswith(rule.path + "/")]
    return max(roots, key=len, default=None)
