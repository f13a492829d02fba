"""From a policy to Landlock's rules, which can only allow: what is hidden is what no rule covers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from seam.sandbox_def import Finding, Policy, Reason, SandboxUnavailable
from seam.sandbox_landlock import _rights as rights

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
_DEVICE_FOLDERS = ("/dev/pts", "/dev/mqueue")
"""Beside `_DEVICES` all that is to be seen of /dev, as inside of bubblewrap: no disk, no kernel memory."""


class Carver:
    """Turns policies into rules. It remembers the last answer for as long as no folder that it listed has changed,
    since listing a few folders costs more than starting a command."""

    def __init__(self) -> None:
        self._key: Policy | None = None
        self._stamps: dict[str, int] = {}
        self._rules: list[tuple[str, int]] = []

    def path_rules(self, policy: Policy) -> list[tuple[str, int]]:
        """Pairs of path and rights that together permit what `policy` permits, as far as Landlock can say it.

        Args:
            policy: one that confines.
        """
        if self._key != policy or any(_stamp(path) != stamp for path, stamp in self._stamps.items()):
            self._stamps = {}
            self._rules = self._all(policy)
            self._key = policy
        return self._rules

    def _all(self, policy: Policy) -> list[tuple[str, int]]:
        hidden = {rule.path for rule in policy.hidden if _within_reach(rule.path)}
        passages = {path for rule in hidden for path in _ancestors(rule)}
        rules: list[tuple[str, int]] = [("/", rights.LIST)]
        for start in ("/", *(rule.path for rule in policy.readable if policy.access_of(rule.path) == "read")):
            rules += self._readable(start, hidden, passages)
        rules += [
            (rule.path, rights.WRITE) for rule in policy.writable if policy.access_of(rule.path) == "write"
        ]
        rules += [(path, rights.READ) for path in _DEVICE_FOLDERS if path not in hidden]
        return rules + [(f"/dev/{name}", rights.DEVICE) for name in _DEVICES]

    def _readable(self, folder: str, hidden: set[str], passages: set[str]) -> Iterator[tuple[str, int]]:
        """Rules for reading below `folder`: one for all of it, or one for each entry where something is hidden."""
        if folder not in passages:
            yield folder, rights.READ
            return
        self._stamps[folder] = _stamp(folder)
        try:
            with os.scandir(folder) as entries:
                # A symlink needs no rule: what it leads to has one, or is hidden.
                found = sorted(
                    (e.path, e.is_file(follow_symlinks=False)) for e in entries if not e.is_symlink()
                )
        except OSError:
            return  # it cannot be listed, so nobody confined can look inside either
        for path, is_file in found:
            if path in hidden or path == "/dev":
                continue
            if is_file:
                yield path, rights.FILE
            else:
                yield from self._readable(path, hidden, passages)


def _within_reach(path: str) -> bool:
    """Whether there is something at `path` that the caller itself could use."""
    return os.access(path, os.R_OK) or os.access(path, os.X_OK)


def _ancestors(path: str) -> Iterator[str]:
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path


def _stamp(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - names of any bytes
    except OSError:
        return -1


def inner_rules(policy: Policy, private: tuple[str, ...]) -> list[tuple[str, int]]:
    """Rules for inside of namespaces, where mounts hide and protect already: what is writable, and nothing else.

    Args:
        policy: one that confines.
        private: folders that belong to the command alone.
    """
    rules: list[tuple[str, int]] = [("/", rights.READ)]
    rules += [(rule.path, rights.WRITE) for rule in policy.writable]
    rules += [(path, rights.WRITE) for path in private]
    return [*rules, ("/dev", rights.READ | rights.DEVICE)]


def hidden_inside_writable(policy: Policy) -> tuple[str, ...]:
    """Hidden paths below a writable root. Landlock cannot take those that exist out of it."""
    return tuple(rule.path for rule in policy.hidden if _below_writable(rule.path, policy))


def refuse_existing(hidden: tuple[str, ...]) -> None:
    """Refuse hidden paths of `hidden_inside_writable` that exist.

    Raises:
        SandboxUnavailable: with each of them.
    """
    details = [f"hidden inside a writable root: {path}" for path in hidden if os.path.lexists(path)]
    if details:
        findings = (Finding(reason=Reason.GAP_FORBIDDEN, detail=detail) for detail in details)
        raise SandboxUnavailable(tuple(findings), "landlock")


def protected_inside_writable(policy: Policy) -> tuple[str, ...]:
    """Protected paths below a writable root, which Landlock cannot take out of it either."""
    return tuple(rule.path for rule in policy.protected if _below_writable(rule.path, policy))


def _below_writable(path: str, policy: Policy) -> bool:
    return any(path.startswith(root.path + "/") for root in policy.writable)
