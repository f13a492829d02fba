"""The path lists of one policy: defaults and configuration, canonical, with reasons."""

# Paths stay strings: they may hold any bytes, and resolving a policy must stay cheap.
# ruff: noqa: PTH112, PTH113, PTH114

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from seam.sandbox_def import InvalidPolicy, PathRule
from seam.sandbox_policy import _defaults as defaults
from seam.sandbox_policy._canonical import BadPath, inside, writable_root
from seam.sandbox_policy._config import PolicyConfig
from seam.sandbox_policy._links import links_on, refuse_symlink, writable_by_link
from seam.sandbox_policy._scene import Scene


def writable_rules(config: PolicyConfig, scene: Scene, workspace: str | None) -> tuple[PathRule, ...]:
    """The workspace, as the request names it, and the configured roots.

    Raises:
        InvalidPolicy: with every root that cannot be one.
    """
    rules: dict[str, PathRule] = {}
    problems: list[tuple[str, str]] = []
    through_links: list[tuple[str, str]] = []
    asked = [] if workspace is None else [("workspace", workspace, "the workspace", "workspace")]
    asked += [
        (f"writable[{i}]", w, "listed as writable", "deployment") for i, w in enumerate(config.writable)
    ]
    for place, written, reason, source in asked:
        try:
            given = scene.expand(written)
            real = writable_root(given)
        except BadPath as error:
            problems.append((place, str(error)))
            continue
        if given != real:
            through_links.append((place, given))
        rules.setdefault(real, scene.memory.rule(real, written, reason, source))
    problems += _movable(through_links, rules)
    if problems:
        raise InvalidPolicy(tuple(problems))
    return tuple(rules.values())


def _movable(given: list[tuple[str, str]], roots: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Roots named through a symlink that a command could have put there: the next root would be what it likes."""
    for place, path in given:
        for link in links_on(path):
            if any(inside(link, root) for root in roots):
                yield (
                    place,
                    f"{path!r} leads through the symlink {link!r}, which lies in a writable root; name the folder itself",
                )


def hidden_rules(config: PolicyConfig, scene: Scene) -> tuple[PathRule, ...]:
    """Credential stores and what is configured. A symlink is hidden at its target."""
    entries = [(w, r, "default") for w, r in defaults.HIDDEN.items() if w not in config.unhidden]
    entries += [(written, "listed as hidden", "deployment") for written in config.hidden]
    return _canonical_rules("hidden", entries, scene)


def readable_rules(config: PolicyConfig, scene: Scene) -> tuple[PathRule, ...]:
    """What is opened again below hidden paths."""
    entries = [(w, r, "default") for w, r in defaults.READABLE.items()]
    entries += [(written, "listed as readable", "deployment") for written in config.readable]
    return _canonical_rules("readable", entries, scene)


def protected_rules(
    config: PolicyConfig, scene: Scene, writable: tuple[PathRule, ...]
) -> tuple[PathRule, ...]:
    """What stays read-only below the writable roots.

    Raises:
        InvalidPolicy: a configured path cannot be expanded.
        LinkRefused: a protected path is, or leads through, a symlink.
    """
    found: dict[str, PathRule] = {}
    for given, written, reason, source in _protected_candidates(config, scene, writable):
        path = given
        root = _innermost(path, writable)
        if root is None:
            through = None if source == "default" else writable_by_link(path, writable, scene.look)
            if through is None:
                continue  # outside every writable root: read-only already
            path, root = through, _innermost(through, writable) or through
        if source == "default" and not config.protect_missing and scene.look.facts(path) is None:
            continue
        refuse_symlink(path, root, scene.look)
        found.setdefault(path, scene.memory.rule(path, written, reason, source))
    return tuple(found.values())


def _protected_candidates(
    config: PolicyConfig, scene: Scene, writable: tuple[PathRule, ...]
) -> Iterable[tuple[str, str, str, str]]:
    for root in writable:
        for name, reason in _in_root(root.path).items():
            if name not in config.unprotected:
                yield f"{root.path}/{name}", f"{root.path}/{name}", reason, "default"
    for written, reason in defaults.PROTECTED_IN_HOME.items():
        if written not in config.unprotected:
            yield scene.expand(written), written, reason, "default"
    if sys.prefix not in config.unprotected:
        yield scene.look.canonical(sys.prefix), sys.prefix, "the host itself runs from here", "default"
    for index, written in enumerate(config.protected):
        try:
            yield scene.expand(written), written, "listed as protected", "deployment"
        except BadPath as error:
            raise InvalidPolicy(((f"protected[{index}]", str(error)),)) from error


def _in_root(root: str) -> dict[str, str]:
    """Default names to protect below one root, by the shape that its repository has."""
    names = dict(defaults.PROTECTED_IN_ROOT)
    git = f"{root}/.git"
    repository = ".git"
    if os.path.isfile(git) and not os.path.islink(git):
        # A worktree or submodule: the file names the real folder, so the file itself is what must stay.
        names = {name: reason for name, reason in names.items() if not name.startswith(".git/")}
        names[".git"] = "it says where the repository is, whose programs git runs"
        return names
    if os.path.isfile(f"{root}/HEAD") and os.path.isdir(f"{root}/objects"):
        names |= {name: names[f".git/{name}"] for name in ("hooks", "config")}
        repository = ""
    modules = f"{root}/{repository}/modules"
    if os.path.isdir(modules):
        with os.scandir(modules) as entries:
            below = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        prefix = f"{repository}/modules".lstrip("/")
        names |= {
            f"{prefix}/{name}/{last}": names[f".git/{last}"] for name in below for last in ("hooks", "config")
        }
    return names


def _canonical_rules(kind: str, entries: list[tuple[str, str, str]], scene: Scene) -> tuple[PathRule, ...]:
    rules: dict[str, PathRule] = {}
    problems: list[tuple[str, str]] = []
    for written, reason, source in entries:
        try:
            real = scene.look.canonical(scene.expand(written))
        except BadPath as error:
            problems.append((kind, f"{written!r}: {error}"))
            continue
        rules.setdefault(real, scene.memory.rule(real, written, reason, source))
    if problems:
        raise InvalidPolicy(tuple(problems))
    return tuple(rules.values())


def _innermost(path: str, writable: tuple[PathRule, ...]) -> str | None:
    roots = [rule.path for rule in writable if inside(path, rule.path) and path != rule.path]
    return max(roots, key=len, default=None)
