"""The job tools over a scripted registry: what a model reads is pinned here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import pytest
from pydantic import BaseModel, JsonValue

from seam.jobs_def import JobEnd, JobInfo, JobOutput, JobOwner, JobProducer, JobRegistry, Revive, UnknownJob
from seam.jobs_tool import JobsToolConfig
from seam.jobs_tool._tools import JobTools
from seam.tools_def import (
    Access,
    Agent,
    CallContext,
    CallRefusal,
    Completed,
    Content,
    Effects,
    Owner,
    QuestionPort,
    ResolvedCall,
    Text,
    Tool,
    digest_of,
)

pytestmark = pytest.mark.anyio

ME = JobOwner(agent="default", session="s1")
STARTED = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA_DIGEST = "sha256:905d15b3eb6f4087d6c05bbed2ef07defcaa2a79839da9b23ee89cccbf30b8b5"


def info(job: str, **changes: object) -> JobInfo:
    base: dict[str, object] = {
        "id": job,
        "owner": ME,
        "title": "make all",
        "state": "running",
        "started": STARTED,
    }
    return JobInfo.model_validate(base | changes)


class ScriptedRegistry(JobRegistry):
    """Two jobs: one runs, one has ended."""

    def __init__(self) -> None:
        self.jobs = {
            "j1": info("j1", total=12, writable=True),
            "j2": info("j2", state="ended", end=JobEnd(cause="exited", exit_code=2), title="x" * 500),
        }
        self.sent: list[bytes] = []
        self.asked: list[tuple[object, ...]] = []

    def _find(self, owner: JobOwner, job: str) -> JobInfo:
        assert owner == ME
        if job not in self.jobs:
            raise UnknownJob(f"there is no job {job!r}", id=job)
        return self.jobs[job]

    async def start(
        self, owner: JobOwner, title: str, producer: JobProducer, *, kind: str = "", durable: bool = False
    ) -> JobInfo:
        raise AssertionError("the tools start nothing")

    def list(self, owner: JobOwner) -> Sequence[JobInfo]:
        assert owner == ME
        return tuple(self.jobs.values())

    def get(self, owner: JobOwner, job: str) -> JobInfo:
        return self._find(owner, job)

    async def read(self, owner: JobOwner, job: str, *, after: int, limit: int) -> JobOutput:
        self.asked.append(("read", after, limit))
        whole = b"\x1b[31mhello\x1b[0m world\n"
        start = max(len(whole) + after, 0) if after < 0 else after
        data = whole[start : start + limit]
        return JobOutput(data=data, start=start, next=start + len(data), total=len(whole), lost=0)

    async def wait(
        self, owner: JobOwner, jobs: Sequence[str], *, timeout: float, beyond: Mapping[str, int] | None = None
    ) -> Sequence[JobInfo]:
        self.asked.append(("wait", timeout, beyond))
        return [self._find(owner, job) for job in jobs]

    async def write(self, owner: JobOwner, job: str, data: bytes) -> None:
        self.sent.append(data)

    async def stop(self, owner: JobOwner, job: str) -> JobInfo:
        return self._find(owner, job).model_copy(update={"state": "ended", "end": JobEnd(cause="stopped")})

    def offer_reviver(self, kind: str, revive: Revive) -> Callable[[], None]:
        raise AssertionError("the tools revive nothing")

    async def end_owner(self, owner: JobOwner) -> None:
        raise AssertionError("the tools end no owner")


class Context(CallContext):
    """One call of session s1."""

    @property
    def turn(self) -> str:
        return "t"

    @property
    def call(self) -> str:
        return "c"

    @property
    def agent(self) -> Agent:
        return Agent(name="default", workspace="/ws")

    @property
    def owner(self) -> Owner:
        return Owner(agent="default", session="s1")

    @property
    def access(self) -> Access:
        return Access(principal="p", platform="tests")

    @property
    def questions(self) -> QuestionPort | None:
        return None

    def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        raise AssertionError("nothing to report")

    def output(self, text: str, *, stream: str = "stdout") -> None:
        raise AssertionError("nothing to show")

    def keep(self, value: JsonValue, content: Sequence[Content]) -> None:
        raise AssertionError("nothing to keep")


def tools(registry: JobRegistry | None = None, **config: object) -> dict[str, Tool]:
    made = JobTools(registry or ScriptedRegistry(), JobsToolConfig.model_validate(config)).all()
    return {tool.name: tool for tool in made}


async def call(name: str, registry: ScriptedRegistry | None = None, **arguments: object) -> Completed:
    tool = tools(registry)[name]
    parsed: BaseModel = tool.parameters.model_validate(arguments)
    resolved = ResolvedCall(
        tool=name, descriptor="d", arguments={}, effects=Effects(), deadline=1, summary="", plan=parsed
    )
    answer = await tool.run(resolved, Context())
    assert isinstance(answer, Completed)
    return answer


def words(answer: Completed) -> str:
    return cast(Text, answer.content[0]).text


def test_the_schemas_that_models_see_are_pinned() -> None:
    schemas = [tool.describe("plugin:consume.jobs-tool").model_schema() for tool in tools().values()]
    assert digest_of(schemas) == SCHEMA_DIGEST, "a schema changed: was that meant?"


def test_only_what_reaches_into_a_process_is_asked_about() -> None:
    asked = {
        name for name, tool in tools().items() if tool.effects.risky and tool.requires_approval != "never"
    }
    assert asked == {"job_send"}


async def test_list() -> None:
    answer = await call("job_list")
    assert words(answer) == (
        "j1: running, 12 bytes of output - make all\nj2: exited with code 2, 0 bytes of output - " + "x" * 120
    )
    assert words(await call("job_list", running_only=True)) == "j1: running, 12 bytes of output - make all"


async def test_read_without_a_cursor_shows_the_end_and_with_one_reads_on() -> None:
    registry = ScriptedRegistry()
    first = await call("job_read", registry, job="j1")
    assert registry.asked == [("read", -16384, 16384)]
    assert words(first) == "j1: running. Bytes 0 to 21 of 21; cursor 21.\nhello world"
    second = await call("job_read", registry, job="j1", cursor=21)
    assert words(second) == "j1: running. Bytes 21 to 21 of 21; cursor 21.\n[no output]"


async def test_a_wait_beyond_the_limit_is_lowered_and_says_so() -> None:
    registry = ScriptedRegistry()
    answer = await call("job_wait", registry, jobs=["j1"], timeout=100_000)
    assert registry.asked == [("wait", 300.0, None)]
    assert words(answer).endswith("[the timeout was lowered to the maximum of 300 s]")


async def test_the_deadline_of_a_wait_covers_the_wait() -> None:
    tool = tools()["job_wait"]
    assert tool.resolve is not None
    resolution = await tool.resolve(
        tool.parameters.model_validate({"jobs": ["j1"], "timeout": 120}), Context()
    )
    assert resolution.deadline == 180
    assert tool.deadline is not None
    assert tool.deadline >= 300


async def test_send_and_stop() -> None:
    registry = ScriptedRegistry()
    assert words(await call("job_send", registry, job="j1", text="é\n")) == "Sent 3 bytes to j1."
    assert registry.sent == ["é\n".encode()]
    assert words(await call("job_stop", registry, job="j1")).startswith("j1: stopped")


async def test_an_unknown_job_is_named() -> None:
    with pytest.raises(UnknownJob, match="j9"):
        await call("job_wait", jobs=["j9"])


async def test_waiting_for_output_names_what_is_known_of_one_job() -> None:
    registry = ScriptedRegistry()
    await call("job_wait", registry, jobs=["j1"], cursor=12)
    assert registry.asked == [("wait", 30.0, {"j1": 12})]
    with pytest.raises(CallRefusal, match="one job"):
        await call("job_wait", jobs=["j1", "j2"], cursor=0)
