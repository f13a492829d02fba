"""The shortest way through the local implementer, as a deployment uses it."""

from __future__ import annotations

import os

import pytest

from seam.kernel import Kernel
from seam.subprocess_def import Collect, Null, OwnedLifetime, SameAsStdout, SpawnSpec, SubprocessRuntime
from seam.subprocess_local import local, open_runtime

pytestmark = pytest.mark.anyio


def spec(*argv: str) -> SpawnSpec:
    return SpawnSpec(
        argv=argv,
        cwd="/",
        env={"PATH": os.defpath},
        stdin=Null(),
        stdout=Collect(max_bytes=65536, head_bytes=32768, spill_bytes=0),
        stderr=SameAsStdout(),
        grace=1.0,
        drain=0.5,
        survivors="end",
        lifetime=OwnedLifetime(),
    )


async def test_a_command_runs_and_reports_its_exit_code_and_output() -> None:
    async with (
        open_runtime() as runtime,
        await runtime.spawn(spec("sh", "-c", "echo out; echo err >&2; exit 3")) as process,
    ):
        ended = await process.wait()
        assert (ended.exit_code, process.collected("stdout").head()) == (3, b"out\nerr\n")


async def test_an_error_of_the_block_arrives_as_it_was_raised() -> None:
    with pytest.raises(KeyError):
        async with open_runtime():
            raise KeyError("mine")


async def test_the_plugin_provides_the_service() -> None:
    async with Kernel() as kernel:
        kernel.root.load(local)
        await kernel.root.settle()
        runtime = kernel.root.get(SubprocessRuntime)
        assert runtime is not None
        assert runtime.world_id == "local"
