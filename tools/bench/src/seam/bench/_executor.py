"""An executor put together by the kernel, as a deployment would."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from seam.exec_def import ShellExecutor
from seam.exec_local import local as exec_local
from seam.kernel import Context, Kernel, NoConfig, plugin
from seam.subprocess_local import local as subprocess_local


@asynccontextmanager
async def local_executor(containment: str = "auto") -> AsyncGenerator[ShellExecutor, None]:
    """Open seam-exec-local over seam-subprocess-local with every feature on."""
    taken: list[ShellExecutor] = []

    @plugin(requires=[ShellExecutor])
    async def taker(ctx: Context, config: NoConfig) -> AsyncGenerator[None, None]:
        taken.append(ctx[ShellExecutor])
        yield

    async with Kernel() as kernel:
        kernel.root.load(subprocess_local, {"containment": containment})
        kernel.root.load(exec_local, {"max_timeout": "1h"})
        kernel.root.load(taker)
        await kernel.root.settle()
        if not taken:
            raise RuntimeError(f"no executor: {[str(fault.error) for fault in kernel.faults]}")
        yield taken[0]
