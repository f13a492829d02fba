"""A small lawful house that every test may damage in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from seam.deplint.cli import main
from seam.deplint.rules import Finding
from seam.deplint.testing import House, lawful_house

Check = Callable[..., list[Finding]]


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A lawful workspace of the `seam` preset: kernel, definition, two implementers, two consumers, assembly."""
    return lawful_house(tmp_path / "house")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command with arguments: exit code, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(item) for item in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
