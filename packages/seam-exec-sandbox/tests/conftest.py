"""A sandboxed executor over the local runtime, put together by the kernel as a deployment would."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from seam.exec_def import ShellExecutor
from seam.exec_def.conformance import Capabilities, Settings, Subject
from seam.exec_def.sources import sources
from seam.exec_sandbox import sandbox
from seam.kernel import Context, Kernel, NoConfig, Plugin, plugin
from seam.sandbox_bwrap import BwrapConfig, bwrap
from seam.sandbox_landlock import LandlockConfig, landlock
from seam.sandbox_policy import policy
from seam.subprocess_local import local as subprocess_local

Opener = Callable[..., AbstractAsyncContextManager[ShellExecutor]]


@asynccontextmanager
async def opened(
    exec_config: Mapping[str, object],
    policy_config: Mapping[str, object],
    runtime: Plugin[BwrapConfig] | Plugin[LandlockConfig] = bwrap,
    runtime_config: Mapping[str, object] | None = None,
    secrets: Mapping[str, Mapping[str, str]] | None = None,
) -> AsyncGenerator[ShellExecutor, None]:
    """Load the plugins, give the service, stop everything afterwards."""
    taken: list[ShellExecutor] = []
    async with Kernel() as kernel:
        kernel.root.load(subprocess_local)
        kernel.root.load(sources, {"sources": dict(secrets or {})})
        kernel.root.load(policy, dict(policy_config))
        if runtime.config is BwrapConfig:
            kernel.root.load(bwrap, dict(runtime_config or {}))
        else:
            kernel.root.load(landlock, dict(runtime_config or {}))
        kernel.root.load(sandbox, dict(exec_config))
        kernel.root.load(_taker(taken))
        await kernel.root.settle()
        assert taken, list(kernel.faults)
        yield taken[0]


def _taker(taken: list[ShellExecutor]) -> Plugin[NoConfig]:
    @plugin(requires=[ShellExecutor])
    async def taker(ctx: Context, config: NoConfig) -> AsyncGenerator[None, None]:
        taken.append(ctx[ShellExecutor])
        yield

    return taker


class SandboxSubject(Subject):
    """seam-exec-sandbox over bubblewrap, the policy and the local runtime."""

    @asynccontextmanager
    async def open(self, settings: Settings) -> AsyncGenerator[ShellExecutor, None]:
        """Make an executor whose workspace is the kit's temporary folder."""
        config = {
            "grace": settings.grace,
            "drain": settings.drain,
            "timeout": min(120.0, settings.max_timeout),
            "max_timeout": settings.max_timeout,
            "survivors": settings.survivors,
            "streams": settings.streams,
        }
        with tempfile.TemporaryDirectory(prefix="exec-kit-secrets-") as folder:
            for name, value in settings.secrets.items():
                Path(folder, name).write_text(value + "\n", "utf-8")
            secrets = {name: {"file": str(Path(folder, name))} for name in settings.secrets}
            permit = {"partial": True, "protect_missing": False, "unhidden": ["/tmp"]}
            async with opened(config, permit, secrets=secrets) as executor:
                yield executor


@pytest.fixture
def open_executor() -> Opener:
    """How a test gets an executor of its own configuration."""
    return opened


@pytest.fixture
def arena() -> Iterator[Path]:
    """A folder outside of /tmp, with `ws` in it."""
    parent = "/var/lib" if os.geteuid() == 0 else str(Path.home())
    made = Path(tempfile.mkdtemp(prefix="seam-arena-", dir=parent))
    (made / "ws").mkdir()
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def exec_subject() -> SandboxSubject:
    """The subject of the conformance kit."""
    # A pid namespace of its own: what is left ends with the command, and its pids are not the host's.
    lacks = Capabilities(host_view=False, keeps_survivors=False, outlives_shell=False)
    return SandboxSubject("seam-exec-sandbox over seam-sandbox-bwrap", lacks)
