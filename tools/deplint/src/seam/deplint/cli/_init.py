"""`init`: a configuration proposed from what a workspace shows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from seam.deplint._collect import NotChecked
from seam.deplint.facts import Distribution
from seam.deplint.settings import PRESETS, Settings
from seam.deplint.sources import ScanCache, TreeOptions, read_tree


def propose(root: Path) -> str:
    """The text of a `seam-deplint.toml` for the workspace below `root`."""
    found, _ = read_tree(root.resolve(), TreeOptions(manifests_only=True), ScanCache(None, frozenset()))
    if not found:
        raise NotChecked(f"no pyproject.toml with [project] below {root}")
    preset = next((item for item in PRESETS.values() if _fits(item, found)), None)
    lines = [
        f"# Proposed by `seam-deplint init` from {len(found)} distributions. Read it, then run `seam-deplint check`."
    ]
    if preset:
        lines.append(f'preset = "{preset.preset}"')
    lines.append(f"members = {_array(_members(found))}")
    if preset:
        rest = [item for item in found if preset.is_family(item.name) and not _has_role(item, preset)]
        return "\n".join([*lines, "", *_named_roles(rest)]) + "\n"
    return "\n".join([*lines, *_without_preset(found)]) + "\n"


def _fits(preset: Settings, found: list[Distribution]) -> bool:
    return sum(preset.is_family(item.name) for item in found) * 2 > len(found)


def _has_role(item: Distribution, preset: Settings) -> bool:
    points = item.entry_points
    return any(
        role.matches_name(item.name) or any(role.matches_group(p.group) for p in points)
        for role in preset.roles
    )


def _members(found: list[Distribution]) -> list[str]:
    parents = Counter(item.root.rpartition("/")[0] for item in found)
    patterns = [
        f"{parent}/*" if parent else item.root for item in found for parent in [item.root.rpartition("/")[0]]
    ]
    return [pattern for pattern in dict.fromkeys(patterns) if pattern.endswith("/*") or parents[""]]


def _without_preset(found: list[Distribution]) -> list[str]:
    prefix = Counter(item.name.partition("-")[0] for item in found).most_common(1)[0][0]
    names = [item.name for item in found if item.name == prefix or item.name.startswith(prefix + "-")]
    lines = [f'family = ["{prefix}", "{prefix}-*"]' if prefix in names else f'family = ["{prefix}-*"]']
    lines.append(f"namespaces = {_array(_namespaces(found))}")
    groups = Counter(
        point.group for item in found for point in item.entry_points if not _is_standard(point.group)
    )
    lines += [
        "",
        "# Roles: what each may require. The proposal lets everything pass; take out what must not be.",
    ]
    taken: set[str] = set()
    for group, _ in sorted(groups.items()):
        holders = [item.name for item in found if any(point.group == group for point in item.entry_points)]
        taken.update(holders)
        name = group.replace(".", "-").replace("_", "-")
        lines += [f"[roles.{name}]  # {_some(holders)}", f'groups = ["{group}"]', 'may-require = ["*"]', ""]
    rest = [name for name in names if name not in taken]
    if rest:
        lines += [f"[roles.other]  # {_some(rest)}", f"names = {_array(rest)}", 'may-require = ["*"]']
    return lines


def _named_roles(rest: list[Distribution]) -> list[str]:
    folders: dict[str, list[str]] = {}
    for item in rest:
        folders.setdefault(item.root.rpartition("/")[0], []).append(item.name)
    lines: list[str] = []
    for folder, names in sorted(folders.items()):
        role = folder.rpartition("/")[2].rstrip("s") or "other"
        lines += [
            f"[roles.{role}]  # {_some(names)}: no entry point tells a role",
            f"names = {_array(sorted(names))}",
        ]
        lines += ['may-require = ["*"]', ""]
    return lines


def _namespaces(found: list[Distribution]) -> list[str]:
    """Folders without `__init__.py` that several distributions have modules in."""
    users: dict[str, set[str]] = {}
    regular: set[str] = set()
    for item in found:
        for name, module in item.modules.items():
            if module.is_package:
                regular.add(name)
            parent = name.rpartition(".")[0]
            while parent:
                users.setdefault(parent, set()).add(item.name)
                parent = parent.rpartition(".")[0]
    return sorted(name for name, names in users.items() if len(names) > 1 and name not in regular)


def _is_standard(group: str) -> bool:
    return group in {"console_scripts", "gui_scripts", "pytest11"}


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _array(items: list[str]) -> str:
    return "[" + ", ".join(f'"{item}"' for item in items) + "]"
