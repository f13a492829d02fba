"""What goes around every shell: the runner that the deployment's sandbox prepares."""

from __future__ import annotations

import errno
import os
import signal as signals
from types import MappingProxyType

from seam.exec_def import (
    BadWorkdir,
    ExecRequest,
    ExecSpec,
    Isolation,
    ResourcesExhausted,
    SandboxFacts,
    Survivor,
)
from seam.exec_local import Ending, Launch, Wrapped, Wrapper
from seam.exec_sandbox._denials import find_denials
from seam.kernel import SeamError
from seam.sandbox_def import (
    Confined,
    Denial,
    Finding,
    LaunchStatus,
    Mode,
    Policy,
    PolicyRequest,
    Reason,
    SandboxPolicy,
    SandboxRuntime,
    SandboxSetupFailed,
    SandboxUnavailable,
)
from seam.subprocess_def import (
    Collect,
    Confided,
    Confidential,
    DescriptorSpec,
    OpenPath,
    Outlet,
    Process,
    ProcessExit,
)

_STATUS = Outlet(into=Collect(max_bytes=4096, head_bytes=4096, spill_bytes=0))
_WORKDIR = MappingProxyType(
    {errno.ENOENT: "missing", errno.ENOTDIR: "not_a_directory", errno.EACCES: "permission"}
)

_WORKDIR_WORDS = MappingProxyType(
    {"missing": "it does not exist", "not_a_directory": "it is not a directory"}
)

_SHOWN = 500
"""Bytes of a runner's own words that an error quotes."""


class SandboxWrapper(Wrapper):
    """Asks the policy what a call may do, and the runtime to enforce it.

    Args:
        policy: who decides.
        runtime: who enforces.
    """

    def __init__(self, policy: SandboxPolicy, runtime: SandboxRuntime) -> None:
        self._policy = policy
        self._runtime = runtime
        self._mode: Mode = policy.report().mode

    @property
    def mechanism(self) -> str:
        """`sandbox`."""
        return "sandbox"

    @property
    def confines(self) -> bool:
        """Always; a policy of `full-access` is a decision, not a lack."""
        return True

    @property
    def mode(self) -> Mode:
        """The deployment's mode."""
        return self._mode

    def isolate(self, request: ExecRequest, *, workspace: str, workdir: str) -> Isolation:
        """Ask the policy; its errors pass as they are."""
        asked = PolicyRequest(workspace=workspace, workdir=workdir, widening=request.widening)
        policy = self._policy.resolve(asked)
        return Isolation(mode=policy.mode, policy=policy)

    async def wrap(self, spec: ExecSpec, plain: Launch) -> Wrapped:
        """Put the runner around the start."""
        policy = spec.isolation.policy
        if policy is None:
            # A spec that no sandbox resolved: running it bare is the one thing that must not happen.
            detail = "the command was resolved without a sandbox policy"
            raise SandboxUnavailable(
                (Finding(reason=Reason.NO_RUNTIME, detail=detail),), self._runtime.mechanism
            )
        if not policy.confines:
            return _Unconfined(plain, SandboxFacts(mode=policy.mode))
        env = {**plain.spawn.env, **(plain.confidential.env if plain.confidential else {})}
        try:
            confined = await self._runtime.confine(
                plain.spawn.argv, policy, cwd=plain.spawn.cwd, env=with_plain_messages(env)
            )
        except OSError as error:
            many = error.errno in (errno.EMFILE, errno.ENFILE)
            raise ResourcesExhausted(
                f"the sandbox could not be prepared: {'too many open files' if many else error.strerror}; nothing was "
                f"run, try again later",
                resource="descriptors" if many else "memory",
                reason=error.strerror or "unknown",
            ) from error
        return _Confined(self._runtime, policy, confined, _launch(plain, confined), plain.spawn.cwd)


def with_plain_messages(env: dict[str, str]) -> dict[str, str]:
    """The environment with messages of programs in English, by which refusals are recognised; the encoding stays."""
    if not env.keys() & {"LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES"}:
        return env
    kept = {name: value for name, value in env.items() if name != "LANGUAGE"}
    if kept.get("LC_ALL", "C").partition(".")[0] not in ("C", "POSIX"):
        kept["LC_ALL"] = "C.UTF-8"
    return {**kept, "LC_MESSAGES": "C"}


