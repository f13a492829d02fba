"""An executor over the local runtime, put together by the kernel as a deployment would."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from seam.exec_def import ShellExecutor
from seam.exec_def.conformance import Settings, Subject
from seam.exec_def.sources import sources
from seam.exec_local import local as exec_local
from seam.kernel import Context, Kernel, NoConfig, Plugin, plugin
from seam.subprocess_local import local as subprocess_local


class LocalSubject(Subject):
    """seam-exec-local over seam-subprocess-local."""

    @asynccontextmanager
    async def open(self, settings: Settings) -> AsyncGenerator[ShellExecutor, None]:
        """Load the plugins, take the service, stop everything afterwards."""
        taken: list[ShellExecutor] = []
        with tempfile.TemporaryDirectory(prefix="exec-kit-secrets-") as folder:
            async with Kernel() as kernel:
                kernel.root.load(subprocess_local)
                kernel.root.load(sources, {"sources": _secret_files(Path(folder), settings)})
                kernel.root.load(
                    exec_local,
                    {
                        "grace": settings.grace,
                        "drain": settings.drain,
                        "timeout": min(120.0, settings.max_timeout),
                        "max_timeout": settings.max_timeout,
                        "survivors": settings.survivors,
                        "streams": settings.streams,
                    },
                )
                kernel.root.load(_taker(taken))
                await kernel.root.settle()
                assert taken, list(kernel.faults)
                yield taken[0]


def _secret_files(folder: Path, settings: Settings) -> dict[str, dict[str, str]]:
    for name, value in settings.secrets.items():
        (folder / name).write_text(value + "\n")
    return {name: {"file": str(folder / name)} for name in settings.secrets}


def _taker(taken: list[ShellExecutor]) -> Plugin[NoConfig]:
    @plugin(requires=[ShellExecutor])
    async def taker(ctx: Context, config: NoConfig) -> AsyncGenerator[None, None]:
        taken.append(ctx[ShellExecutor])
        yield

    return taker


@pytest.fixture(scope="session")
def exec_subject(request: pytest.FixtureRequest) -> LocalSubject:
    """The subject of the conformance kit."""
    return LocalSubject("seam-exec-local over seam-subprocess-local")
