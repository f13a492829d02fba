"""The namespace: nobody fills its root, everybody keeps to one leaf, no module has two owners."""

from __future__ import annotations

from collections.abc import Iterator

from seam.deplint.facts import Distribution, Place
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View


def namespace_init(view: View) -> Iterator[Finding]:
    """`__init__.py` in a shared namespace: all siblings become unimportable where it is installed."""
    for item in view.sorted_members():
        for name in sorted(view.namespaces & item.modules.keys()):
            module = item.modules[name]
            text = f"{item.name} ships {name.replace('.', '/')}/__init__.py and so closes the namespace {name} for its siblings"
            yield Finding("namespace-init", item.name, name, Place(module.path), text, "remove the file")


def namespace_foreign(view: View) -> Iterator[Finding]:
    """A distribution outside the family that owns the root of the namespace."""
    for name in sorted(view.known.keys() - view.members.keys()):
        item = view.known[name]
        for namespace in sorted(view.namespaces & item.modules.keys()):
            text = f"{name} (not of this family) ships {namespace}/__init__.py: editable installs beside it are not importable"
            way = f"uninstall {name} from this environment, or install wheels only"
            yield Finding("namespace-foreign", name, namespace, item.place, text, way)


def namespace_leaf(view: View) -> Iterator[Finding]:
    """A distribution that ships modules outside the place which its name gives it."""
    overlapping = view.ownership.shared_modules()
    for item in view.sorted_members():
        if not view.settings.is_family(item.name) or not view.namespaces:
            continue
        leaf = leaf_of(view, item.name)
        stray: dict[str, str] = {}
        for name, module in sorted(item.modules.items()):
            if name in view.namespaces or name in overlapping or _inside(view, name, leaf):
                continue
            stray.setdefault(_component(view, name), module.path)
        for top, path in stray.items():
            text = f"{item.name} ships {top}, outside {leaf or ' and '.join(sorted(view.settings.roots))}"
            way = "move it there; with hatchling the wheel's packages are the namespace folder (`src/seam`), not the leaf"
            yield Finding("namespace-leaf", item.name, top, Place(path), text, way)


def leaf_of(view: View, name: str) -> str:
    """The one dotted leaf that a distribution's name stands for; empty where leaves are not law."""
    if not view.settings.leaf:
        return ""
    for namespace in sorted(view.namespaces, key=len, reverse=True):
        prefix = namespace.replace(".", "-") + "-"
        if name.startswith(prefix):
            return f"{namespace}.{name.removeprefix(prefix).replace('-', '_')}"
    return ""


def _inside(view: View, module: str, leaf: str) -> bool:
    if leaf:
        return module == leaf or module.startswith(leaf + ".")
    return module.partition(".")[0] in view.settings.roots


def _component(view: View, module: str) -> str:
    """The part of a dotted name that a finding is about: the first component below the namespaces."""
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        name = ".".join(parts[:length])
        if name not in view.namespaces:
            return name
    return module


def py_typed_missing(view: View) -> Iterator[Finding]:
    """A package without `py.typed`: its annotations do not exist for type checkers."""
    for item in view.sorted_members():
        if not view.settings.is_family(item.name):
            continue
        own = item.modules.keys() - view.namespaces - view.ownership.shared_modules().keys()
        leaves = {_component(view, name) for name in own}
        for leaf in sorted(leaves):
            if leaf in item.typed or any(leaf.startswith(name + ".") for name in item.typed if name):
                continue
            if not _is_folder(item, leaf):
                continue  # a single module cannot carry the marker
            path = min(
                module.path
                for name, module in item.modules.items()
                if name == leaf or name.startswith(leaf + ".")
            )
            yield Finding(
                "py-typed-missing",
                item.name,
                leaf,
                Place(path),
                f"{leaf} has no py.typed",
                "add an empty py.typed",
            )


def _is_folder(item: Distribution, leaf: str) -> bool:
    module = item.modules.get(leaf)
    return module.is_package if module else True


def module_overlap(view: View) -> Iterator[Finding]:
    """One module in two distributions: the second to be installed overwrites the first."""
    pairs: dict[tuple[str, ...], list[str]] = {}
    for module, owners in view.ownership.shared_modules().items():
        pairs.setdefault(tuple(sorted(owners)), []).append(module)
    for owners, modules in sorted(pairs.items()):
        ours = [name for name in owners if name in view.members and view.is_ours(name)]
        if not ours:
            continue
        first, more = min(modules), f" and {len(modules) - 1} more" if len(modules) > 1 else ""
        path = view.members[ours[-1]].modules[first].path
        text = f"{first}{more} is shipped by {' and by '.join(owners)}"
        way = "leave each module to one distribution and require it from the others"
        yield Finding("module-overlap", ours[-1], "|".join(owners), Place(path), text, way)
