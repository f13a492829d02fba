"""A command in the background: the handle that callers hold."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import anyio

from seam.exec_def import ExecProcess, ExecResult, ExecSpec, OutputSlice, Progress, SandboxFacts, StreamName
from seam.exec_local._running import Running
from seam.exec_local._streams import slice_of
from seam.subprocess_def import CollectedStream, SubprocessError


class LocalProcess(ExecProcess):
    """A live command whose record is made by a task of the executor, whether or not anybody waits."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._recorded = anyio.Event()
        self._result: ExecResult | None = None

    @property
    def spec(self) -> ExecSpec:
        """What is being run."""
        return self._running.spec

    @property
    def pid(self) -> int | None:
        """Process id of the shell."""
        return self._running.process.pid

    @property
    def sandbox(self) -> SandboxFacts:
        """The confinement under which it runs."""
        return self._result.sandbox if self._result is not None else self._running.sandbox()

    @property
    def result(self) -> ExecResult | None:
        """The record, as soon as it is made."""
        return self._result

    async def watch(self) -> None:
        """Wait for the end and make the record; run by the executor, once."""
        try:
            end = await self._running.process.wait()
            self.settle(await self._running.conclude(end))
        except Exception as error:
            # the runtime's or the wrapping's failure: after the start it is an outcome
            reason = f"{type(error).__name__}: {error}"
            self.settle(self._running.snapshot("lost", "unknown", lost_reason=reason))
        finally:
            if self._result is None:
                reason = "the executor was disposed, and what runs processes did not answer"
                self.settle(self._running.snapshot("lost", "guard", lost_reason=reason))

    def settle(self, result: ExecResult) -> None:
        """Take the record, which is final."""
        self._result = result
        self._recorded.set()

    async def wait(self) -> ExecResult:
        """Return the record as soon as it is made."""
        while self._result is None:
            await self._recorded.wait()
        return self._result

    async def terminate(self, *, reason: str = "ended by its owner") -> ExecResult:
        """End the whole tree and wait until it is gone."""
        self._running.verdict.blame("owner", reason)
        with suppress(SubprocessError):  # a world that was lost: the record says so
            await self._running.process.terminate()
        return await self.wait()

    async def read(self, stream: StreamName = "stdout", *, offset: int = 0, limit: int) -> OutputSlice:
        """Return bytes from an absolute offset."""
        return slice_of(stream, await self._collected(stream).read(offset, limit))

    async def wait_beyond(self, offset: int, stream: StreamName = "stdout") -> bool:
        """Wait for more output, or the end of the stream."""
        return await self._collected(stream).wait_beyond(offset)

    def subscribe(self, progress: Progress) -> Callable[[], None]:
        """Tell `progress` each piece from now on."""
        leave = [tap.watch(progress) for tap in self._running.taps.values()]

        def unsubscribe() -> None:
            for one in leave:
                one()

        return unsubscribe

    async def aclose(self) -> None:
        """End what still runs, wait, let go."""
        with anyio.CancelScope(shield=True):
            await self.terminate(reason="closed by its owner")
            await self._running.process.aclose()

    def _collected(self, stream: StreamName) -> CollectedStream:
        if stream == "stderr" and self._running.spec.streams == "merged":
            raise ValueError("stdout and stderr are one stream here; read 'stdout'")
        return self._running.process.collected(stream)
