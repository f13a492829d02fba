"""What happens around the process of the host itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil

HOST = """
import sys, anyio
from contextlib import asynccontextmanager
from seam.exec_def import ExecRequest
from seam.exec_local import Bare, LocalExecConfig, executor
from seam.subprocess_local import open_runtime

async def main():
    async with open_runtime() as runtime:
        config = LocalExecConfig(grace=0.5)
        async with executor(runtime, config, secrets=None, wrapper=Bare(), distribution="seam-exec-local") as made:
            await made.start(made.resolve(ExecRequest(command=COMMAND)))
            print("started", flush=True)
            if WAIT:
                await anyio.sleep_forever()
    print("disposed", flush=True)

anyio.run(main)
"""


def _alive(mark: str) -> list[int]:
    found: list[int] = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and mark in process.cmdline():
                found.append(process.pid)
        except psutil.Error:
            continue  # gone meanwhile
    return found


def test_ex_067_disposal_does_not_touch_whoever_started_the_host() -> None:
    mark = f"3600.067{os.getpid()}"
    script = f"COMMAND = 'sleep {mark} & sleep {mark}'\nWAIT = False\n{HOST}"
    # the host stays in the group of a shell, which must go on after it
    parent = subprocess.run(
        ["bash", "-c", '"$@"; echo still-here', "bash", sys.executable, "-c", script],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert parent.stdout.split() == ["started", "disposed", "still-here"], parent.stderr
    assert _alive(mark) == []


def test_a_host_that_is_killed_takes_its_commands_with_it() -> None:
    mark = f"3600.999{os.getpid()}"
    command = f"sleep {mark} & env -i setsid sleep {mark} & trap : TERM; sleep {mark}; sleep {mark}"
    script = f"COMMAND = {command!r}\nWAIT = True\n{HOST}"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "started\n"
        limit = time.monotonic() + 20
        while len(_alive(mark)) < 3:
            assert time.monotonic() < limit
            time.sleep(0.02)
        host.send_signal(signal.SIGKILL)
        host.wait()
        killed = time.monotonic()
        while _alive(mark):
            assert time.monotonic() - killed < 10, (
                "the contract says two seconds; a busy machine is given more"
            )
            time.sleep(0.02)
