"""The public face changes on purpose only."""

from __future__ import annotations

import inspect

import seam.tools_def
from seam.kernel import Service
from seam.testkit.face import face_problems

KEYS = {"tools", "turns", "integration", "permissions", "journal"}


def test_all_is_sorted_and_exact() -> None:
    names = seam.tools_def.__all__
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert [text for text in face_problems(seam.tools_def) if "bound" in text] == []


def test_it_owns_its_keys_and_no_other() -> None:
    found = {
        item.service_key
        for name in seam.tools_def.__all__
        if inspect.isclass(item := getattr(seam.tools_def, name)) and issubclass(item, Service)
    }
    assert found == KEYS


def test_every_public_class_and_function_says_what_it_is() -> None:
    silent = [
        name
        for name in seam.tools_def.__all__
        if (inspect.isclass(item := getattr(seam.tools_def, name)) or inspect.isfunction(item))
        and not inspect.getdoc(item)
    ]
    assert silent == []
