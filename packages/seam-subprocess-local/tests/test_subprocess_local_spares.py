"""A supervisor serves one command after another: nothing of the one before is found by the next."""

from __future__ import annotations

import anyio
import psutil
import pytest
from test_subprocess_local_first_light import spec

from seam.subprocess_def import ProcessExit, SubprocessRuntime
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

pytestmark = pytest.mark.anyio

LAUNCHER = LocalSubprocessConfig(containment="launcher")


async def _run(runtime: SubprocessRuntime, script: str) -> tuple[ProcessExit, bytes]:
    async with await runtime.spawn(spec("bash", "-c", script)) as process:
        ended = await process.wait()
        return ended, process.collected("stdout").head()


def _launchers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.name() == "seam-launcher"]


async def test_commands_one_after_another_have_few_supervisors() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        parents: set[int] = set()
        for number in range(40):
            ended, out = await _run(runtime, f"echo $PPID; echo e{number} >&2; exit {number}")
            parent, error = out.split()
            assert (ended.exit_code, error) == (number, f"e{number}".encode())
            parents.add(int(parent))
        assert len(parents) <= 8


async def test_a_burst_leaves_a_bounded_number_of_spares() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        codes: list[int | None] = []

        async def one(number: int) -> None:
            codes.append((await _run(runtime, f"exit {number}"))[0].exit_code)

        for _ in range(3):
            async with anyio.create_task_group() as group:
                for number in range(40):
                    group.start_soon(one, number)
        assert sorted(code for code in codes if code is not None) == sorted([*range(40)] * 3)
        with anyio.fail_after(20):
            while len(_launchers()) > 10:  # eight with a seat, one without, the server
                await anyio.sleep(0.01)


async def test_each_exit_has_facts_of_its_own() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        heavy, _ = await _run(runtime, "x=$(head -c 30000000 /dev/zero | tr '\\0' a); exit 3")
        light, _ = await _run(runtime, ":")
        assert heavy.exit_code == 3
        assert light.exit_code == 0
        assert heavy.usage is not None
        assert light.usage is not None
        assert light.usage.peak_memory_bytes < heavy.usage.peak_memory_bytes
        assert light.usage.user_seconds < heavy.usage.user_seconds
        killed, _ = await _run(runtime, "kill -KILL $$")
        assert (killed.signal, killed.exit_code) == ("SIGKILL", None)
        again, out = await _run(runtime, "echo after")
        assert (again.exit_code, out, again.survivors) == (0, b"after\n", ())


async def test_an_end_by_force_is_not_told_of_the_next() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        async with await runtime.spawn(
            spec("bash", "-c", "trap '' TERM; echo up; while :; do sleep 1; done")
        ) as stubborn:
            await stubborn.collected("stdout").wait_beyond(0)
            ended = await stubborn.terminate(grace=0.05)
            assert ended.termination is not None
            assert ended.termination.escalated
        async with await runtime.spawn(spec("sleep", "300")) as willing:
            ended = await willing.terminate(grace=20)
            assert ended.termination is not None
            assert (ended.signal, ended.termination.escalated) == ("SIGTERM", False)


async def test_a_failed_start_between_two_commands_hurts_neither() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        for number in range(12):
            with pytest.raises(Exception, match="no-such-program"):
                await runtime.spawn(spec("/no-such-program"))
            ended, out = await _run(runtime, f"echo {number}")
            assert (ended.exit_code, out) == (0, f"{number}\n".encode())


async def test_nothing_of_an_environment_is_kept_by_a_spare() -> None:
    secret = "hidden-7d1c5f0e"
    async with open_runtime(LAUNCHER) as runtime:
        process_spec = spec("bash", "-c", ":").model_copy(
            update={"env": {"PATH": "/usr/bin:/bin", "TOKEN": secret}}
        )
        async with await runtime.spawn(process_spec) as process:
            await process.wait()
        await _run(runtime, ":")
        for launcher in _launchers():
            assert secret.encode() not in _memory(launcher.pid)


def _memory(pid: int) -> bytes:
    found = b""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            area, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(part, 16) for part in area.split("-"))
            memory.seek(start)
            found += memory.read(end - start)
    return found


async def test_a_server_that_is_killed_while_spares_wait_is_replaced() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        for _ in range(3):
            assert (await _run(runtime, ":"))[0].exit_code == 0
            server = psutil.Process().children()[0]
            running = await runtime.spawn(spec("sleep", "300"))
            server.kill()
            server.wait()
            for number in range(12):
                ended, out = await _run(runtime, f"echo {number}")
                assert (ended.exit_code, out) == (0, f"{number}\n".encode())
            async with running:
                assert (await running.terminate()).signal == "SIGTERM"


async def test_a_spare_that_is_killed_is_replaced() -> None:
    async with open_runtime(LAUNCHER) as runtime:
        for _ in range(3):
            await _run(runtime, ":")
            server = psutil.Process().children()[0]
            spares = server.children()
            for spare in spares:
                spare.kill()
            assert not psutil.wait_procs(spares, timeout=20)[1]
            ended, out = await _run(runtime, "echo on")
            assert (ended.exit_code, out) == (0, b"on\n")
