"""Links that would undo a rule: found and refused before anything runs."""

# Paths stay strings: they may hold any bytes, and resolving a policy must stay cheap.
# ruff: noqa: PTH114, PTH115, PTH118, PTH120

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from seam.sandbox_def import LinkRefused, PathRule
from seam.sandbox_policy._canonical import inside
from seam.sandbox_policy._scene import Look

_MOST_LINKS = 40
"""As many as the kernel follows."""


def refuse_symlink(path: str, root: str, look: Look) -> None:
    """Refuse a protected path below `root` of which any component is a symlink: a command could replace the
    link, and a mount cannot be pinned on it.

    Raises:
        LinkRefused: with the link and its target.
    """
    current = root
    for name in path[len(root) :].strip("/").split("/"):
        current = f"{current}/{name}"
        facts = look.facts(current)
        if facts is None:
            return  # the rest does not exist (or cannot be looked at, then nobody confined can either)
        if stat.S_ISLNK(facts.st_mode):
            target = os.readlink(current)
            raise LinkRefused(
                f"{current!r} is protected and a symlink to {target!r}, which cannot be pinned. Replace it by what it "
                f"points to, or list it in unprotected.",
                path=current,
                kind="symlink",
                target=target,
            )


def links_on(path: str) -> Iterator[str]:
    """Where each symlink lies that the resolution of an absolute path follows, as far as the kernel follows them."""
    rest, followed = path, 0
    while followed < _MOST_LINKS:
        current = ""
        for name in rest.strip("/").split("/"):
            current = f"{current}/{name}"
            if os.path.islink(current):
                break
        else:
            return
        yield current
        followed += 1
        whole = os.path.join(os.path.dirname(current), os.readlink(current))
        rest = os.path.normpath(whole + rest[len(current) :])


def refuse_hard_links(rules: tuple[PathRule, ...], kind: str, look: Look) -> None:
    """Refuse a protected or hidden file that has a second name: the rule would hold for one name only.

    Raises:
        LinkRefused: with the file.
    """
    for rule in rules:
        facts = look.facts(rule.path)
        if facts is not None and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
            raise LinkRefused(
                f"{rule.path!r} is {kind} and has {facts.st_nlink} names (hard links); the others would not be {kind}. "
                f"Make it a file of its own (cp, then mv), or take it from the list.",
                path=rule.path,
                kind="hard-link",
                target=None,
            )


def writable_by_link(path: str, writable: tuple[PathRule, ...], look: Look) -> str | None:
    """The canonical path of a protected path given through a link outside of every root, else `None`."""
    real = look.canonical(path)
    return real if any(inside(real, rule.path) for rule in writable) else None
