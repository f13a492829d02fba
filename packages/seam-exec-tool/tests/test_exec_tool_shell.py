"""The tool `shell` over a scripted executor."""

from __future__ import annotations

import json
from typing import cast

import anyio
import pytest
from exec_tool_fakes import FakeContext, ScriptedExecutor, ScriptedProcess, result, stream
from jobs_fakes_for_exec_tool import RecordingJobs
from pydantic import BaseModel, ValidationError

from seam.exec_def import BadWorkdir, OutputChunk, SandboxUnavailable
from seam.exec_tool import ShellParameters, ShellToolConfig, shell_tool
from seam.exec_tool._background import ShellJob
from seam.exec_tool._resolve import ShellPlan
from seam.jobs_def import JobRegistry
from seam.tools_def import (
    CallRefusal,
    CapabilityUnavailable,
    Completed,
    Effects,
    Resolution,
    ResolvedCall,
    Text,
    Widen,
    digest_of,
)

pytestmark = pytest.mark.anyio

SCHEMA_DIGEST = "sha256:664d8d3098cce04be98e54ecb3f0ad233f3fb1e2ce1de13cbf194c9ed58be75b"


async def resolve(
    executor: ScriptedExecutor, config: ShellToolConfig | None = None, **parameters: object
) -> Resolution:
    tool = shell_tool(executor, None, config or ShellToolConfig())
    assert tool.resolve is not None
    return await tool.resolve(cast(BaseModel, ShellParameters.model_validate(parameters)), FakeContext())


async def call(
    executor: ScriptedExecutor,
    *,
    jobs: JobRegistry | None = None,
    config: ShellToolConfig | None = None,
    context: FakeContext | None = None,
    **parameters: object,
) -> Completed:
    tool = shell_tool(executor, jobs, config or ShellToolConfig())
    assert tool.resolve is not None
    surroundings = context or FakeContext()
    arguments = ShellParameters.model_validate(parameters)
    resolution = await tool.resolve(arguments, surroundings)
    resolved = ResolvedCall(
        tool="shell",
        descriptor="d",
        arguments=arguments.model_dump(mode="json"),
        subject=resolution.subject,
        effects=Effects(),
        actions=resolution.actions,
        deadline=resolution.deadline or 0,
        summary=resolution.summary,
        plan=resolution.plan,
    )
    answer = await tool.run(resolved, surroundings)
    assert isinstance(answer, Completed)
    return answer


def words(answer: Completed) -> str:
    return "\n".join(item.text for item in answer.content if isinstance(item, Text))


def test_the_schema_is_the_same_whatever_runs_the_command() -> None:
    plain = shell_tool(ScriptedExecutor(), None, ShellToolConfig()).describe("plugin:exec-tool")
    confined = shell_tool(
        ScriptedExecutor(confines=True), RecordingJobs(), ShellToolConfig(on_timeout="hand_over")
    ).describe("plugin:exec-tool")
    assert json.dumps(plain.model_schema()) == json.dumps(confined.model_schema())
    assert plain.digest == confined.digest
    assert digest_of(plain.model_schema()) == SCHEMA_DIGEST, (
        "the schema that models see changed: was that meant?"
    )


async def test_a_command_runs_in_the_agents_workspace() -> None:
    executor = ScriptedExecutor(result(stdout=stream(b"hi\n")))
    answer = await call(executor, command="echo hi", workdir="sub")
    assert executor.ran[0].workdir == "/ws/sub"
    assert answer.success
    assert words(answer) == "Exit code 0 (0.4 s)\nhi"
    assert isinstance(answer.value, dict)
    assert answer.value["exit_code"] == 0


async def test_ex_032_a_command_that_a_signal_ended_is_no_success() -> None:
    executor = ScriptedExecutor(result("signalled", signal="SIGKILL", stdout=stream(b"before-kill\n")))
    answer = await call(executor, command="printf 'before-kill\\n'; kill -KILL $$")
    assert not answer.success
    assert "SIGKILL" in words(answer)
    assert "before-kill" in words(answer)


async def test_resolution_says_what_would_happen_and_has_no_effect() -> None:
    executor = ScriptedExecutor()
    resolution = await resolve(executor, command="make\ntest", description="build", timeout=5)
    assert executor.ran == []
    assert [action.kind for action in resolution.actions] == ["run"]
    assert resolution.deadline == 5 + 2 + 1
    assert resolution.summary == "build\nbash in /ws/:\n  make\n  test\nsandbox: full-access"
    assert isinstance(resolution.plan, ShellPlan)


async def test_the_subject_changes_with_everything_that_is_decided() -> None:
    first = await resolve(ScriptedExecutor(), command="make")
    assert first.subject == (await resolve(ScriptedExecutor(), command="make")).subject
    changed = [
        await resolve(ScriptedExecutor(), command="make "),
        await resolve(ScriptedExecutor(), command="make", workdir="x"),
        await resolve(ScriptedExecutor(), command="make", timeout=3),
        await resolve(ScriptedExecutor(), command="make", background=True),
    ]
    assert all(other.subject != first.subject for other in changed)


