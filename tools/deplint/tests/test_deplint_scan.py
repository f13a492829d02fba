"""How imports are told apart."""

from __future__ import annotations

import pytest

from seam.deplint.facts import ImportKind
from seam.deplint.sources import scan_source

K = ImportKind


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import a", K.RUN),
        ("class C:\n    import a", K.RUN),
        ("if x:\n    import a", K.RUN),
        ("def f():\n    import a", K.FUNCTION),
        ("async def f():\n    import a", K.FUNCTION),
        ("class C:\n    def f(self):\n        import a", K.FUNCTION),
        ("try:\n    import a\nexcept ImportError:\n    pass", K.GUARDED),
        ("try:\n    pass\nexcept ModuleNotFoundError:\n    import a", K.GUARDED),
        ("try:\n    import a\nexcept (OSError, ImportError):\n    pass", K.GUARDED),
        ("try:\n    import a\nexcept:\n    pass", K.GUARDED),
        ("try:\n    import a\nexcept ValueError:\n    pass", K.RUN),
        ("try:\n    import a\nfinally:\n    pass", K.RUN),
        ("with suppress(ImportError):\n    import a", K.GUARDED),
        ("with contextlib.suppress(KeyError):\n    import a", K.RUN),
        ("if TYPE_CHECKING:\n    import a", K.TYPE_CHECKING),
        ("import typing as t\nif t.TYPE_CHECKING:\n    import a", K.TYPE_CHECKING),
        ("from typing import TYPE_CHECKING as T\nif T:\n    import a", K.TYPE_CHECKING),
        ("if not TYPE_CHECKING:\n    import a", K.RUN),
        ("if not TYPE_CHECKING:\n    pass\nelse:\n    import a", K.TYPE_CHECKING),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import a", K.RUN),
        ("if TYPE_CHECKING and x:\n    import a", K.TYPE_CHECKING),
        ("if TYPE_CHECKING or x:\n    import a", K.RUN),
        ("if False:\n    import a", K.TYPE_CHECKING),
        ("match x:\n    case 1:\n        import a", K.RUN),
        ("importlib.import_module('a')", K.DYNAMIC),
        ("from importlib import import_module as get\nget('a')", K.DYNAMIC),
        ("NAME = 'a'\nimportlib.import_module(NAME)", K.DYNAMIC),
        ("importlib.import_module('a' + '')", K.DYNAMIC),
        ("importlib.import_module(name='a')", K.DYNAMIC),
        ("pkgutil.resolve_name('a:b')", K.DYNAMIC),
        ("X = 'a.b'", K.STRING),
        ("X = ['a.b:c']", K.STRING),
    ],
)
def test_an_import_has_its_kind(source: str, kind: ImportKind) -> None:
    scan = scan_source(source.encode(), frozenset({"a"}))
    assert [item.kind for item in scan.imports if item.module.startswith("a")] == [kind]
    assert scan.unverifiable == ()


@pytest.mark.parametrize(
    "source",
    ["'''a.b'''", "X = 'a.b is a module'", "X = 'ab.c'", "X = 'za.b'", "# import a\nX = 1", "X = 'import a'"],
)
def test_what_only_looks_like_an_import_is_none(source: str) -> None:
    assert scan_source(source.encode(), frozenset({"a"})).imports == ()


@pytest.mark.parametrize(
    "source",
    [
        "import_module(x)",
        "__import__(f'a.{x}')",
        "importlib.import_module('a.%s' % x)",
        "X = 'a'\nX = 'b'\nimport_module(X)",
    ],
)
def test_a_computed_name_is_listed(source: str) -> None:
    scan = scan_source(b"from importlib import import_module\nimport importlib\n" + source.encode())
    assert len(scan.unverifiable) == 1


def test_names_that_a_module_binds_are_known() -> None:
    scan = scan_source(
        b"import a.b\nfrom c import d as e\nx: int = 1\ny, (z, *w) = v\ndef f(): q = 1\nclass C: r = 1\n"
    )
    assert scan.names == {"a", "e", "x", "y", "z", "w", "f", "C"}