def _launch(plain: Launch, confined: Confined) -> Launch:
    """The start of the runner. What it reads goes the confidential way: it holds the command's environment."""
    inputs = {entry.number: entry.data for entry in confined.inputs}
    descriptors: dict[int, DescriptorSpec] = {**plain.spawn.descriptors, confined.status: _STATUS}
    descriptors |= dict.fromkeys(inputs, Confided())
    descriptors |= {entry.number: OpenPath(path=entry.path, access="location") for entry in confined.paths}
    given = dict(plain.confidential.descriptors) if plain.confidential else dict[int, bytes]()
    spawn = plain.spawn.model_copy(
        update={
            "argv": confined.argv,
            "cwd": confined.cwd,
            "env": dict(confined.env),
            "descriptors": descriptors,
        }
    )
    return Launch(spawn, Confidential(descriptors={**given, **inputs}))


class _Unconfined(Wrapped):
    """A start in `full-access`, which the policy decided: no runner at all."""

    def __init__(self, launch: Launch, facts: SandboxFacts) -> None:
        self._launch = launch
        self._facts = facts

    @property
    def launch(self) -> Launch:
        return self._launch

    def sandbox(self) -> SandboxFacts:
        return self._facts

    async def settle(self, process: Process, end: ProcessExit, output: bytes) -> Ending:
        return Ending(end.exit_code, end.signal, end.unknown, self._facts)

    async def discard(self) -> None:
        """Nothing was made."""


class _Confined(Wrapped):
    """A start through the runner."""

    def __init__(
        self, runtime: SandboxRuntime, policy: Policy, confined: Confined, launch: Launch, workdir: str
    ) -> None:
        self._runtime = runtime
        self._policy = policy
        self._confined = confined
        self._launch = launch
        self._workdir = workdir

    @property
    def launch(self) -> Launch:
        return self._launch

    async def confirm(self, process: Process) -> None:
        """Wait for the runner's word that the command has started."""
        status = process.collected(self._confined.status)
        while b"\n" not in status.head() and await status.wait_beyond(status.total):
            continue
        told = self._runtime.read_status(self._confined, status.head())
        if not told.started:
            await process.terminate(grace=0.0)
            raise self._failed(process, told)

    def sandbox(self) -> SandboxFacts:
        return self._facts(self._runtime.denials(self._confined))

    async def settle(self, process: Process, end: ProcessExit, output: bytes) -> Ending:
        told = self._runtime.read_status(self._confined, process.collected(self._confined.status).head())
        seen = self._runtime.denials(self._confined)
        denials = (*seen, *find_denials(self._policy, output, self._workdir))
        facts = self._facts(tuple(dict.fromkeys(denials)))
        await self._runtime.release(self._confined)
        if not told.started:
            return Ending(None, None, f"the sandbox lost the command: {told.failure}", facts)
        left = tuple(Survivor(pid=pid, name=name, fate="ended") for pid, name in told.survivors)
        if told.ended == "exited":
            return Ending(told.exit_code, None, None, facts, left)
        if told.ended == "signalled" and told.signal is not None:
            return Ending(None, _signal_name(told.signal), None, facts, left)
        return Ending(end.exit_code, end.signal, end.unknown, facts)

    async def discard(self) -> None:
        await self._runtime.release(self._confined)

    def _facts(self, denials: tuple[Denial, ...]) -> SandboxFacts:
        return SandboxFacts(
            mode=self._policy.mode,
            enforcement=self._confined.enforcement,
            confined=self._confined.token,
            denials=denials,
        )

    def _failed(self, process: Process, told: LaunchStatus) -> SeamError:
        if told.step == "cwd":
            reason = _WORKDIR.get(told.error, "other")
            return BadWorkdir(
                f"the working directory {self._workdir!r} cannot be used: inside the sandbox "
                f"{_WORKDIR_WORDS.get(reason, os.strerror(told.error))}; nothing was run",
                workdir=self._workdir,
                reason=reason,
            )
        failure = told.failure
        said = process.collected("stdout" if self._launch.spawn.stderr.kind == "stdout" else "stderr").head()
        detail = said[:_SHOWN].decode("utf-8", "replace").strip() or failure
        return SandboxSetupFailed(
            f"The command was not run: {self._confined.enforcement.runtime} did not start it ({failure}). Its own words: "
            f"{detail!r}. Run `seam doctor --sandbox` to see what this machine lacks.",
            runtime=self._confined.enforcement.runtime,
            detail=detail,
            failure=failure,
        )


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signals.SIGRTMIN}" if number > signals.SIGRTMIN else f"SIG{number}"