async def test_a_workdir_that_is_not_there_is_refused_by_the_executor_before_anything_runs() -> None:
    executor = ScriptedExecutor()
    with pytest.raises(BadWorkdir, match="missing"):
        await call(executor, command="true", workdir="missing")
    assert executor.ran == []


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_timeout_that_is_no_time_is_refused(timeout: float) -> None:
    with pytest.raises(ValidationError, match="timeout"):
        ShellParameters.model_validate({"command": "true", "timeout": timeout})


async def test_widening_needs_a_justification() -> None:
    with pytest.raises(CallRefusal, match="justification"):
        await resolve(ScriptedExecutor(confines=True), command="true", permissions="full-access")


async def test_widening_is_an_action_of_its_own() -> None:
    resolution = await resolve(
        ScriptedExecutor(confines=True),
        command="true",
        permissions="full-access",
        justification="installs a package",
    )
    assert resolution.actions[1] == Widen(mode="full-access", why="installs a package")
    assert "asks for full-access: installs a package" in resolution.summary


async def test_widening_where_nothing_confines_is_satisfied_already_and_asks_nobody() -> None:
    executor = ScriptedExecutor()
    resolution = await resolve(executor, command="true", permissions="full-access")
    assert [action.kind for action in resolution.actions] == ["run"]
    assert executor.requests[0].widening is None
    answer = await call(executor, command="true", permissions="full-access")
    assert isinstance(answer.value, dict)
    assert answer.value["widening"] == "already satisfied"


async def test_background_without_jobs_says_which_capability_is_missing() -> None:
    executor = ScriptedExecutor()
    with pytest.raises(CapabilityUnavailable, match="`jobs`"):
        await call(executor, command="sleep 1", background=True)
    assert executor.processes == []


async def test_background_becomes_a_job_of_this_session() -> None:
    executor, jobs = ScriptedExecutor(), RecordingJobs()
    answer = await call(
        executor, jobs=jobs, command="python -m http.server", description="web server", background=True
    )
    assert words(answer).startswith("Started in the background as job j1 (pid 4711).")
    assert jobs.started[0][:2] == ("s1", "web server")
    assert executor.processes[0].spec.streams == "merged"
    await executor.processes[0].aclose()


async def test_a_command_beyond_its_limit_can_go_on_as_a_job() -> None:
    executor, jobs = ScriptedExecutor(), RecordingJobs()
    answer = await call(executor, jobs=jobs, config=ShellToolConfig(on_timeout="hand_over"), command="make")
    assert words(answer).startswith("Still running after 0.4 s; it goes on as job j1.")
    assert answer.success
    await executor.processes[0].aclose()


async def test_live_output_is_handed_on_and_a_cut_character_is_not_broken() -> None:
    executor, context = ScriptedExecutor(), FakeContext()
    executor.chunks = [
        OutputChunk(stream="stdout", offset=0, data=b"\xc3"),
        OutputChunk(stream="stdout", offset=1, data=b"\xa9\n"),
    ]
    await call(executor, context=context, command="x")
    assert "".join(text for _, text in context.outputs) == "é\n"


async def test_a_cancelled_call_keeps_the_end_of_its_output() -> None:
    executor, context = ScriptedExecutor(), FakeContext()
    executor.chunks = [OutputChunk(stream="stdout", offset=0, data=b"half way\n")]
    executor.hang = True
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: call(executor, context=context, command="x"))
        while not context.outputs:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert context.kept is not None
    assert isinstance(context.kept[0], dict)
    assert context.kept[0]["ended_by"] == "cancellation"
    assert context.kept[1] == (Text(text="Cancelled after 0.4 s; what it wrote by then:\nhalf way"),)


async def test_an_executor_that_cannot_run_is_unavailable_not_failed() -> None:
    executor = ScriptedExecutor(
        SandboxUnavailable("no bwrap here; install it", missing="bwrap", remedy="install it")
    )
    with pytest.raises(CapabilityUnavailable, match="SANDBOX_UNAVAILABLE: no bwrap here"):
        await call(executor, command="true")


async def test_a_job_is_read_by_offset_and_wakes_on_output() -> None:
    executor = ScriptedExecutor()
    spec = cast(ShellPlan, (await resolve(executor, command="x", background=True)).plan).spec
    process = ScriptedProcess(spec)
    job = ShellJob(process)
    woken = anyio.Event()

    async def wake() -> None:
        await job.changed(0)
        woken.set()

    async with anyio.create_task_group() as group:
        group.start_soon(wake)
        await anyio.wait_all_tasks_blocked()
        assert not woken.is_set()
        process.write(b"ready\n")
        await woken.wait()
    piece = await job.read(0, 3)
    assert (piece.data, piece.next, piece.ended) == (b"rea", 3, False)
    process.end(result(exit_code=4))
    assert (await job.done()).exit_code == 4
    assert (await job.read(3, 100)).ended
    await job.close()
    assert process.closed
