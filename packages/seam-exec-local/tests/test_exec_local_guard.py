"""A runtime that wedges, loses its world or refuses: the executor answers within its own bounds, in its own words."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream

from seam.exec_def import (
    BadWorkdir,
    EnvironmentTooLarge,
    ExecError,
    ExecProcess,
    ExecRequest,
    ExecSpec,
    ExecutorClosed,
    ExecutorUnavailable,
    InvalidEnvironment,
    ResourcesExhausted,
    SandboxFacts,
    SandboxUnavailable,
    ShellExecutor,
    ShellNotFound,
    StartFailed,
    WorldLost,
)
from seam.exec_local import Bare, Ending, Launch, LocalExecConfig, Wrapped, executor
from seam.subprocess_def import (
    ArgumentListTooLong,
    BadWorkingDirectory,
    ByteFilter,
    CollectedStream,
    Confidential,
    Containment,
    Drain,
    ExecutableNotFound,
    NotExecutable,
    NulInArgument,
    OutOfMemory,
    Process,
    ProcessExit,
    RuntimeClosed,
    SpawnFailed,
    SpawnLimits,
    SpawnSpec,
    StreamId,
    StreamSummary,
    SubprocessError,
    SubprocessRuntime,
    TerminalProcess,
    TerminalSpec,
    Termination,
    TooManyDescriptors,
    TooManyProcesses,
    Window,
)
from seam.subprocess_def import InvalidEnvironment as BadName
from seam.subprocess_def import WorldLost as RuntimeLost

SLACK = 8.0
HELD = Containment(level="scripted", whole_tree=True, host_death=True, gaps=())
END = ProcessExit(
    exit_code=0,
    signal=None,
    unknown=None,
    core_dumped=False,
    termination=None,
    drain=Drain(state="clean", streams=(), seconds=0.0),
    survivors=(),
    containment=HELD,
    usage=None,
    started_at=datetime(2030, 1, 1, tzinfo=UTC),
    run_seconds=0.1,
)


class Said(CollectedStream):
    """A stream that said `half way` and is still open."""

    total = 9  # type: ignore[assignment]  # plain values are enough for a script
    last_output_at = None  # type: ignore[assignment]
    ended = False  # type: ignore[assignment]

    def head(self) -> bytes:
        return b"half way\n"

    def tail(self) -> bytes:
        return b""

    def summary(self) -> StreamSummary:
        return StreamSummary(
            total=9, kept=(), lost=(), truncated=False, reasons=(), spill=None, spill_error=None, ended="open"
        )

    async def read(self, offset: int, max_bytes: int) -> Window:
        raise NotImplementedError

    async def wait_beyond(self, offset: int) -> bool:
        raise NotImplementedError


class Scripted(Process):
    """A process that does as it is told."""

    pid = 1  # type: ignore[assignment]
    containment = HELD  # type: ignore[assignment]
    exit = None  # type: ignore[assignment]

    def __init__(
        self, end: ProcessExit | None = None, *, leader_exited: bool = False, deaf: bool = False
    ) -> None:
        self._end = end
        self._leader_exited = leader_exited
        self._deaf = deaf

    @property
    def leader_exited(self) -> bool:
        return self._leader_exited

    def sink(self, stream: StreamId) -> ByteSendStream:
        raise NotImplementedError

    def source(self, stream: StreamId) -> ByteReceiveStream:
        raise NotImplementedError

    def collected(self, stream: StreamId) -> CollectedStream:
        return Said()

    async def wait(self) -> ProcessExit:
        if self._end is None:
            await anyio.sleep_forever()
        assert self._end is not None
        return self._end

    async def wait_leader(self) -> None:
        await anyio.sleep_forever()

    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        if self._deaf:
            await anyio.sleep_forever()
        return END

    async def signal(self, name: str) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing to let go of."""


class ScriptedRuntime(SubprocessRuntime):
    """A world with a shell and nothing else."""

    world_id = "scripted"  # type: ignore[assignment]
    platform = "linux"  # type: ignore[assignment]
    limits = SpawnLimits(string_bytes=131_071, total_bytes=2_000_000)  # type: ignore[assignment]

    def __init__(
        self,
        process: Process | None = None,
        *,
        error: SubprocessError | None = None,
        shell: str | None = "/bin/bash",
    ):
        self._process = process
        self._error = error
        self._shell = shell

    async def which(self, name: str, env: Mapping[str, str]) -> str | None:
        return self._shell

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        if self._error is not None:
            raise self._error
        if self._process is None:
            await anyio.sleep(3600)
        assert self._process is not None
        return self._process

    async def spawn_terminal(
        self,
        spec: TerminalSpec,
        *,
        confidential: Confidential | None = None,
        terminal_filter: ByteFilter | None = None,
    ) -> TerminalProcess:
        raise NotImplementedError

    async def attach(self, record: str) -> Process:
        raise NotImplementedError


