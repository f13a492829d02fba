"""Processes on terminals."""

from __future__ import annotations

import anyio
import psutil
import pytest

from seam.subprocess_def._errors import BadWorkingDirectory, ExecutableNotFound
from seam.subprocess_def._process import TerminalProcess
from seam.subprocess_def._spec import TerminalSpec
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._filters import SECRET, Masker
from seam.subprocess_def.conformance._trial import Trial


def _spec(trial: Trial, *argv: str, **changes: object) -> TerminalSpec:
    common = trial.spec(*argv).model_dump(include={"argv", "cwd", "env", "grace", "survivors"})
    common["env"]["TERM"] = "dumb"
    return TerminalSpec.model_validate(common | {"columns": 100, "rows": 30} | changes)


async def _until(process: TerminalProcess, word: bytes) -> bytes:
    seen = b""
    with anyio.fail_after(10):
        while word not in seen:
            seen += await process.terminal.receive()
    return seen


async def _rest(process: TerminalProcess) -> bytes:
    seen = b""
    with anyio.fail_after(10):
        try:
            while True:
                seen += await process.terminal.receive()
        except anyio.EndOfStream:
            return seen


async def _in_front(process: TerminalProcess, name: str) -> bool:
    group = await process.foreground()
    try:
        return group is not None and psutil.Process(group).name() == name
    except psutil.NoSuchProcess:
        return False


@check("terminal")
async def test_the_terminal_is_the_controlling_one(trial: Trial) -> None:
    spec = _spec(
        trial, "bash", "-c", "test -t 0 -a -t 1 -a -t 2 && stty size </dev/tty; ps -o tpgid=,pid= -p $$"
    )
    async with await trial.runtime.spawn_terminal(spec) as process:
        lines = (await _rest(process)).split()
        assert lines[:2] == [b"30", b"100"]
        assert int(lines[2]) == int(lines[3]) == process.pid
        assert (await process.wait()).exit_code == 0


@check("terminal")
async def test_the_size_can_change_and_is_told(trial: Trial) -> None:
    spec = _spec(
        trial, "bash", "-c", "trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.02; done"
    )
    async with await trial.runtime.spawn_terminal(spec) as process:
        await _until(process, b"ready")
        await process.resize(77, 11)
        assert b"11 77" in await _rest(process)
        assert (await process.wait()).exit_code == 3
        with pytest.raises(ValueError):
            await process.resize(0, 11)


@check("terminal")
async def test_what_is_typed_arrives(trial: Trial) -> None:
    async with await trial.runtime.spawn_terminal(
        _spec(trial, "bash", "-c", "read x; echo got $x; cat")
    ) as process:
        await process.terminal.send(b"word\n")
        await _until(process, b"got word")
        await process.terminal.send(b"\x04")  # Ctrl-D: the end of input for cat
        await _rest(process)
        assert (await process.wait()).exit_code == 0


@check("terminal", "host_view")
async def test_signals_reach_the_foreground_group(trial: Trial) -> None:
    spec = _spec(
        trial, "bash", "--norc", "-i", env=dict(trial.spec("x").env) | {"PS1": "prompt> ", "TERM": "dumb"}
    )
    async with await trial.runtime.spawn_terminal(spec) as process:
        await _until(process, b"prompt> ")
        assert await process.foreground() == process.pid
        await process.terminal.send(b"echo up; sleep 300\n")
        await _until(process, b"\nup\r\n")
        with anyio.fail_after(10):  # a child of the shell that is not sleep yet would drop the signal
            while not await _in_front(process, "sleep"):
                await anyio.sleep(0.01)
        await process.signal("SIGINT")
        await _until(process, b"prompt> ")
        assert await process.foreground() == process.pid
        await process.terminal.send(b"exit 9\n")
        await _rest(process)
        assert (await process.wait()).exit_code == 9


@check("terminal", "host_view")
async def test_disposal_ends_the_whole_session(trial: Trial) -> None:
    spec = _spec(trial, "bash", "-c", "trap '' HUP TERM; set -m; sleep 300 & echo up; sleep 300", grace=0.1)
    async with await trial.runtime.spawn_terminal(spec) as process:
        await _until(process, b"up")
        assert len(trial.alive()) >= 2
    assert trial.alive() == []


@check("terminal")
async def test_what_a_terminal_shows_is_filtered(trial: Trial) -> None:
    spec = _spec(trial, "bash", "-c", f"echo {SECRET.decode()}")
    async with await trial.runtime.spawn_terminal(spec, terminal_filter=Masker()) as process:
        assert await _rest(process) == b"***\r\n"


@check("terminal")
async def test_starts_on_terminals_fail_by_the_same_names(trial: Trial) -> None:
    with pytest.raises(ExecutableNotFound):
        await trial.runtime.spawn_terminal(_spec(trial, "no-such-program-at-all"))
    with pytest.raises(BadWorkingDirectory):
        await trial.runtime.spawn_terminal(_spec(trial, "true", cwd="/nonexistent"))
    with pytest.raises(TypeError):
        await trial.runtime.spawn_terminal(trial.spec("true"))  # pyright: ignore[reportArgumentType] - what is tested
