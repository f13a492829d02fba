"""Collected and piped streams."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import anyio
import pytest

from seam.subprocess_def._process import CollectedStream
from seam.subprocess_def._streams import Collect, Pipe, SameAsStdout
from seam.subprocess_def._window import ByteRange
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._trial import WIDE, Trial, data

SMALL = Collect(max_bytes=2000, head_bytes=1000, spill_bytes=0)
NUMBERS = b"".join(b"%d\n" % number for number in range(1, 100_001))
SPILLED = Collect(max_bytes=2000, head_bytes=1000, spill_bytes=10_000_000)
MIB = 1 << 20


@check()
async def test_out_009_one_pipe_keeps_the_exact_order_of_both_streams(trial: Trial) -> None:
    program = "import os\nfor i in range(1000): os.write(1, b'o%d\\n' % i); os.write(2, b'e%d\\n' % i)"
    ran = await trial.run(trial.python(program, stderr=SameAsStdout()))
    assert ran.out == b"".join(b"o%d\ne%d\n" % (i, i) for i in range(1000))


@check()
async def test_out_008_two_streams_stay_apart(trial: Trial) -> None:
    ran = await trial.run(trial.bash("for i in 1 2 3; do echo out$i; echo err$i >&2; done"))
    assert (ran.out, ran.err) == (b"out1\nout2\nout3\n", b"err1\nerr2\nerr3\n")


@check()
async def test_out_004_a_line_of_any_length(trial: Trial) -> None:
    ran = await trial.run(trial.python("print('x' * 70000); print('end')", stdout=WIDE))
    assert (ran.exit.exit_code, ran.out) == (0, b"x" * 70000 + b"\nend\n")


@check()
async def test_out_006_bytes_are_kept_as_they_are(trial: Trial) -> None:
    ran = await trial.run(trial.bash(r"printf 'a\351b\377\376\000c\n'"))
    assert ran.out == b"a\xe9b\xff\xfe\x00c\n"


@check()
async def test_out_012_output_is_drained_without_readers(trial: Trial) -> None:
    program = "print('x' * 1000000); open('done', 'w').close()"
    async with await trial.spawn(trial.python(program, stdout=WIDE)) as process:
        await process.wait_leader()
        assert (trial.folder / "done").exists()
        assert (await process.wait()).exit_code == 0
        assert process.collected("stdout").total == 1_000_001


@check()
async def test_out_018_five_megabytes_arrive_whole(trial: Trial) -> None:
    ran = await trial.run(trial.python("print('x' * 5000000)", stdout=WIDE))
    assert (ran.exit.exit_code, len(ran.out)) == (0, 5_000_001)


@check()
async def test_a_stream_that_fits_is_whole_and_touches_no_disk(trial: Trial) -> None:
    spec = trial.bash("head -c 2000 /dev/zero", stdout=SPILLED)
    async with await trial.spawn(spec) as process:
        await process.wait()
        stream = process.collected("stdout")
        summary = stream.summary()
        assert (stream.head(), stream.tail()) == (bytes(2000), b"")
        assert (summary.total, summary.truncated, summary.reasons) == (2000, False, ())
        assert (summary.kept, summary.lost, summary.spill) == ((ByteRange(start=0, end=2000),), (), None)
        assert (summary.ended, stream.ended) == ("eof", True)


@check()
async def test_beyond_the_windows_the_loss_is_exact(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("seq 1 100000", stdout=SMALL)) as process:
        await process.wait()
        stream = process.collected("stdout")
        assert (stream.head(), stream.tail()) == (NUMBERS[:1000], NUMBERS[-1000:])
        summary, total = stream.summary(), len(NUMBERS)
        assert (summary.total, summary.truncated, summary.reasons) == (total, True, ("spill_cap",))
        assert summary.kept == (ByteRange(start=0, end=1000), ByteRange(start=total - 1000, end=total))
        assert summary.lost == (ByteRange(start=1000, end=total - 1000),)
        window = await stream.read(5000, 100)
        assert window.lost == ByteRange(start=5000, end=total - 1000)
        assert (window.offset, window.data) == (total - 1000, NUMBERS[-1000:][:100])


@check()
async def test_windows_of_every_size_tell_the_truth(trial: Trial) -> None:
    for most, head in ((0, 0), (1, 0), (1, 1), (10, 0), (10, 10), (10, 3), (99, 98)):
        spec = trial.bash(
            "printf 0123456789abcdefghij", stdout=Collect(max_bytes=most, head_bytes=head, spill_bytes=0)
        )
        async with await trial.spawn(spec) as process:
            await process.wait()
            stream = process.collected("stdout")
            everything = b"0123456789abcdefghij"
            if most >= 20:
                assert (stream.head(), stream.tail()) == (everything, b"")
            else:
                assert stream.head() == everything[:head]
                assert stream.tail() == everything[len(everything) - (most - head) :]
            assert stream.summary().truncated is (most < 20)


@check()
async def test_the_file_has_everything_up_to_its_cap(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("seq 1 100000", stdout=SPILLED)) as process:
        await process.wait()
        stream = process.collected("stdout")
        summary = stream.summary()
        assert (summary.truncated, summary.reasons, summary.lost) == (True, ("window",), ())
        assert summary.spill is not None
        assert summary.spill.size == len(NUMBERS)
        assert summary.spill.digest == f"sha256:{hashlib.sha256(NUMBERS).hexdigest()}"
        window = await stream.read(300_000, 100)
        assert (window.offset, window.data, window.lost) == (300_000, NUMBERS[300_000:300_100], None)
        assert window.spill_path == summary.spill.path


@check()
async def test_a_cap_on_the_file_is_kept_and_told(trial: Trial) -> None:
    capped = Collect(max_bytes=2000, head_bytes=1000, spill_bytes=5000)
    async with await trial.spawn(trial.bash("seq 1 100000", stdout=capped)) as process:
        await process.wait()
        stream, total = process.collected("stdout"), len(NUMBERS)
        summary = stream.summary()
        assert summary.spill is not None
        assert summary.spill.size == 5000
        assert summary.spill.digest == f"sha256:{hashlib.sha256(NUMBERS[:5000]).hexdigest()}"
        assert summary.lost == (ByteRange(start=5000, end=total - 1000),)
        assert set(summary.reasons) == {"window", "spill_cap"}
        window = await stream.read(6000, 10)
        assert window.lost == ByteRange(start=6000, end=total - 1000)
        assert window.spill_path == summary.spill.path


@check("host_view")
async def test_the_file_is_private_and_stays_after_disposal(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("seq 1 100000", stdout=SPILLED)) as process:
        await process.wait()
    summary = process.collected("stdout").summary()
    assert summary.spill is not None
    path = Path(summary.spill.path)
    assert path.read_bytes() == NUMBERS
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert await _everything(process.collected("stdout"), 77_777) == NUMBERS


async def _everything(stream: CollectedStream, step: int) -> bytes:
    found, offset = b"", 0
    while True:
        window = await stream.read(offset, step)
        assert window.lost is None
        found += window.data
        offset = window.next_offset
        if window.ended:
            return found
        await stream.wait_beyond(offset)


@check()
async def test_readers_follow_without_stealing(trial: Trial) -> None:
    script = "for i in $(seq 200); do echo line $i; [ $((i % 20)) = 0 ] && sleep 0.02; done"
    async with await trial.spawn(trial.bash(script)) as process:
        stream, found = process.collected("stdout"), dict[int, bytes]()

        async def follow(step: int) -> None:
            found[step] = await _everything(stream, step)

        async with anyio.create_task_group() as group:
            for step in (1000, 17, 100_000):
                group.start_soon(follow, step)
        expected = b"".join(b"line %d\n" % number for number in range(1, 201))
        assert found == {1000: expected, 17: expected, 100_000: expected}


@check()
async def test_waiting_for_more_ends_with_the_stream(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("echo one; while [ ! -e go ]; do sleep 0.02; done")) as process:
        stream = process.collected("stdout")
        assert stream.last_output_at is None or stream.total > 0
        assert await stream.wait_beyond(3)
        assert stream.last_output_at is not None
        (trial.folder / "go").touch()
        assert not await stream.wait_beyond(4)
        last = await stream.read(4, 10)
        assert (last.data, last.ended, last.total) == (b"", True, 4)
        for offset, size in ((-1, 10), (0, 0), (0, -1)):
            with pytest.raises(ValueError):
                await stream.read(offset, size)


@check()
async def test_ex_076_input_and_output_larger_than_pipes_flow_at_once(trial: Trial) -> None:
    script = "head -c 200000 /dev/zero | tr '\\0' a; cat >/dev/null; echo done"
    ran = await trial.run(trial.bash(script, stdin=data(b"x" * 200_000), stdout=WIDE))
    assert (ran.exit.exit_code, ran.out) == (0, b"a" * 200_000 + b"done\n")


@check()
async def test_ex_078_input_that_nobody_reads_is_no_error(trial: Trial) -> None:
    ran = await trial.run(trial.bash("exec 0<&-; echo early; exit 4", stdin=data(b"x" * 1_000_000)))
    assert (ran.exit.exit_code, ran.out) == (4, b"early\n")
    ran = await trial.run(trial.spec("head", "-1", stdin=data(b"a\n" * 1_000_000)))
    assert (ran.exit.exit_code, ran.out) == (0, b"a\n")
    ran = await trial.run(trial.bash("sleep 0.2; exit 5", stdin=data(b"x" * 1_000_000)))
    assert ran.exit.exit_code == 5


@check()
async def test_input_arrives_whole(trial: Trial) -> None:
    blob = bytes(range(256)) * 8000
    ran = await trial.run(trial.spec("sha256sum", stdin=data(blob)))
    assert ran.out.split()[0].decode() == hashlib.sha256(blob).hexdigest()
    assert (await trial.run(trial.spec("cat", stdin=data(b"")))).out == b""


@check()
async def test_raw_pipes_talk_in_both_directions(trial: Trial) -> None:
    spec = trial.spec("cat", stdin=Pipe(), stdout=Pipe())
    async with await trial.spawn(spec) as process:
        sink, source = process.sink("stdin"), process.source("stdout")
        for word in (b"one", b"two\x00\xff", b"three"):
            await sink.send(word)
            assert await source.receive() == word
        await sink.aclose()
        with pytest.raises(anyio.EndOfStream):
            await source.receive()
        assert (await process.wait()).exit_code == 0


@check()
async def test_raw_pipes_push_back(trial: Trial) -> None:
    spec = trial.spec("cat", stdin=Pipe(), stdout=Pipe())
    blob, found = bytes(range(256)) * 20_000, bytearray()
    async with await trial.spawn(spec) as process, anyio.create_task_group() as group:

        async def feed() -> None:
            await process.sink("stdin").send(blob)
            await process.sink("stdin").aclose()

        group.start_soon(feed)
        async for chunk in process.source("stdout"):
            found += chunk
    assert bytes(found) == blob


@check()
async def test_a_pipe_that_nobody_reads_breaks(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("exec 0<&-; echo closed; sleep 300", stdin=Pipe())) as process:
        assert await process.collected("stdout").wait_beyond(0)
        with pytest.raises(anyio.BrokenResourceError):
            for _ in range(100):
                await process.sink("stdin").send(b"x" * 65536)


@check()
async def test_the_end_does_not_wait_for_readers_of_raw_pipes(trial: Trial) -> None:
    async with await trial.spawn(trial.bash("echo unread; exit 3", stdout=Pipe())) as process:
        assert (await process.wait()).exit_code == 3
        assert await process.source("stdout").receive() == b"unread\n"
