"""The real subprocess runtime, and folders that no shared temporary folder hides."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from seam.subprocess_def import SubprocessRuntime
from seam.subprocess_local import LocalSubprocessConfig, open_runtime


@pytest.fixture
async def subprocesses() -> AsyncGenerator[SubprocessRuntime, None]:
    """What starts programs."""
    async with open_runtime(LocalSubprocessConfig()) as runtime:
        yield runtime


@pytest.fixture
def arena() -> Iterator[Path]:
    """A folder outside of /tmp, with `ws` in it."""
    parent = "/var/lib" if os.geteuid() == 0 else str(Path.home())
    made = Path(tempfile.mkdtemp(prefix="seam-arena-", dir=parent))
    (made / "ws").mkdir()
    yield made
    shutil.rmtree(made)


@pytest.fixture(autouse=True)
def own_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of this boot, and nothing is left for others."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
