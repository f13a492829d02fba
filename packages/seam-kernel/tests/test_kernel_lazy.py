"""Lazy packages: a name is imported when it is first used, and is bound like any other afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

INIT = """
from seam.kernel.lazy import lazy_exports

__getattr__, __dir__ = lazy_exports(__name__, {"_one": "first second", "_two": "third", "json": "dumps"})
__all__ = ["dumps", "first", "second", "third"]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "lazy_thing"
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT, "utf-8")
    (folder / "_one.py").write_text("first, second = object(), object()\n", "utf-8")
    (folder / "_two.py").write_text("third = 3\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield "lazy_thing"
    for name in [name for name in sys.modules if name.startswith("lazy_thing")]:
        del sys.modules[name]


def test_only_the_room_of_a_used_name_is_imported(package: str) -> None:
    module = __import__(package)
    assert f"{package}._one" not in sys.modules
    first = module.first
    assert f"{package}._one" in sys.modules
    assert f"{package}._two" not in sys.modules
    assert module.first is first
    assert vars(module)["first"] is first


def test_names_are_known_before_they_are_used_and_unknown_ones_are_refused(package: str) -> None:
    module = __import__(package)
    assert {"dumps", "first", "second", "third"} <= set(dir(module))
    with pytest.raises(AttributeError, match="module 'lazy_thing' has no attribute 'fourth'"):
        _ = module.fourth
    with pytest.raises(ImportError, match="cannot import name 'fourth'"):
        exec("from lazy_thing import fourth", {})
    found: dict[str, object] = {}
    exec("from lazy_thing import *", found)
    assert found["third"] == 3


def test_a_definition_costs_nothing_until_it_is_used() -> None:
    program = (
        "import sys, seam.kernel, seam.kernel.lazy\n"
        "assert 'pydantic' not in sys.modules and 'anyio' not in sys.modules, 'imported'\n"
        "from seam.kernel import Kernel\n"
        "assert 'anyio' in sys.modules and Kernel.__module__ == 'seam.kernel._kernel'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
