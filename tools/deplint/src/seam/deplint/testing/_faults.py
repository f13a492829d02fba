"""The planted faults: each damages a lawful house in one place and names the one finding that must come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from seam.deplint.testing._house import House, Member

_TOOL = "seam/exec_tool/__init__.py"
_LOCAL = "seam-exec-local>=0.1,<1"


@dataclass(frozen=True)
class Fault:
    """One fault in a source tree. `rule` is the finding's rule, `distribution` the one it must name."""

    name: str
    rule: str
    distribution: str
    plant: Callable[[House], None]


def _imports(source: str) -> Callable[[House], None]:
    def plant(house: House) -> None:
        house["seam-exec-tool"].files[_TOOL] += source

    return plant


def _requires(house: House) -> None:
    house["seam-exec-tool"].dependencies.append(_LOCAL)


def _extra(house: House) -> None:
    house["seam-exec-tool"].extras["fast"] = [_LOCAL]


def _helper(house: House) -> Member:
    """A library that everybody may use and that may use everything: lawful steps to an unlawful end."""
    house.settings += '\n[tool.seam-deplint.roles.library]\nnames = ["seam-glue"]\nmay-require = ["*"]\n'
    house.settings += (
        '[tool.seam-deplint.roles.consumer]\nmay-require = ["kernel", "definition", "library"]\n'
    )
    helper = house.add(Member("seam-glue", [_LOCAL]))
    helper.files = {"seam/glue/__init__.py": "from seam.exec_local import local\n", "seam/glue/py.typed": ""}
    house["seam-exec-tool"].dependencies.append("seam-glue>=0.1,<1")
    house["seam-exec-tool"].files[_TOOL] += "import seam.glue\n"
    return helper


def _through_helper(house: House) -> None:
    _helper(house)


def _through_extra_of_helper(house: House) -> None:
    helper = _helper(house)
    helper.dependencies, helper.extras = [], {"fast": [_LOCAL]}
    helper.files["seam/glue/__init__.py"] = "def f():\n    import seam.exec_local\n"
    house["seam-exec-tool"].dependencies[-1] = "seam-glue[fast]>=0.1,<1"


def _second_role(house: House) -> None:
    points = house["seam-exec-tool"].entry_points
    points["seam.implementer.exec"] = {"tool": "seam.exec_tool:tool"}


def _lost_target(house: House) -> None:
    house["seam-exec-tool"].entry_points["seam.consumer"] = {"exec-tool": "seam.exec_tool.gone:tool"}


def _lost_attribute(house: House) -> None:
    house["seam-exec-tool"].entry_points["seam.consumer"] = {"exec-tool": "seam.exec_tool:gone"}


def _foreign_target(house: House) -> None:
    house["seam-exec-tool"].entry_points["seam.consumer"] = {"exec-tool": "seam.watch_tool:tool"}


def _misspelt_group(house: House) -> None:
    house["seam-exec-tool"].entry_points["seam.consumers"] = {"exec-tool": "seam.exec_tool:tool"}


def _same_name(house: House) -> None:
    house["seam-watch-tool"].entry_points["seam.consumer"] = {"exec-tool": "seam.watch_tool:tool"}


def _wrong_top(house: House) -> None:
    house["seam-watch-tool"].packed = "src/seam/watch_tool"
    house["seam-watch-tool"].entry_points = {"seam.consumer": {"watch-tool": "watch_tool:tool"}}


def _stray_init(house: House) -> None:
    house["seam-exec-local"].files["seam/__init__.py"] = ""


def _dishonest(text: str) -> Callable[[House], None]:
    def plant(house: House) -> None:
        house["seam-exec-tool"].dependencies = [text]

    return plant


def _overlap(house: House) -> None:
    house["seam-exec-remote"].files["seam/exec_local/_spawn.py"] = ""
    house["seam-exec-local"].files["seam/exec_local/_spawn.py"] = ""


def _cycle(house: House) -> None:
    house["seam-kernel"].dependencies.append("seam-exec-def>=0.1,<1")
    house["seam-kernel"].files["seam/kernel/__init__.py"] += "import seam.exec_def\n"
    house.settings += '\n[tool.seam-deplint.roles.kernel]\nmay-require = ["definition"]\n'


def _no_role(house: House) -> None:
    house["seam-watch-tool"].entry_points = {}


def _unowned(house: House) -> None:
    house["seam-exec-local"].files["elsewhere/lost.py"] = ""


def _undeclared(house: House) -> None:
    house["seam-watch-tool"].dependencies = ["seam-kernel>=0.1,<1"]
    house["seam-watch-tool"].files["seam/watch_tool/__init__.py"] += "import seam.kernel\n"


def _unused(house: House) -> None:
    house["seam-exec-tool"].dependencies.append("seam-kernel>=0.1,<1")


def _unowned_import(house: House) -> None:
    house["seam-exec-tool"].files[_TOOL] += "import seam.nowhere_def\n"


def _second_owner(house: House) -> None:
    other = house.add(Member("seam-shell-def", ["seam-kernel>=0.1,<1"]))
    other.entry_points = {"seam.definition": {"exec": "seam.shell_def:Shell"}}
    other.files = {
        "seam/shell_def/__init__.py": "from seam.kernel import Service\nclass Shell(Service): ...\n"
    }
    other.files["seam/shell_def/py.typed"] = ""
    house["seam-watch-tool"].dependencies.append("seam-shell-def>=0.1,<1")
    house["seam-watch-tool"].files["seam/watch_tool/__init__.py"] += "import seam.shell_def\n"


