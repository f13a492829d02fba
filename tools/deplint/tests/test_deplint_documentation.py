"""The documented commands are commands, the snippets are what they say, and the hook runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from seam.deplint.cli import parse
from seam.deplint.settings import read_settings
from seam.deplint.testing import House

ROOT = Path(__file__).parents[3]
PAGES = (ROOT / "docs/deplint/README.md", ROOT / "tools/deplint/README.md")


def commands() -> list[str]:
    found: list[str] = []
    for page in PAGES:
        for line in re.findall(
            r"(?:^|run: |entry: |`)(seam-deplint [^`#\n]*)", page.read_text("utf-8"), re.MULTILINE
        ):
            if "RULE" not in line and "[FOLDER]" not in line:
                found.append(line.strip())
    return found


@pytest.mark.parametrize("command", commands())
def test_every_documented_command_is_one(command: str) -> None:
    assert parse(command.split()[1:]).command


def test_the_documented_configuration_is_one(tmp_path: Path) -> None:
    text = PAGES[1].read_text("utf-8").split("```toml\n")[1].split("```")[0]
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    settings = read_settings(tmp_path / "pyproject.toml", {"requirement-unused"})
    assert settings.members == ("packages/*", "tools/*")
    assert settings.ignores[0].reason == "run as a command, not imported"


def snippet(marker: str) -> str:
    blocks = PAGES[0].read_text("utf-8").split("```yaml\n")[1:]
    return next(block.split("```")[0] for block in blocks if marker in block)


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_pre_commit_hook_stops_a_commit_that_breaks_the_law(house: House, tmp_path: Path) -> None:
    python = tmp_path / "hook/bin/python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "hook"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "pre-commit", "hatchling"], check=True)
    build = [python, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=ROOT / "tools/deplint", check=True)
    wheel = next((tmp_path / "dist").glob("*.whl"))
    root = house.write()
    (root / ".pre-commit-config.yaml").write_text(
        snippet("repo: local").replace('"seam-deplint"', f'"{wheel}"'), "utf-8"
    )

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)

    def hook() -> subprocess.CompletedProcess[str]:
        git("add", "-A")
        command = [tmp_path / "hook/bin/pre-commit", "run", "--all-files"]
        env = {
            "PRE_COMMIT_HOME": str(tmp_path / "home"),
            "PATH": f"{tmp_path / 'hook/bin'}:/usr/bin:/bin",
            "HOME": str(tmp_path),
        }
        return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)

    git("init", "-q")
    done = hook()
    assert done.returncode == 0, done.stdout + done.stderr
    house["seam-exec-tool"].files["seam/exec_tool/__init__.py"] += "import seam.exec_local\n"
    house.write()
    done = hook()
    assert done.returncode == 1
    assert "error law-import" in done.stdout
