"""What commands write: counted in full, kept in windows, never a danger to the host."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import anyio
import psutil

from seam.exec_def import ExecResult, KeptRange, OutputChunk, OutputWindow
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._trial import Trial

SMALL = OutputWindow(head=1000, tail=1000, spill=0)
MEGABYTES = 1_000_000


class Growth:
    """Watches how much resident memory this process gains, and that the event loop goes round."""

    def __init__(self) -> None:
        self._me = psutil.Process()
        self._before = self._me.memory_info().rss
        self.bytes = 0
        self.turns = 0

    async def watch(self) -> None:
        """Look every few milliseconds until cancelled."""
        while True:
            self.bytes = max(self.bytes, self._me.memory_info().rss - self._before)
            self.turns += 1
            await anyio.sleep(0.005)


async def _watched(
    trial: Trial, command: str, *, timeout: float = 100.0, window: OutputWindow
) -> tuple[ExecResult, Growth]:
    growth = Growth()
    results: list[ExecResult] = []
    async with anyio.create_task_group() as group:
        group.start_soon(growth.watch)
        results.append(await trial.run(command, timeout=timeout, output=window))
        group.cancel_scope.cancel()
    return results[0], growth


async def _floods(trial: Trial, size: int) -> None:
    window = OutputWindow(head=50_000, tail=50_000, spill=0)
    result, growth = await _watched(trial, f"yes | head -c {size}", window=window)
    assert result.success
    assert result.stdout.total == size
    assert result.stdout.kept == (KeptRange(0, 50_000), KeptRange(size - 50_000, size))
    assert result.stdout.truncated
    assert f"{size - 100_000} of {size} bytes left out" in result.stdout.text
    assert growth.bytes < 50 * MEGABYTES
    assert growth.turns > 2


@check()
async def test_out_002_a_flood_leaves_memory_flat_and_is_counted(trial: Trial) -> None:
    await _floods(trial, 200 * MEGABYTES)


@check(full=True)
async def test_out_002_three_gigabytes_leave_memory_flat_and_are_counted(trial: Trial) -> None:
    await _floods(trial, 3000 * MEGABYTES)


async def _one_line(trial: Trial, size: int) -> None:
    result, growth = await _watched(trial, f"head -c {size} /dev/zero | tr '\\0' 'a'", window=SMALL)
    assert result.success
    assert result.stdout.total == size
    assert result.stdout.data == b"a" * 2000
    assert result.stdout.losses
    assert growth.bytes < 50 * MEGABYTES


@check()
async def test_out_003_one_endless_line_leaves_memory_flat(trial: Trial) -> None:
    await _one_line(trial, 100 * MEGABYTES)


@check(full=True)
async def test_out_003_one_line_of_two_gigabytes_leaves_memory_flat(trial: Trial) -> None:
    await _one_line(trial, 2000 * MEGABYTES)


@check()
async def test_out_004_a_long_line_is_a_line(trial: Trial) -> None:
    result = await trial.run(
        "python3 -c \"print('x'*70000); print('end')\"", output=OutputWindow(head=100_000, tail=0, spill=0)
    )
    assert result.success
    assert result.stdout.text == "x" * 70_000 + "\nend\n"


@check()
async def test_out_006_invalid_utf8_and_nul_break_nothing(trial: Trial) -> None:
    result = await trial.run(r"printf 'a\xe9b\xff\xfe\x00c\n'")
    assert result.success
    assert result.stdout.data == b"a\xe9b\xff\xfe\x00c\n"
    assert result.stdout.text == "a\ufffdb\ufffd\ufffd\u2400c\n"
    assert result.stdout.decode_losses == 3


@check()
async def test_out_007_an_endless_loop_of_output_is_cut_by_its_timeout(trial: Trial) -> None:
    result, growth = await _watched(trial, "while true; do echo test; done", timeout=1.0, window=SMALL)
    assert result.timed_out
    assert result.stdout.total > 2000
    assert result.stdout.left_out == result.stdout.total - 2000
    assert growth.bytes < 50 * MEGABYTES


@check()
async def test_out_008_merged_streams_are_in_the_order_of_the_writes(trial: Trial) -> None:
    result = await trial.run("for i in 1 2 3; do echo out$i; echo err$i >&2; done", streams="merged")
    assert result.stdout.text == "out1\nerr1\nout2\nerr2\nout3\nerr3\n"
    assert result.stderr is None


@check()
async def test_separate_streams_are_separate(trial: Trial) -> None:
    result = await trial.run("echo out; echo err >&2", streams="separate")
    assert result.stdout.text == "out\n"
    assert result.stderr is not None
    assert result.stderr.text == "err\n"


@check()
async def test_out_009_merged_streams_keep_the_order_of_a_fast_writer(trial: Trial) -> None:
    result = await trial.run(
        "python3 -u -c \"import os\nfor i in range(1000): os.write(1,b'o%d\\n'%i); os.write(2,b'e%d\\n'%i)\"",
        streams="merged",
    )
    assert result.stdout.text.split() == [f"{stream}{n}" for n in range(1000) for stream in "oe"]


@check()
async def test_out_015_a_carriage_return_never_glues_lines_together(trial: Trial) -> None:
    result = await trial.run("printf 'first\\rsecond\\nthird\\n'")
    assert result.stdout.data == b"first\rsecond\nthird\n"
    assert "firstsecond" not in result.stdout.text
    assert result.stdout.text.endswith("second\nthird\n")


@check()
async def test_out_016_the_text_has_no_control_sequences(trial: Trial) -> None:
    result = await trial.run("printf '\\033[31mred\\033[0m \\033]0;title\\007 \\033[?1049h \\033[2J ok\\n'")
    assert result.stdout.text.split() == ["red", "ok"]
    assert "\x1b" not in result.stdout.text
    assert b"\x1b[31m" in result.stdout.data


@check()
async def test_out_016_a_window_never_leaves_half_of_anything_in_the_text(trial: Trial) -> None:
    # each unit is 24 bytes: a character of four, a colour sequence of eleven, a word
    unit = "\U0001f980\x1b[38;5;196mred words"
    width = len(unit.encode())
    for shift in range(width):
        window = OutputWindow(head=480 + shift, tail=480 + shift, spill=0)
        result = await trial.run(f"for i in $(seq 100); do printf '{unit}'; done", output=window)
        assert result.stdout.total == 100 * width
        assert result.stdout.decode_losses == 0
        head, tail = result.stdout.texts
        assert ("\U0001f980red words" * 100).startswith(head)
        assert ("\U0001f980red words" * 100).endswith(tail)


@check()
async def test_out_018_large_output_within_the_window_is_whole(trial: Trial) -> None:
    window = OutputWindow(head=10 * MEGABYTES, tail=0, spill=0)
    result = await trial.run("python3 -c \"print('x'*5000000)\"", timeout=60.0, output=window)
    assert result.success
    assert (result.stdout.total, len(result.stdout.data), result.stdout.truncated) == (
        5_000_001,
        5_000_001,
        False,
    )


@check("host_view")
async def test_what_is_not_kept_is_on_disk_private_and_digested(trial: Trial) -> None:
    window = OutputWindow(head=1000, tail=1000, spill=10 * MEGABYTES)
    result = await trial.run("seq 100000", output=window)
    expected = b"".join(b"%d\n" % n for n in range(1, 100_001))
    output = result.stdout
    assert output.losses == ("window",)
    assert output.data == expected[:1000] + expected[-1000:]
    assert output.spill_path is not None
    path = Path(output.spill_path)
    assert path.read_bytes() == expected
    assert output.spill_size == output.total == len(expected)
    assert output.spill_digest == f"sha256:{hashlib.sha256(expected).hexdigest()}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@check("host_view")
async def test_the_file_ends_at_its_limit_and_the_result_says_so(trial: Trial) -> None:
    result = await trial.run("seq 100000", output=OutputWindow(head=1000, tail=1000, spill=50_000))
    output = result.stdout
    assert set(output.losses) == {"window", "spill_limit"}
    assert output.spill_path is not None
    assert (Path(output.spill_path).stat().st_size, output.spill_size) == (50_000, 50_000)
    assert output.total == sum(len(str(n)) + 1 for n in range(1, 100_001))


@check()
async def test_output_within_the_window_has_no_file(trial: Trial) -> None:
    result = await trial.run("echo short", output=OutputWindow(head=100, tail=100, spill=MEGABYTES))
    assert result.stdout.spill_path is None
    assert not result.stdout.truncated
    assert result.stdout.kept == (KeptRange(0, 6),)


@check()
async def test_progress_is_the_output_piece_by_piece(trial: Trial) -> None:
    pieces: list[OutputChunk] = []
    result = await trial.run(
        "seq 30000; echo err >&2",
        progress=pieces.append,
        output=OutputWindow(head=MEGABYTES, tail=0, spill=0),
    )
    out = [piece for piece in pieces if piece.stream == "stdout"]
    assert b"".join(piece.data for piece in out) == result.stdout.data
    offset = 0
    for piece in out:
        assert piece.offset == offset
        offset += len(piece.data)
    assert b"".join(piece.data for piece in pieces if piece.stream == "stderr") == b"err\n"


@check()
async def test_progress_comes_while_the_command_runs(trial: Trial) -> None:
    seen = trial.folder / "seen"

    def progress(chunk: OutputChunk) -> None:
        seen.write_bytes(chunk.data)

    result = await trial.run(
        "echo first; while [ ! -e seen ]; do sleep 0.02; done; echo second", progress=progress, timeout=30.0
    )
    assert result.success
    assert result.stdout.text == "first\nsecond\n"


@check()
async def test_progress_that_raises_does_not_touch_the_command(trial: Trial) -> None:
    def progress(chunk: OutputChunk) -> None:
        raise RuntimeError("the watcher is broken")

    result = await trial.run("echo fine", progress=progress)
    assert result.success
    assert result.stdout.text == "fine\n"
    assert [failure.hook for failure in result.hook_failures] == ["progress"]
    assert "the watcher is broken" in result.hook_failures[0].error


@check()
async def test_ex_054_a_question_that_is_asked_for_ever_ends(trial: Trial) -> None:
    command = 'while true; do read -p "name: " n; [ -n "$n" ] && break; echo "Please enter some text."; done'
    result, growth = await _watched(trial, command, timeout=1.0, window=SMALL)
    assert result.timed_out
    assert result.stdout.truncated
    assert growth.bytes < 50 * MEGABYTES


@check()
async def test_ex_076_input_and_output_beyond_a_pipe_do_not_deadlock(trial: Trial) -> None:
    result = await trial.run(
        "head -c 200000 /dev/zero | tr '\\0' a; cat >/dev/null; echo done",
        stdin=b"x" * 200_000,
        timeout=60.0,
        output=OutputWindow(head=MEGABYTES, tail=0, spill=0),
    )
    assert result.success
    assert result.stdout.data == b"a" * 200_000 + b"done\n"


@check()
async def test_ex_078_input_that_nobody_reads_is_no_error(trial: Trial) -> None:
    closed = await trial.run("exec 0<&-; echo early; exit 4", stdin=b"x" * MEGABYTES, timeout=60.0)
    assert (closed.exit_code, closed.stdout.text) == (4, "early\n")
    partly = await trial.run("head -1", stdin=b"a\n" * MEGABYTES, timeout=60.0)
    assert (partly.exit_code, partly.stdout.text) == (0, "a\n")


@check()
async def test_input_arrives_and_ends(trial: Trial) -> None:
    data = os.urandom(300_000)
    result = await trial.run("sha256sum; cat | wc -c", stdin=data, timeout=60.0)
    assert result.stdout.text.split()[0] == hashlib.sha256(data).hexdigest()
    assert result.stdout.text.split()[-1] == "0"


@check()
async def test_without_input_standard_input_is_at_its_end(trial: Trial) -> None:
    result = await trial.run("cat; read x; echo $?", timeout=30.0)
    assert (result.exit_code, result.stdout.text) == (0, "1\n")