def _no_definition(house: House) -> None:
    house["seam-exec-remote"].entry_points = {"seam.implementer.shell": {"remote": "seam.exec_remote:remote"}}


def _another_version(house: House) -> None:
    house["seam-exec-local"].version = "0.2.0"


def _broken_file(house: House) -> None:
    house["seam-exec-tool"].files["seam/exec_tool/_broken.py"] = "def f(:\n"


def _no_marker(house: House) -> None:
    del house["seam-exec-tool"].files["seam/exec_tool/py.typed"]


def _undeclared_extension(house: House) -> None:
    house["seam-exec-remote"].dependencies.append(_LOCAL)
    house["seam-exec-remote"].files["seam/exec_remote/__init__.py"] += "# builds on the other one\n"


def _idle_extension(house: House) -> None:
    house["seam-exec-remote"].extra_toml = '[tool.seam]\nextends = ["seam-exec-local"]\n'
    house["seam-exec-remote"].entry_points["seam.extends"] = {"seam-exec-local": "seam.exec_local"}


def _misnamed(house: House) -> None:
    house["seam-exec-tool"].entry_points = {"seam.implementer.exec": {"tool": "seam.exec_tool:tool"}}


_TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from seam.exec_local import local\n"

FAULTS: tuple[Fault, ...] = (
    Fault(
        "consumer imports implementer", "law-import", "seam-exec-tool", _imports("import seam.exec_local\n")
    ),
    Fault("consumer imports implementer for types", "law-import", "seam-exec-tool", _imports(_TYPED)),
    Fault(
        "consumer imports implementer in a function",
        "law-import",
        "seam-exec-tool",
        _imports("def f():\n    from seam import exec_local\n"),
    ),
    Fault(
        "consumer imports implementer by string",
        "law-import",
        "seam-exec-tool",
        _imports("import importlib\nM = importlib.import_module('seam.exec_local')\n"),
    ),
    Fault(
        "consumer names implementer",
        "law-string",
        "seam-exec-tool",
        _imports("W = 'seam.exec_local:local'\n"),
    ),
    Fault(
        "consumer imports implementer through a helper", "law-transitive", "seam-exec-tool", _through_helper
    ),
    Fault("consumer requires implementer", "law-requirement", "seam-exec-tool", _requires),
    Fault("consumer requires implementer in an extra", "law-extra", "seam-exec-tool", _extra),
    Fault(
        "consumer requires implementer by a helper's extra",
        "law-transitive",
        "seam-exec-tool",
        _through_extra_of_helper,
    ),
    Fault(
        "implementer requires another undeclared",
        "law-requirement",
        "seam-exec-remote",
        _undeclared_extension,
    ),
    Fault("extends without requirement", "extends-idle", "seam-exec-remote", _idle_extension),
    Fault("consumer registers in an implementer group", "role-folded", "seam-exec-tool", _second_role),
    Fault("consumer's name, implementer's role", "role-name", "seam-exec-tool", _misnamed),
    Fault("missing role", "role-missing", "seam-watch-tool", _no_role),
    Fault("entry point to no module", "entry-point-target", "seam-exec-tool", _lost_target),
    Fault("entry point to no attribute", "entry-point-target", "seam-exec-tool", _lost_attribute),
    Fault("entry point into another distribution", "entry-point-target", "seam-exec-tool", _foreign_target),
    Fault("entry point in a misspelt group", "entry-point-group", "seam-exec-tool", _misspelt_group),
    Fault("entry point name twice", "entry-point-duplicate", "seam-watch-tool", _same_name),
    Fault("wrong top level", "namespace-leaf", "seam-watch-tool", _wrong_top),
    Fault("stray namespace __init__", "namespace-init", "seam-exec-local", _stray_init),
    Fault("no py.typed", "py-typed-missing", "seam-exec-tool", _no_marker),
    Fault("module of two distributions", "module-overlap", "seam-exec-remote", _overlap),
    Fault("unowned file", "module-unowned", "seam-exec-local", _unowned),
    Fault(
        "specifier without upper bound",
        "specifier-dishonest",
        "seam-exec-tool",
        _dishonest("seam-exec-def>=0.1"),
    ),
    Fault(
        "specifier that refuses the sibling",
        "specifier-dishonest",
        "seam-exec-tool",
        _dishonest("seam-exec-def>=0.2,<1"),
    ),
    Fault("version off the train", "version-train", "seam-exec-local", _another_version),
    Fault("undeclared sibling import", "requirement-undeclared", "seam-watch-tool", _undeclared),
    Fault("unused sibling requirement", "requirement-unused", "seam-exec-tool", _unused),
    Fault("import that nobody owns", "import-unowned", "seam-exec-tool", _unowned_import),
    Fault("key with two definitions", "key-duplicate", "seam-shell-def", _second_owner),
    Fault("implementer without definition", "key-undefined", "seam-exec-remote", _no_definition),
    Fault("cycle", "cycle", "seam-exec-def", _cycle),
    Fault("file that does not parse", "file-unreadable", "seam-exec-tool", _broken_file),
)
"""Faults of source trees; wheels and environments have theirs in the tests, where archives are damaged."""
