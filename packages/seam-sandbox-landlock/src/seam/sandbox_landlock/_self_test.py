"""A real confined process that tries to break out: the only way to know that a runtime works."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from seam.sandbox_def import (
    Confined,
    Finding,
    LaunchStatus,
    Limits,
    PathRule,
    Policy,
    Reason,
    SandboxUnavailable,
)
from seam.sandbox_landlock._membership import OWN_LACK
from seam.subprocess_def import (
    Collect,
    Data,
    DescriptorSpec,
    Null,
    OpenPath,
    Outlet,
    OwnedLifetime,
    SpawnSpec,
    SubprocessError,
    SubprocessRuntime,
)

_RAN = 42
_SCRIPT = 'echo x > "$1/escape"; cat "$1/secret"; echo "$2" > "$1/work/done"; exit 42'
_OUTPUT = Collect(max_bytes=1 << 16, head_bytes=1 << 15, spill_bytes=0)


@dataclass(frozen=True)
class Trial:
    """What one confined run did.

    Attributes:
        status: bytes of the status descriptor.
        exit_code: of the runner.
        stdout, stderr: what was written.
    """

    status: bytes
    exit_code: int | None
    stdout: bytes
    stderr: bytes


def descriptors(confined: Confined, status: DescriptorSpec) -> dict[int, DescriptorSpec]:
    """The descriptors of a confined command as `SpawnSpec` wants them."""
    given: dict[int, DescriptorSpec] = {confined.status: status}
    given |= {entry.number: Data(data=entry.data) for entry in confined.inputs}
    given |= {entry.number: OpenPath(path=entry.path, access="location") for entry in confined.paths}
    return given


async def try_out(subprocess: SubprocessRuntime, confined: Confined) -> Trial:
    """Run a confined command to its end.

    Raises:
        SubprocessError: the runner could not be started.
    """
    spec = SpawnSpec(
        argv=confined.argv,
        cwd=confined.cwd,
        env=dict(confined.env),
        descriptors=descriptors(confined, Outlet(into=_OUTPUT)),
        grace=0.0,
        survivors="end",
        stdin=Null(),
        stdout=_OUTPUT,
        stderr=_OUTPUT,
        drain=1.0,
        lifetime=OwnedLifetime(),
    )
    async with await subprocess.spawn(spec) as process:
        ended = await process.wait()
        streams = [process.collected(stream).head() for stream in (confined.status, "stdout", "stderr")]
    return Trial(streams[0], ended.exit_code, streams[1], streams[2])


async def self_test(
    subprocess: SubprocessRuntime,
    confine: Callable[[Policy, tuple[str, ...], str], Awaitable[Confined]],
    read_status: Callable[[Confined, bytes], LaunchStatus],
    release: Callable[[Confined], Awaitable[object]],
    *,
    timeout: float,
    explain: Callable[[Trial], Finding],
) -> Finding | None:
    """Confine a shell that tries to write outside and to read what is hidden.

    Args:
        subprocess: what starts it.
        confine: confines an argv under a policy in a working directory.
        read_status, release: of the runtime.
        timeout: seconds.
        explain: the reason in the runner's output when nothing was started.

    Returns:
        Why the runtime is not usable, `None` when it is.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="confined-probe-") as folder:
            with anyio.move_on_after(timeout):
                return await _trial(subprocess, confine, read_status, release, folder, explain)
            return Finding(reason=Reason.PROBE_HUNG, detail=f"no answer within {timeout:g} s")
    except SubprocessError as error:
        return Finding(reason=Reason.PROBE_FAILED, detail=error.message)
    except SandboxUnavailable as error:
        return error.findings[0]
    except OSError as error:
        if error.errno in OWN_LACK:
            raise
        return Finding(reason=Reason.NO_SPACE, detail=f"the self-test has no place to work in: {error}")


async def _trial(
    subprocess: SubprocessRuntime,
    confine: Callable[[Policy, tuple[str, ...], str], Awaitable[Confined]],
    read_status: Callable[[Confined, bytes], LaunchStatus],
    release: Callable[[Confined], Awaitable[object]],
    folder: str,
    explain: Callable[[Trial], Finding],
) -> Finding | None:
    nonce = secrets.token_hex(16)
    work, secret = _scene(folder, nonce)
    policy = Policy(
        mode="workspace-write",
        writable=(PathRule(path=work, reason="self-test"),),
        hidden=(PathRule(path=secret, reason="self-test"),),
        limits=Limits(),
    )
    confined = await confine(policy, ("/bin/sh", "-c", _SCRIPT, "sh", folder, nonce), work)
    try:
        trial = await try_out(subprocess, confined)
    finally:
        await release(confined)
    return (
        _verdict(folder, nonce, trial)
        or (None if read_status(confined, trial.status).started else explain(trial))
        or _proof(work, nonce, trial)
    )


def _scene(folder: str, nonce: str) -> tuple[str, str]:
    work, secret = Path(folder, "work"), Path(folder, "secret")
    work.mkdir()
    secret.write_text(f"secret {nonce}\n", "ascii")
    return str(work), str(secret)


def _verdict(folder: str, nonce: str, trial: Trial) -> Finding | None:
    if os.path.lexists(f"{folder}/escape"):
        return Finding(reason=Reason.PROBE_ESCAPED, detail="it wrote a file outside of every writable root")
    if f"secret {nonce}".encode() in trial.stdout:
        return Finding(reason=Reason.PROBE_ESCAPED, detail="it read a hidden file")
    return None


def _proof(work: str, nonce: str, trial: Trial) -> Finding | None:
    """The command leaves a nonce and a code that no other program gives."""
    done = Path(work, "done")
    if not done.is_file() or nonce not in done.read_text("utf-8", "replace") or trial.exit_code != _RAN:
        return Finding(
            reason=Reason.PROBE_LIED, detail=f"exit code {trial.exit_code}, and no trace of the command"
        )
    return None
