"""The registry over scripted producers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from jobs_local_fakes import Scripted
from pydantic import JsonValue

from seam.jobs_def import (
    JobEnded,
    JobNotice,
    JobOwner,
    JobProducer,
    JobRegistry,
    NotDurable,
    RegistryClosed,
    TooManyJobs,
    UnknownJob,
    job_ended,
)
from seam.jobs_local import local
from seam.kernel import Context, Instance, Kernel, NoConfig, plugin

pytestmark = pytest.mark.anyio

ME = JobOwner(agent="default", session="s1")
OTHER = JobOwner(agent="default", session="s2")
STRANGER = JobOwner(agent="reviewer", session="s1")


@asynccontextmanager
async def registry(
    notices: list[JobNotice] | None = None, **config: object
) -> AsyncGenerator[tuple[JobRegistry, Instance]]:
    heard = notices if notices is not None else []

    @plugin()
    async def listener(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
        ctx.on(job_ended, heard.append)
        yield

    body: Exception | None = None
    async with Kernel() as kernel:
        instance = kernel.root.load(local, config)
        kernel.root.load(listener)
        await kernel.root.settle()
        found = kernel.root.get(JobRegistry)
        assert found is not None
        try:
            yield found, instance
        except Exception as error:
            body = error
        await instance.stop()
        assert instance.faults == ()
    if body is not None:
        raise body


async def test_a_job_has_an_id_an_owner_and_output_by_offset() -> None:
    async with registry() as (jobs, _):
        producer = Scripted()
        job = await jobs.start(ME, "web server", producer)
        producer.say(b"hello world\n")
        piece = await jobs.read(ME, job.id, after=6, limit=100)
        assert (piece.data, piece.start, piece.next, piece.total, piece.ended) == (
            b"world\n",
            6,
            12,
            12,
            False,
        )
        again = await jobs.read(ME, job.id, after=0, limit=5)
        assert again.data == b"hello", "one reader took bytes from another"
        tail = await jobs.read(ME, job.id, after=-6, limit=100)
        assert tail.data == b"world\n"


async def test_another_session_and_another_agent_do_not_see_it() -> None:
    async with registry() as (jobs, _):
        job = await jobs.start(ME, "x", Scripted())
        for stranger in (OTHER, STRANGER):
            assert jobs.list(stranger) == []
            with pytest.raises(UnknownJob, match=job.id):
                jobs.get(stranger, job.id)
            with pytest.raises(UnknownJob):
                await jobs.read(stranger, job.id, after=0, limit=1)
            with pytest.raises(UnknownJob):
                await jobs.stop(stranger, job.id)
            with pytest.raises(UnknownJob):
                await jobs.write(stranger, job.id, b"x")
            with pytest.raises(UnknownJob):
                await jobs.wait(stranger, [job.id], timeout=0)


async def test_jo_006_the_final_state_comes_from_the_producer_never_from_idleness() -> None:
    async with registry() as (jobs, _):
        quick, silent = Scripted(), Scripted()
        a = await jobs.start(ME, "a", quick)
        b = await jobs.start(ME, "b", silent)
        quick.end(exit_code=0)
        await anyio.wait_all_tasks_blocked()
        ended = jobs.get(ME, a.id)
        assert ended.end is not None
        assert (ended.state, ended.end.cause, ended.end.exit_code) == ("ended", "exited", 0)
        assert jobs.get(ME, b.id).state == "running"


async def test_jo_007_finished_jobs_are_not_listed_as_running() -> None:
    async with registry() as (jobs, _):
        producers = [Scripted() for _ in range(50)]
        for producer in producers:
            await jobs.start(ME, "true", producer)
            producer.end()
        await anyio.wait_all_tasks_blocked()
        assert [job.state for job in jobs.list(ME)] == ["ended"] * 50
        assert all(producer.closed == 1 for producer in producers)


async def test_jo_008_a_job_killed_from_outside_ends_with_its_signal() -> None:
    async with registry() as (jobs, _):
        producer = Scripted()
        job = await jobs.start(ME, "sleep", producer)
        producer.end(cause="signalled", exit_code=None, signal="SIGKILL")
        (state,) = await jobs.wait(ME, [job.id], timeout=5)
        assert state.end is not None
        assert (state.end.cause, state.end.signal) == ("signalled", "SIGKILL")


async def test_jo_009_stopping_what_has_ended_changes_nothing() -> None:
    async with registry() as (jobs, _):
        producer = Scripted()
        job = await jobs.start(ME, "x", producer)
        producer.end(exit_code=7)
        await anyio.wait_all_tasks_blocked()
        stopped = await jobs.stop(ME, job.id)
        assert producer.cancelled == 0
        assert stopped.end is not None
        assert stopped.end.exit_code == 7


async def test_jo_013_descriptors_go_with_the_end_and_the_text_stays() -> None:
    async with registry(tail_bytes=4) as (jobs, _):
        producer = Scripted()
        job = await jobs.start(ME, "x", producer)
        producer.say(b"0123456789")
        producer.end()
        await anyio.wait_all_tasks_blocked()
        assert producer.closed == 1
        piece = await jobs.read(ME, job.id, after=0, limit=100)
        assert (piece.data, piece.start, piece.lost, piece.ended) == (b"6789", 6, 6, True)


async def test_stop_waits_for_the_end_and_says_who_ended_it() -> None:
    notices: list[JobNotice] = []
    async with registry(notices) as (jobs, _):
        producer = Scripted()
        job = await jobs.start(ME, "x", producer)
        stopped = await jobs.stop(ME, job.id)
        assert stopped.end is not None
        assert (stopped.state, stopped.end.cause) == ("ended", "stopped")
        await anyio.wait_all_tasks_blocked()
    assert [notice.job.id for notice in notices] == [job.id]


async def test_a_command_that_exits_by_itself_while_it_is_stopped_keeps_its_code() -> None:
    async with registry() as (jobs, _):
        producer = Scripted(cancels=False)
        job = await jobs.start(ME, "x", producer)
        async with anyio.create_task_group() as group:
            group.start_soon(jobs.stop, ME, job.id)
            while not producer.cancelled:
                await anyio.lowlevel.checkpoint()
            producer.end(exit_code=3)
        end = jobs.get(ME, job.id).end
        assert end is not None
        assert (end.cause, end.exit_code) == ("exited", 3)


async def test_waiting_ends_with_the_first_end_with_output_or_with_time() -> None:
    async with registry() as (jobs, _):
        first, second = Scripted(), Scripted()
        a, b = await jobs.start(ME, "a", first), await jobs.start(ME, "b", second)
        states = await jobs.wait(ME, [a.id, b.id], timeout=0.01)
        assert [job.state for job in states] == ["running", "running"]
        async with anyio.create_task_group() as group:

            async def speak() -> None:
                await anyio.wait_all_tasks_blocked()
                second.say(b"ready")

            group.start_soon(speak)
            states = await jobs.wait(ME, [a.id, b.id], timeout=60, beyond={b.id: 0})
        assert [job.total for job in states] == [0, 5]
        async with anyio.create_task_group() as group:

            async def end() -> None:
                await anyio.wait_all_tasks_blocked()
                first.end()

            group.start_soon(end)
            states = await jobs.wait(ME, [a.id, b.id], timeout=60)
        assert [job.state for job in states] == ["ended", "running"]


async def test_input_goes_to_the_producer_while_it_runs() -> None:
    async with registry() as (jobs, _):
        producer = Scripted()
        job = await jobs.start(ME, "cat", producer)
        await jobs.write(ME, job.id, b"hello\n")
        assert producer.input == [b"hello\n"]
        producer.end()
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(JobEnded):
            await jobs.write(ME, job.id, b"more")


async def test_ending_the_owner_ends_its_jobs_and_waits() -> None:
    async with registry() as (jobs, _):
        mine, theirs = Scripted(), Scripted()
        await jobs.start(ME, "x", mine)
        other = await jobs.start(OTHER, "y", theirs)
        await jobs.end_owner(ME)
        assert mine.cancelled == 1
        assert mine.closed == 1
        assert jobs.list(ME) == []
        assert jobs.get(OTHER, other.id).state == "running"


async def test_disposal_ends_everything() -> None:
    async with registry() as (jobs, instance):
        producer = Scripted()
        await jobs.start(ME, "x", producer)
        await instance.stop()
        assert producer.cancelled == 1
        assert producer.closed == 1
        late = Scripted()
        with pytest.raises(RegistryClosed):
            await jobs.start(ME, "late", late)
        assert late.cancelled == 1, "what cannot be taken over is ended"


async def test_beyond_the_limit_nothing_is_left_running() -> None:
    async with registry(running_limit=1) as (jobs, _):
        await jobs.start(ME, "x", Scripted())
        refused = Scripted()
        with pytest.raises(TooManyJobs, match="limit"):
            await jobs.start(ME, "y", refused)
        assert (refused.cancelled, refused.closed) == (1, 1)
        await jobs.start(OTHER, "z", Scripted())


async def test_old_ended_jobs_are_forgotten_first() -> None:
    async with registry(ended_kept=2) as (jobs, _):
        for _ in range(4):
            producer = Scripted()
            await jobs.start(ME, "x", producer)
            producer.end()
            await anyio.wait_all_tasks_blocked()
        assert [job.id for job in jobs.list(ME)] == ["j3", "j4"]


async def test_durable_jobs_need_a_folder_and_a_record(tmp_path: Path) -> None:
    async with registry() as (jobs, _):
        producer = Scripted(record={"pid": 1})
        with pytest.raises(NotDurable, match="folder"):
            await jobs.start(ME, "x", producer, kind="k", durable=True)
        assert producer.cancelled == 1
    async with registry(folder=tmp_path / "jobs") as (jobs, _):
        with pytest.raises(NotDurable, match="outlive"):
            await jobs.start(ME, "x", Scripted(), kind="k", durable=True)


async def test_a_durable_job_outlives_the_registry_and_is_found_again(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    producer = Scripted(record={"pid": 42})
    async with registry(folder=folder) as (jobs, _):
        job = await jobs.start(ME, "server", producer, kind="k", durable=True)
        assert (folder.stat().st_mode & 0o777, next(folder.iterdir()).stat().st_mode & 0o777) == (
            0o700,
            0o600,
        )
        await jobs.end_owner(ME)
        assert producer.cancelled == 0
    assert (producer.cancelled, producer.closed) == (0, 0)

    asked: list[JsonValue] = []

    async def revive(record: JsonValue) -> JobProducer | None:
        asked.append(record)
        return producer

    async with registry(folder=folder) as (jobs, _):
        jobs.offer_reviver("k", revive)
        await anyio.wait_all_tasks_blocked()
        assert asked == [{"pid": 42}]
        found = jobs.get(OTHER, job.id)
        assert (found.state, found.title, found.durable) == ("running", "server", True)
        fresh = await jobs.start(ME, "x", Scripted())
        assert fresh.id != job.id, "an id was given twice"
        with pytest.raises(UnknownJob):
            jobs.get(STRANGER, job.id)
        producer.end(exit_code=5)
        await jobs.wait(ME, [job.id], timeout=5)


async def test_jo_007_a_durable_job_that_is_gone_is_lost_not_running(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    async with registry(folder=folder) as (jobs, _):
        job = await jobs.start(ME, "server", Scripted(record={"pid": 42}), kind="k", durable=True)

    async def gone(record: JsonValue) -> JobProducer | None:
        return None

    async with registry(folder=folder) as (jobs, _):
        jobs.offer_reviver("k", gone)
        assert await _listed(jobs, job.id)
        (found,) = await jobs.wait(ME, [job.id], timeout=5)
        assert found.state == "lost"


async def _listed(jobs: JobRegistry, job: str) -> bool:
    await anyio.wait_all_tasks_blocked()
    return any(found.id == job for found in jobs.list(ME))


async def test_a_damaged_record_is_left_alone_and_the_others_are_found(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "jobs"
    async with registry(folder=folder) as (jobs, _):
        job = await jobs.start(ME, "server", Scripted(record={}), kind="k", durable=True)
    (folder / "bad.json").write_bytes(b"\x00" * 100)
    async with registry(folder=folder) as (jobs, _):
        jobs.offer_reviver("k", _revive_new)
        assert await _listed(jobs, job.id)
    assert "bad.json" in caplog.text
    assert (folder / "bad.json").read_bytes() == b"\x00" * 100


async def _revive_new(record: JsonValue) -> JobProducer | None:
    return Scripted(record=record)
