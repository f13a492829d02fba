"""What a check works with: a runtime, a folder, and ways to look at processes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil

from seam.subprocess_def._confidential import ByteFilter, Confidential
from seam.subprocess_def._exit import ProcessExit
from seam.subprocess_def._process import Process
from seam.subprocess_def._runtime import SubprocessRuntime
from seam.subprocess_def._spec import OwnedLifetime, SpawnSpec
from seam.subprocess_def._streams import Collect, Data, Null, StreamId
from seam.subprocess_def.conformance._subject import Subject

WINDOW = Collect(max_bytes=65536, head_bytes=32768, spill_bytes=0)
WIDE = Collect(max_bytes=16_000_000, head_bytes=8_000_000, spill_bytes=0)
MARK = "SUBPROCESS_KIT_MARK"


@dataclass(frozen=True)
class Ran:
    """A command that ran to its end: how it ended, and the heads of its streams."""

    exit: ProcessExit
    out: bytes
    err: bytes


class Trial:
    """One check's surroundings."""

    def __init__(self, runtime: SubprocessRuntime, folder: Path, subject: Subject) -> None:
        self.runtime = runtime
        self.folder = folder
        self.subject = subject
        self.mark = secrets.token_hex(8)
        """In the environment of everything that this trial starts."""

    def spec(self, *argv: str, **changes: object) -> SpawnSpec:
        """A spec with everything decided; `changes` are fields, `env` is added to the trial's environment."""
        env = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", MARK: self.mark}
        given = changes.pop("env", {})
        assert isinstance(given, Mapping)
        fields: dict[str, object] = {
            "argv": argv,
            "cwd": str(self.folder),
            "env": {**env, **given},
            "stdin": Null(),
            "stdout": WINDOW,
            "stderr": WINDOW,
            "grace": 1.0,
            "drain": 0.3,
            "survivors": "end",
            "lifetime": OwnedLifetime(),
        }
        return SpawnSpec.model_validate(fields | changes)

    def bash(self, script: str, **changes: object) -> SpawnSpec:
        """A spec that runs a script with bash."""
        return self.spec("bash", "--norc", "-c", script, **changes)

    def python(self, program: str, *arguments: str, **changes: object) -> SpawnSpec:
        """A spec that runs a program with the world's Python."""
        return self.spec("python3", "-c", program, *arguments, **changes)

    async def spawn(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Process:
        """Start; the check owns the handle."""
        return await self.runtime.spawn(spec, confidential=confidential, filters=filters)

    async def run(
        self,
        spec: SpawnSpec,
        *,
        confidential: Confidential | None = None,
        filters: Mapping[StreamId, ByteFilter] | None = None,
    ) -> Ran:
        """Start and wait for the end."""
        async with await self.spawn(spec, confidential=confidential, filters=filters) as process:
            ended = await process.wait()
            heads = [
                process.collected(name).head() if spec_kind(spec, name) == "collect" else b""
                for name in _OUTPUTS
            ]
            return Ran(ended, heads[0], heads[1])

    def alive(self, mark: str | None = None) -> list[str]:
        """Command lines of the processes that carry the mark, in their environment or arguments; no zombies.

        Supervisors that an implementer puts in between do not count: they carry it in neither."""
        wanted = (mark or self.mark).encode()
        return [line for pid in psutil.pids() if (line := _line_if_marked(pid, wanted)) is not None]

    async def until(self, condition: Callable[[], object], seconds: float = 10.0) -> None:
        """Wait until a condition holds that only looking can tell.

        Raises:
            TimeoutError: it does not within `seconds`.
        """
        with anyio.fail_after(seconds):
            while not condition():
                await anyio.sleep(0.01)

    async def gone(self, seconds: float = 2.0) -> None:
        """Wait until nothing of this trial is alive."""
        try:
            await self.until(lambda: not self.alive(), seconds)
        except TimeoutError:
            raise AssertionError(f"still alive: {self.alive()}") from None


_OUTPUTS: tuple[StreamId, StreamId] = ("stdout", "stderr")


def spec_kind(spec: SpawnSpec, name: StreamId) -> str:
    """The kind of an output stream of a spec."""
    return spec.stdout.kind if name == "stdout" else spec.stderr.kind


def _line_if_marked(pid: int, mark: bytes) -> str | None:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except OSError:
        return None  # gone between the listing and the look, or of another user
    if state in "ZX" or (mark not in environment and mark not in line):
        return None
    return f"{pid}: {line.replace(bytes(1), b' ').decode('utf-8', 'replace')}"


def data(content: bytes) -> Data:
    """Standard input of known bytes."""
    return Data(data=content)
