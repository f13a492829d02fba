"""Commands in the background."""

from __future__ import annotations

import anyio
import pytest

from seam.exec_def import ExecResult, OutputChunk, OutputWindow
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._trial import Trial

WIDE = OutputWindow(head=10_000_000, tail=0, spill=0)


@check()
async def test_start_returns_at_once_and_enforces_no_limit(trial: Trial) -> None:
    async with await trial.start(
        "while [ ! -e go ]; do sleep 0.02; done; echo done; exit 3", timeout=0.2
    ) as process:
        assert process.result is None
        assert process.spec.limits.timeout == 0.2
        confinement = process.sandbox
        assert confinement.mode == process.spec.isolation.mode
        with anyio.move_on_after(0.6) as scope:
            await process.wait()
        assert scope.cancelled_caught
        (trial.folder / "go").touch()
        result = await process.wait()
        assert (result.cause, result.exit_code, result.timed_out) == ("exited", 3, False)
        assert result.stdout.text == "done\n"
        assert process.result is result
        assert result.sandbox.enforcement == confinement.enforcement


@check()
async def test_the_event_loop_stays_free(trial: Trial) -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.sleep(0.01)

    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        await trial.run("sleep 0.8")
        group.cancel_scope.cancel()
    assert turns > 5


@check()
async def test_many_can_wait(trial: Trial) -> None:
    results: list[ExecResult] = []
    async with await trial.start("while [ ! -e go ]; do sleep 0.02; done; exit 4") as process:

        async def wait() -> None:
            results.append(await process.wait())

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(wait)
            (trial.folder / "go").touch()
    assert [result.exit_code for result in results] == [4, 4, 4]


@check()
async def test_out_012_output_is_drained_without_readers(trial: Trial) -> None:
    async with await trial.start("python3 -c \"print('x'*1000000)\"; touch done", output=WIDE) as process:
        await trial.until_exists(trial.folder / "done")
        result = await process.wait()
        assert result.exit_code == 0
        assert result.stdout.total == 1_000_001


@check()
async def test_readers_do_not_steal_from_each_other(trial: Trial) -> None:
    async with await trial.start(
        "seq 1 5000; while [ ! -e go ]; do sleep 0.02; done; echo end", output=WIDE
    ) as process:
        expected = b"".join(b"%d\n" % n for n in range(1, 5001))
        assert await process.wait_beyond(len(expected) - 1)

        async def read_all() -> bytes:
            data, offset = b"", 0
            while (piece := await process.read(offset=offset, limit=1000)).data:
                assert piece.offset == offset
                assert not piece.lost
                data += piece.data
                offset = piece.next_offset
            return data

        assert await read_all() == expected
        assert await read_all() == expected
        assert not (await process.read(offset=0, limit=10)).ended
        (trial.folder / "go").touch()
        await process.wait()
        last = await process.read(offset=len(expected), limit=1000)
        assert (last.data, last.ended, last.total) == (b"end\n", True, len(expected) + 4)


@check()
async def test_a_reader_is_told_of_bytes_that_are_gone(trial: Trial) -> None:
    async with await trial.start(
        "seq 1 100000", output=OutputWindow(head=1000, tail=1000, spill=0)
    ) as process:
        result = await process.wait()
        piece = await process.read(offset=5000, limit=100)
        assert piece.lost == piece.offset - 5000 > 0
        assert (
            piece.data == b"".join(b"%d\n" % n for n in range(1, 100_001))[piece.offset :][: len(piece.data)]
        )
        assert piece.total == result.stdout.total


@check()
async def test_bytes_that_left_memory_are_read_from_the_file(trial: Trial) -> None:
    window = OutputWindow(head=1000, tail=1000, spill=10_000_000)
    async with await trial.start("seq 1 100000", output=window) as process:
        await process.wait()
        expected = b"".join(b"%d\n" % n for n in range(1, 100_001))
        piece = await process.read(offset=300_000, limit=100)
        assert (piece.offset, piece.data, piece.lost) == (300_000, expected[300_000:300_100], 0)


@check()
async def test_a_reader_waits_for_more_or_for_the_end(trial: Trial) -> None:
    async with await trial.start("echo one; while [ ! -e go ]; do sleep 0.02; done") as process:
        assert await process.wait_beyond(0)
        (trial.folder / "go").touch()
        assert not await process.wait_beyond(4)


@check()
async def test_questions_that_make_no_sense_are_refused(trial: Trial) -> None:
    async with await trial.start("true", streams="merged") as process:
        with pytest.raises(ValueError):
            await process.read("stderr", limit=10)
        with pytest.raises(ValueError):
            await process.read(offset=-1, limit=10)
        with pytest.raises(ValueError):
            await process.read(limit=0)


@check()
async def test_subscribers_come_and_go(trial: Trial) -> None:
    stays: list[OutputChunk] = []
    leaves: list[OutputChunk] = []
    command = "while [ ! -e a ]; do sleep 0.02; done; echo a; while [ ! -e b ]; do sleep 0.02; done; echo b"
    async with await trial.start(command) as process:
        process.subscribe(stays.append)
        leave = process.subscribe(leaves.append)
        (trial.folder / "a").touch()
        assert await process.wait_beyond(1)
        leave()
        (trial.folder / "b").touch()
        await process.wait()
    assert b"".join(chunk.data for chunk in stays) == b"a\nb\n"
    assert b"".join(chunk.data for chunk in leaves) == b"a\n"
    assert [chunk.offset for chunk in stays] == [0, 2]


@check()
async def test_terminate_ends_the_tree_and_can_be_repeated(trial: Trial) -> None:
    mark = trial.mark()
    async with await trial.start(f"sleep {mark} & sleep {mark}") as process:
        result = await process.terminate(reason="no longer needed")
        assert trial.alive(mark) == []
        assert (result.cause, result.ended_by, result.aborted) == ("aborted", "owner", True)
        assert result.abort_reason == "no longer needed"
        assert await process.terminate() == result


@check()
async def test_terminating_what_is_over_changes_nothing(trial: Trial) -> None:
    async with await trial.start("exit 6") as process:
        first = await process.wait()
        assert (await process.terminate()) == first
        assert (first.cause, first.exit_code) == ("exited", 6)


async def _race_with_the_end(trial: Trial, times: int) -> None:
    for number in range(times):
        async with await trial.start("true") as process:
            await anyio.sleep(number % 10 * 0.0004)
            result = await process.terminate()
            assert result.exit_code == 0 or result.signal in ("SIGTERM", "SIGKILL"), result


@check()
async def test_ex_039_a_signal_right_at_the_exit_never_raises(trial: Trial) -> None:
    await _race_with_the_end(trial, 30)


@check(full=True)
async def test_ex_039_a_signal_right_at_the_exit_never_raises_in_a_thousand_tries(trial: Trial) -> None:
    await _race_with_the_end(trial, 1000)


@check()
async def test_leaving_the_block_ends_the_command(trial: Trial) -> None:
    mark = trial.mark()
    async with await trial.start(f"sleep {mark}") as process:
        assert process.result is None
    assert trial.alive(mark) == []
    result = process.result
    assert result is not None
    assert result.ended_by == "owner"
    await process.aclose()


@check("outlives_shell")
async def test_ex_001_a_command_in_the_background_is_over_when_its_shell_is(trial: Trial) -> None:
    mark = trial.mark()
    async with await trial.start(f"sleep {mark} & echo ok") as process:
        result = await process.wait()
        assert result.exit_code == 0
        assert not result.drain.clean
    await trial.assert_gone(mark)
