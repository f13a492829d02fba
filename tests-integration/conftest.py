"""Wheels of every distribution, built once, and fresh environments with chosen subsets of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from integration_environment import Environment

ROOT = Path(__file__).parent.parent
THIRD_PARTY = ROOT / "tests-integration" / "third-party"


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of every distribution of the workspace and of the third parties of these tests."""
    target = tmp_path_factory.mktemp("wheels")
    for manifest in sorted([*ROOT.glob("packages/*/pyproject.toml"), *THIRD_PARTY.glob("*/pyproject.toml")]):
        done = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
            cwd=manifest.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{manifest.parent.name} did not build:\n{done.stdout}{done.stderr}"
    return target


@pytest.fixture(scope="session")
def environment(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Environment]:
    """Make an environment with these distributions, each from its wheel; the same set is made once."""
    made: dict[tuple[str, ...], Environment] = {}

    def make(*names: str) -> Environment:
        if names not in made:
            path = tmp_path_factory.mktemp("venv")
            _uv("venv", "--quiet", "--python", sys.executable, str(path))
            _uv("pip", "install", "--quiet", "--python", str(path), "--find-links", str(wheels), *names)
            made[names] = Environment(path)
        return made[names]

    return make


def _uv(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uv", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"uv {' '.join(arguments)} failed:\n{done.stderr}"
