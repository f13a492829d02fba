"""What exec-local would run is what the runner is given, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from seam.exec_def import ExecSpec, Isolation
from seam.exec_local import Launch
from seam.exec_sandbox import SandboxWrapper
from seam.sandbox_def import (
    Confined,
    Denial,
    Enforcement,
    LaunchStatus,
    Policy,
    PolicyReport,
    PolicyRequest,
    ProbeResult,
    Released,
    RuntimeReport,
    SandboxPolicy,
    SandboxRuntime,
)
from seam.sandbox_def import Limits as SandboxLimits
from seam.subprocess_def import Collect, Confidential, Null, OwnedLifetime, SpawnSpec

OUTPUT = Collect(max_bytes=10, head_bytes=5, spill_bytes=0)
TEXT = st.binary(max_size=30).filter(lambda raw: b"\0" not in raw).map(os.fsdecode)


class FixedPolicy(SandboxPolicy):
    """Always the same policy."""

    def resolve(self, request: PolicyRequest) -> Policy:
        return Policy(mode="read-only")

    def report(self, workspace: str | None = None) -> PolicyReport:
        return PolicyReport(
            mode="read-only",
            ceiling="read-only",
            network="none",
            writable=(),
            protected=(),
            hidden=(),
            limits=SandboxLimits(),
        )


class RecordingRuntime(SandboxRuntime):
    """A runtime that wraps and remembers what it was given."""

    def __init__(self) -> None:
        self.given: tuple[tuple[str, ...], dict[str, str]] | None = None

    @property
    def mechanism(self) -> str:
        return "recording"

    async def probe(self) -> ProbeResult:
        return ProbeResult(runtime="recording", usable=True)

    async def confine(
        self, argv: Sequence[str], policy: Policy, *, cwd: str, env: Mapping[str, str]
    ) -> Confined:
        self.given = tuple(argv), dict(env)
        return Confined(
            token="t",
            argv=("/runner", "--", *argv),
            payload=2,
            status=65,
            enforcement=Enforcement(level="full", runtime="recording"),
            policy=policy.digest,
        )

    def read_status(self, confined: Confined, status: bytes) -> LaunchStatus:
        return LaunchStatus(started=True)

    def denials(self, confined: Confined) -> tuple[Denial, ...]:
        return ()

    async def release(self, confined: Confined) -> Released:
        return Released()

    async def report(self) -> RuntimeReport:
        return RuntimeReport(probes=(), modes=())


@settings(max_examples=80, deadline=None)
@given(argv=st.lists(TEXT, min_size=1, max_size=6), value=TEXT, secret=TEXT)
def test_the_runner_gets_the_identical_argv(argv: list[str], value: str, secret: str) -> None:
    runtime = RecordingRuntime()
    wrapper = SandboxWrapper(FixedPolicy(), runtime)
    plain = SpawnSpec(
        argv=tuple(argv),
        cwd="/",
        env={"VALUE": value},
        grace=0.0,
        survivors="end",
        stdin=Null(),
        stdout=OUTPUT,
        stderr=OUTPUT,
        drain=0.0,
        lifetime=OwnedLifetime(),
    )
    isolation = Isolation(mode="read-only", policy=Policy(mode="read-only"))
    spec = ExecSpec.model_construct(isolation=isolation)

    async def wrap() -> SpawnSpec:
        wrapped = await wrapper.wrap(spec, Launch(plain, Confidential(env={"SECRET": secret})))
        return wrapped.launch.spawn

    spawn = anyio.run(wrap)
    assert spawn.argv == ("/runner", "--", *argv)
    assert runtime.given is not None
    assert runtime.given == (tuple(argv), {"VALUE": value, "SECRET": secret})
    assert dict(spawn.env) == {}
