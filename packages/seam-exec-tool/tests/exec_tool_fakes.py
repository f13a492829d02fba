"""Scripted fakes of what the tool stands on: no process is started in these tests."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import anyio
from pydantic import JsonValue

from seam.exec_def import (
    Abort,
    BadWorkdir,
    Cause,
    Containment,
    Drain,
    ExecProcess,
    ExecRequest,
    ExecResult,
    ExecSpec,
    ExecutorFacts,
    HandOver,
    Isolation,
    KeptRange,
    Limits,
    OutputChunk,
    OutputSlice,
    Progress,
    SandboxFacts,
    Settled,
    ShellExecutor,
    StreamName,
    StreamOutput,
    Survivor,
    TimeSplit,
)
from seam.tools_def import Access, Agent, CallContext, Content, Owner, QuestionPort

LIMITS = Limits(timeout=10, grace=2, drain=1)


def stream(data: bytes = b"", **changes: object) -> StreamOutput:
    """A stream that was read whole."""
    whole: dict[str, object] = {
        "parts": (data,) if data else (),
        "kept": (KeptRange(0, len(data)),) if data else (),
        "total": len(data),
    }
    return StreamOutput.model_validate(whole | changes)


def result(cause: Cause = "exited", **changes: object) -> ExecResult:
    """A result; by default of a command that wrote nothing and exited with 0."""
    base: dict[str, object] = {
        "cause": cause,
        "ended_by": "command",
        "exit_code": 0 if cause == "exited" else None,
        "signal": None,
        "stdout": stream(),
        "stderr": None,
        "drain": Drain(clean=True),
        "containment": Containment(level="launcher", whole_tree=True, host_death=True),
        "sandbox": SandboxFacts(mode="full-access"),
        "started_at": datetime(2026, 1, 1, tzinfo=UTC),
        "times": TimeSplit(queue=0, spawn=0.001, run=0.42, drain=0),
        "limits": LIMITS,
    }
    return ExecResult.model_validate(base | changes)


class ScriptedProcess(ExecProcess):
    """A background command that ends when it is terminated or told to."""

    def __init__(self, spec: ExecSpec, output: bytes = b"") -> None:
        self._spec = spec
        self.output = output
        self.subscribers: list[Progress] = []
        self._over = anyio.Event()
        self._changed = anyio.Event()
        self._result: ExecResult | None = None
        self.closed = False

    @property
    def spec(self) -> ExecSpec:
        return self._spec

    @property
    def pid(self) -> int | None:
        return 4711

    @property
    def sandbox(self) -> SandboxFacts:
        return SandboxFacts(mode=self._spec.isolation.mode)

    @property
    def result(self) -> ExecResult | None:
        return self._result

    def write(self, data: bytes) -> None:
        """The command writes."""
        chunk = OutputChunk(stream="stdout", offset=len(self.output), data=data)
        self.output += data
        self._changed.set()
        for subscriber in list(self.subscribers):
            subscriber(chunk)

    def end(self, ended: ExecResult) -> None:
        """The command ends."""
        self._result = ended
        self._changed.set()
        self._over.set()

    async def wait(self) -> ExecResult:
        await self._over.wait()
        assert self._result is not None
        return self._result

    async def terminate(self, *, reason: str = "ended by its owner") -> ExecResult:
        if self._result is None:
            self.end(result("aborted", signal="SIGTERM", ended_by="owner", abort_reason=reason))
        return await self.wait()

    async def wait_beyond(self, offset: int, stream: StreamName = "stdout") -> bool:
        while len(self.output) <= offset:
            if self._result is not None:
                return False
            self._changed = anyio.Event()
            await self._changed.wait()
        return True

    async def read(self, stream: StreamName = "stdout", *, offset: int = 0, limit: int) -> OutputSlice:
        return OutputSlice(
            stream=stream,
            offset=offset,
            data=self.output[offset : offset + limit],
            total=len(self.output),
            ended=self._result is not None,
        )

    def subscribe(self, progress: Progress) -> Callable[[], None]:
        self.subscribers.append(progress)
        return lambda: self.subscribers.remove(progress) if progress in self.subscribers else None

    async def aclose(self) -> None:
        await self.terminate()
        self.closed = True


class ScriptedExecutor(ShellExecutor):
    """Resolves like an executor that does not look at the world, and answers what the script says."""

    def __init__(self, answer: ExecResult | Exception | None = None, *, confines: bool = False) -> None:
        self.answer = answer or result()
        self.confines = confines
        self.requests: list[ExecRequest] = []
        self.ran: list[ExecSpec] = []
        self.processes: list[ScriptedProcess] = []
        self.chunks: list[OutputChunk] = []
        self.hang = False

    @property
    def facts(self) -> ExecutorFacts:
        return ExecutorFacts(
            executor="scripted",
            version="1",
            dialect="bash",
            shell="/bin/bash",
            world_id="nowhere",
            sandbox_mode="workspace-write" if self.confines else "full-access",
            confines=self.confines,
            workspace="/ws",
            max_timeout=600,
        )

    def resolve(self, request: ExecRequest) -> ExecSpec:
        self.requests.append(request)
        if request.workdir and "missing" in request.workdir:
            raise BadWorkdir(
                f"{request.workdir} does not exist", workdir=request.workdir, reason="does not exist"
            )
        assert request.output is not None
        mode = request.widening.mode if request.widening else self.facts.sandbox_mode
        return ExecSpec(
            executor="scripted",
            executor_version="1",
            dialect="bash",
            command=request.command,
            argv=("/bin/bash", "-c", request.command),
            workdir=posixpath.join(request.workspace or "/ws", request.workdir or ""),
            environment={},  # pyright: ignore[reportArgumentType] - frozen by validation
            streams=request.streams or "separate",
            limits=LIMITS
            if request.timeout is None
            else LIMITS.model_copy(update={"timeout": request.timeout}),
            survivors="end",
            isolation=Isolation(mode=mode),
            output=request.output,
        )

    async def run(
        self,
        spec: ExecSpec,
        *,
        abort: Abort | None = None,
        hand_over: HandOver | None = None,
        progress: Progress | None = None,
        settled: Settled | None = None,
    ) -> ExecResult:
        self.ran.append(spec)
        for chunk in self.chunks:
            if progress is not None:
                progress(chunk)
        if self.hang:
            try:
                await anyio.sleep_forever()
            finally:
                assert settled is not None
                settled(result("aborted", ended_by="cancellation", stdout=stream(b"half way\n")))
        if hand_over is not None:
            process = ScriptedProcess(spec)
            self.processes.append(process)
            assert await hand_over(process)
            return result("timed_out", timed_out=True, ended_by="nobody", handed_over=True)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def start(self, spec: ExecSpec) -> ExecProcess:
        process = ScriptedProcess(spec)
        self.processes.append(process)
        return process


class FakeContext(CallContext):
    """One call of an attended session in the workspace /ws."""

    def __init__(self) -> None:
        self.outputs: list[tuple[str, str]] = []
        self.kept: tuple[JsonValue, Sequence[Content]] | None = None

    @property
    def turn(self) -> str:
        return "t1"

    @property
    def call(self) -> str:
        return "c1"

    @property
    def agent(self) -> Agent:
        return Agent(name="default", workspace="/ws")

    @property
    def owner(self) -> Owner:
        return Owner(agent="default", session="s1")

    @property
    def access(self) -> Access:
        return Access(principal="local", platform="cli")

    @property
    def questions(self) -> QuestionPort | None:
        return None

    def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        raise AssertionError("shell reports output, not progress")

    def output(self, text: str, *, stream: str = "stdout") -> None:
        self.outputs.append((stream, text))

    def keep(self, value: JsonValue, content: Sequence[Content]) -> None:
        self.kept = (value, content)


def survivor(name: str, fate: str) -> Survivor:
    """A process that was still alive."""
    return Survivor.model_validate({"pid": 7, "name": name, "fate": fate})
