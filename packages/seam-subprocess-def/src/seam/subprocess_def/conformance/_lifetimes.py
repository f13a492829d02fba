"""Processes that outlive the host on purpose, and those that must not."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from seam.subprocess_def._errors import NotSupported, RecordUnusable
from seam.subprocess_def._spec import DetachedLifetime, SpawnSpec
from seam.subprocess_def._streams import File, Null, Pipe, SameAsStdout
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._filters import Masker
from seam.subprocess_def.conformance._trial import Trial


def _detached(trial: Trial, script: str, **changes: object) -> tuple[SpawnSpec, str]:
    record = str(trial.folder / "record")
    fields: dict[str, object] = {
        "stdout": File(path=str(trial.folder / "out")),
        "stderr": SameAsStdout(),
        "lifetime": DetachedLifetime(record=record),
    }
    return trial.bash(script, **(fields | changes)), record


@check("detached", "host_view")
async def test_a_detached_process_outlives_its_runtime_and_is_found_again(trial: Trial) -> None:
    spec, record = _detached(trial, "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 7")
    async with trial.subject.open() as runtime, await runtime.spawn(spec) as process:
        assert process.exit is None
        pid = process.pid
    assert len(trial.alive()) >= 1
    async with await trial.runtime.attach(record) as found:
        assert (found.pid, found.exit) == (pid, None)
        stream = found.collected("stdout")
        assert await stream.wait_beyond(0)
        assert (await stream.read(0, 100)).data == b"one\n"
        (trial.folder / "go").touch()
        assert (await found.wait()).exit_code == 7
        assert stream.head() == b"one\ntwo\n"
        assert not await stream.wait_beyond(8)
    async with await trial.runtime.attach(record) as again:
        assert again.exit is not None
        assert again.exit.exit_code == 7


@check("detached", "host_view")
async def test_a_detached_process_can_be_ended_by_whoever_finds_it(trial: Trial) -> None:
    spec, record = _detached(trial, "setsid sleep 300 & trap '' TERM; echo up; sleep 300", grace=0.2)
    async with trial.subject.open() as runtime, await runtime.spawn(spec) as process:
        assert await process.collected("stdout").wait_beyond(0)
    async with await trial.runtime.attach(record) as found:
        ended = await found.terminate()
        assert ended.signal == "SIGKILL"
        assert ended.termination is not None
        assert ended.termination.escalated
        assert trial.alive() == []
        assert await found.terminate() == ended


@check("detached", "host_view")
async def test_survivors_of_a_detached_process_end_without_a_host(trial: Trial) -> None:
    spec, _ = _detached(trial, "setsid sleep 300 & echo up; while [ ! -e go ]; do sleep 0.02; done")
    async with trial.subject.open() as runtime, await runtime.spawn(spec) as process:
        assert await process.collected("stdout").wait_beyond(0)
    (trial.folder / "go").touch()
    await trial.gone(10)


@check("detached", "host_view")
async def test_a_record_of_another_process_does_not_lead_to_a_stranger(trial: Trial) -> None:
    """The number of an ended process may belong to somebody else by now: the start time tells."""
    spec, record = _detached(trial, "exit 0")
    async with await trial.spawn(spec) as process:
        await process.wait()
    async with await trial.spawn(trial.spec("sleep", "300")) as stranger:
        text = Path(record).read_text()
        for name in ("supervisor", "leader"):  # as if the numbers had been used again
            text = re.sub(
                rf'"{name}":\{{"pid":\d+,"ticks":\d+\}}', f'"{name}":{{"pid":{stranger.pid},"ticks":1}}', text
            )
        Path(record).write_text(text)
        async with await trial.runtime.attach(record) as found:
            assert found.exit is not None
            await found.terminate(grace=0.0)
            await found.signal("SIGKILL")
        assert stranger.exit is None
        assert len(trial.alive()) == 1


@check("detached")
async def test_records_that_lead_nowhere_say_why(trial: Trial) -> None:
    spec, record = _detached(trial, "exit 0")
    for content, reason in ((None, "missing"), ("{}", "malformed"), ("no json", "malformed")):
        if content is not None:
            Path(record).write_text(content)
        with pytest.raises(RecordUnusable) as caught:
            await trial.runtime.attach(record)
        assert caught.value.facts["reason"] == reason
    with pytest.raises(RecordUnusable) as caught:
        await trial.spawn(spec)
    assert caught.value.facts["reason"] == "exists"


@check("detached")
async def test_a_detached_process_has_no_streams_that_need_a_host(trial: Trial) -> None:
    for changes in ({"stdout": Pipe()}, {"stdin": Pipe()}):
        spec, record = _detached(trial, "true", **changes)
        with pytest.raises(NotSupported):
            await trial.spawn(spec)
        assert not Path(record).exists()
    spec, _ = _detached(trial, "true")
    with pytest.raises(NotSupported):
        await trial.spawn(spec, filters={"stdout": Masker()})


@check("detached")
async def test_a_detached_start_that_fails_leaves_no_record(trial: Trial) -> None:
    spec, record = _detached(trial, "true", cwd="/nonexistent")
    with pytest.raises(Exception, match="nonexistent"):
        await trial.spawn(spec)
    assert not Path(record).exists()


@check("detached")
async def test_a_file_can_take_the_output_of_an_owned_process(trial: Trial) -> None:
    spec = trial.bash(
        "echo one; echo two >&2",
        stdout=File(path=str(trial.folder / "o")),
        stderr=SameAsStdout(),
        stdin=Null(),
    )
    async with await trial.spawn(spec) as process:
        await process.wait()
        assert process.collected("stdout").head() == b"one\ntwo\n"


HOST = """
import os, sys, anyio, importlib, json
from seam.subprocess_def import SpawnSpec
module, function = sys.argv[1].split(":")
async def main():
    async with getattr(importlib.import_module(module), function)() as runtime:
        processes = [await runtime.spawn(SpawnSpec.model_validate_json(text)) for text in sys.argv[3:]]
        await processes[0].collected("stdout").wait_beyond(0)
        print("up", flush=True)
        await anyio.sleep_forever()
anyio.run(main, backend=sys.argv[2])
"""


@check("host_death", "host_view")
async def test_a_host_that_is_killed_takes_its_trees_along(trial: Trial) -> None:
    assert trial.subject.opener is not None, "give Subject(opener=...), or say that host_death is lacking"
    script = "trap '' TERM HUP; setsid sleep 300 & (setsid sh -c 'sleep 300 & exit' &); echo up; sleep 300"
    for backend in ("asyncio", "trio"):
        for group in (False, True):
            specs = [
                trial.bash(script).model_dump_json(),
                trial.bash(script, stdout=Null()).model_dump_json(),
            ]
            command = [sys.executable, "-c", HOST, trial.subject.opener, backend, *specs]
            with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as host:
                assert host.stdout is not None
                assert await anyio.to_thread.run_sync(host.stdout.readline) == b"up\n"
                await trial.until(lambda: len(trial.alive()) >= 6)
                if group:
                    import os

                    os.killpg(host.pid, signal.SIGKILL)
                else:
                    host.kill()
                host.wait()
            await trial.gone(2.0)
