"""Filters: nothing is kept, written or shown that they have not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from seam.subprocess_def._streams import Collect, Pipe
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._trial import Trial

SECRET = b"hunter2-hunter2"
SPILLED = Collect(max_bytes=200, head_bytes=100, spill_bytes=10_000_000)


class Masker:
    """Replaces a secret, however it is cut, by `***`; keeps no more back than could become one."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        data = (self._held + chunk).replace(SECRET, b"***")
        keep = next((n for n in range(len(SECRET) - 1, 0, -1) if data.endswith(SECRET[:n])), 0)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def finish(self) -> bytes:
        held, self._held = self._held, b""
        return held


class Broken:
    """Fails on the first bytes."""

    def feed(self, chunk: bytes) -> bytes:
        raise RuntimeError(f"cannot filter {len(chunk)} bytes")

    def finish(self) -> bytes:
        return b""


@check()
async def test_a_secret_is_masked_wherever_it_is_cut(trial: Trial) -> None:
    pieces = "; ".join(f"printf %s {chr(byte)}; sleep 0.01" for byte in SECRET)
    ran = await trial.run(trial.bash(f"printf 'a '; {pieces}; printf ' b'"), filters={"stdout": Masker()})
    assert ran.out == b"a *** b"


@check()
async def test_what_a_filter_held_back_comes_at_the_end(trial: Trial) -> None:
    ran = await trial.run(trial.bash("printf 'x hunter2-'"), filters={"stdout": Masker()})
    assert ran.out == b"x hunter2-"


@check()
async def test_offsets_count_what_the_filter_let_through(trial: Trial) -> None:
    script = f"for i in $(seq 3000); do echo {SECRET.decode()}; done"
    async with await trial.spawn(trial.bash(script, stdout=SPILLED), filters={"stdout": Masker()}) as process:
        await process.wait()
        stream = process.collected("stdout")
        summary = stream.summary()
        assert (stream.total, summary.lost) == (3000 * 4, ())
        assert (await stream.read(4000, 8)).data == b"***\n***\n"
        if trial.subject.capabilities.host_view:
            assert summary.spill is not None
            assert Path(summary.spill.path).read_bytes() == b"***\n" * 3000


@check()
async def test_each_stream_has_its_own_filter(trial: Trial) -> None:
    script = f"echo {SECRET.decode()}; echo {SECRET.decode()} >&2"
    ran = await trial.run(trial.bash(script), filters={"stderr": Masker()})
    assert (ran.out, ran.err) == (SECRET + b"\n", b"***\n")


@check()
async def test_raw_pipes_are_filtered_too(trial: Trial) -> None:
    spec = trial.bash(f"printf hunter2-; sleep 0.05; printf 'hunter2 {SECRET.decode()[:5]}'", stdout=Pipe())
    async with await trial.spawn(spec, filters={"stdout": Masker()}) as process:
        found = b"".join([chunk async for chunk in process.source("stdout")])
        assert found == b"*** hunte"


@check()
async def test_a_filter_that_fails_shows_nothing_and_ends_the_process(trial: Trial) -> None:
    async with await trial.spawn(
        trial.bash("echo secret; sleep 300"), filters={"stdout": Broken()}
    ) as process:
        with pytest.raises(RuntimeError, match="cannot filter"):
            await process.wait()
        assert process.collected("stdout").head() == b""
        assert process.exit is not None