@asynccontextmanager
async def opened(runtime: SubprocessRuntime) -> AsyncGenerator[ShellExecutor, None]:
    """An executor with short bounds over a scripted world."""
    config = LocalExecConfig(grace=0.1, drain=0.1, guard=0.3)
    async with executor(
        runtime, config, secrets=None, wrapper=Bare(), distribution="seam-exec-local"
    ) as made:
        yield made


@pytest.mark.anyio
async def test_ex_053_a_runtime_that_never_starts_anything_is_given_up() -> None:
    async with opened(ScriptedRuntime()) as made:
        began = time.monotonic()
        result = await made.run(made.resolve(ExecRequest(command="sleep 1", timeout=1.0)))
        assert 1.0 <= time.monotonic() - began < 1.3 + SLACK
    assert (result.cause, result.timed_out, result.ended_by) == ("timed_out", True, "guard")


@pytest.mark.anyio
async def test_ex_053_a_runtime_that_cannot_end_anything_is_given_up() -> None:
    async with opened(ScriptedRuntime(Scripted(deaf=True))) as made:
        began = time.monotonic()
        result = await made.run(made.resolve(ExecRequest(command="sleep 1", timeout=0.5)))
        assert time.monotonic() - began < 1.0 + SLACK
    assert (result.cause, result.timed_out, result.ended_by) == ("timed_out", True, "guard")
    assert result.stdout.text == "half way\n"
    assert result.lost_reason is not None


@pytest.mark.anyio
async def test_a_runtime_that_never_finishes_reading_is_given_up() -> None:
    async with opened(ScriptedRuntime(Scripted(leader_exited=True))) as made:
        result = await made.run(made.resolve(ExecRequest(command="true", timeout=0.3)))
    assert (result.cause, result.exit_code, result.ended_by, result.timed_out) == (
        "exited",
        0,
        "guard",
        False,
    )


@pytest.mark.anyio
async def test_a_lost_world_is_an_outcome() -> None:
    lost = END.model_copy(update={"exit_code": None, "unknown": "the connection was reset"})
    async with opened(ScriptedRuntime(Scripted(lost))) as made:
        result = await made.run(made.resolve(ExecRequest(command="true")))
    assert (result.cause, result.ended_by, result.lost_reason) == (
        "lost",
        "unknown",
        "the connection was reset",
    )
    assert not result.success


@pytest.mark.anyio
async def test_what_the_runtime_itself_disposed_of_was_not_the_command() -> None:
    ended = END.model_copy(
        update={
            "exit_code": None,
            "signal": "SIGTERM",
            "termination": Termination(by="dispose", escalated=False),
        }
    )
    async with opened(ScriptedRuntime(Scripted(ended))) as made:
        result = await made.run(made.resolve(ExecRequest(command="true")))
    assert (result.cause, result.ended_by) == ("aborted", "disposal")


@pytest.mark.anyio
async def test_a_shell_that_is_not_there_is_named() -> None:
    with pytest.raises(ShellNotFound, match="bash"):
        async with opened(ScriptedRuntime(shell=None)):
            pass


FAILURES: list[tuple[SubprocessError, type[ExecError], str]] = [
    (BadWorkingDirectory("x", cwd="/w", reason="permission"), BadWorkdir, "permission is denied"),
    (ExecutableNotFound("x", argv0="bash", searched=()), ShellNotFound, "bash"),
    (NotExecutable("x", argv0="bash", path="/bin/bash", reason="permission"), ShellNotFound, "permission"),
    (
        ArgumentListTooLong("x", kind="environment", name="TOKEN", size=200_000, limit=131_071),
        EnvironmentTooLarge,
        "TOKEN",
    ),
    (NulInArgument("a NUL", kind="environment", name="TOKEN"), InvalidEnvironment, "TOKEN"),
    (BadName("no name", name="A="), InvalidEnvironment, "A="),
    (TooManyDescriptors("x", scope="process", limit=10), ResourcesExhausted, "too many open files"),
    (TooManyProcesses("x", argv0="bash"), ResourcesExhausted, "processes"),
    (OutOfMemory("x", argv0="bash"), ResourcesExhausted, "memory"),
    (RuntimeClosed("x"), ExecutorClosed, "disposed"),
    (RuntimeLost("reset by peer", world_id="far"), WorldLost, "far"),
    (SpawnFailed("input/output error", errno="EIO", argv0="bash"), StartFailed, "input/output error"),
]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "kind", "words"), FAILURES, ids=[type(error).__name__ for error, _, _ in FAILURES]
)
async def test_a_failed_start_is_told_in_the_executors_words(
    error: SubprocessError, kind: type[ExecError], words: str
) -> None:
    async with opened(ScriptedRuntime(error=error)) as made:
        spec = made.resolve(ExecRequest(command="true"))
        for execute in (made.run, made.start):
            with pytest.raises(kind, match=words) as raised:
                await execute(spec)
            assert raised.value.__cause__ is error
            assert isinstance(raised.value, ExecutorUnavailable) or raised.value.retryable == "no"


class Breaking(Scripted):
    """A process whose runtime fails while it runs."""

    async def wait(self) -> ProcessExit:
        raise RuntimeLost("connection reset", world_id="far")

    async def terminate(self, *, grace: float | None = None) -> ProcessExit:
        raise RuntimeLost("connection reset", world_id="far")


@pytest.mark.anyio
async def test_a_runtime_that_fails_while_the_command_runs_is_an_outcome() -> None:
    async with opened(ScriptedRuntime(Breaking())) as made:
        spec = made.resolve(ExecRequest(command="true"))
        result = await made.run(spec)
        process = await made.start(spec)
        background = await process.terminate()
    for one in (result, background):
        assert (one.cause, one.ended_by) == ("lost", "unknown")
        assert "connection reset" in (one.lost_reason or "")
        assert one.stdout.text == "half way\n"


class NeverStarted(Bare):
    """A runner that finds afterwards that it did not start the command."""

    def __init__(self) -> None:
        self.settled = 0

    async def wrap(self, spec: ExecSpec, plain: Launch) -> Wrapped:
        return NeverStartedCommand(self, plain)


class NeverStartedCommand(Wrapped):
    """One command of it."""

    def __init__(self, owner: NeverStarted, launch: Launch) -> None:
        self._owner = owner
        self._launch = launch

    @property
    def launch(self) -> Launch:
        return self._launch

    def sandbox(self) -> SandboxFacts:
        return SandboxFacts(mode="read-only")

    async def settle(self, process: Process, end: ProcessExit, output: bytes) -> Ending:
        self._owner.settled += 1
        await anyio.lowlevel.checkpoint()
        raise SandboxUnavailable("the runner refused", missing="user namespaces", remedy="enable them")

    async def discard(self) -> None:
        """Nothing was made."""


@pytest.mark.anyio
async def test_a_command_that_its_runner_never_started_raises_once_and_is_lost_in_the_background() -> None:
    wrapper, config = NeverStarted(), LocalExecConfig(grace=0.1, drain=0.1, guard=0.3)
    runtime = ScriptedRuntime(Scripted(END))
    async with executor(
        runtime, config, secrets=None, wrapper=wrapper, distribution="seam-exec-local"
    ) as made:
        spec = made.resolve(ExecRequest(command="true"))
        with pytest.raises(SandboxUnavailable):
            await made.run(spec)
        assert wrapper.settled == 1
        result = await (await made.start(spec)).wait()
    assert (result.cause, wrapper.settled) == ("lost", 2)
    assert "the runner refused" in (result.lost_reason or "")


@pytest.mark.anyio
async def test_whoever_declined_a_command_is_still_told_how_it_ended() -> None:
    held: list[ExecProcess] = []

    async def decline(process: ExecProcess) -> bool:
        held.append(process)
        return False

    async with opened(ScriptedRuntime(Scripted())) as made:
        result = await made.run(made.resolve(ExecRequest(command="true", timeout=0.1)), hand_over=decline)
        assert await held[0].wait() is result


@pytest.mark.anyio
async def test_a_process_that_never_ends_does_not_hold_the_disposal() -> None:
    async with opened(ScriptedRuntime(Scripted(deaf=True))) as made:
        process = await made.start(made.resolve(ExecRequest(command="true")))
    result = await process.wait()
    assert (result.cause, result.ended_by) == ("lost", "guard")


@pytest.mark.anyio
async def test_whoever_got_a_command_is_told_when_its_run_is_cancelled() -> None:
    held: list[ExecProcess] = []

    async def keep(process: ExecProcess) -> bool:
        held.append(process)
        await anyio.sleep_forever()
        return True

    config = LocalExecConfig(grace=30.0, drain=0.1, guard=0.3)
    runtime = ScriptedRuntime(Scripted())
    async with executor(
        runtime, config, secrets=None, wrapper=Bare(), distribution="seam-exec-local"
    ) as made:
        with anyio.move_on_after(0.4):
            await made.run(made.resolve(ExecRequest(command="true", timeout=0.1)), hand_over=keep)
        assert (await held[0].wait()).timed_out
