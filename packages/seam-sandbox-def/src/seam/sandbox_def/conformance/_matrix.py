"""Every attempt, unconfined as a control and confined by a runtime, in every mode that confines."""

from __future__ import annotations

import os
import re
import secrets
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio

from seam.sandbox_def._confined import Confined
from seam.sandbox_def._gaps import CONSTANT_GAPS
from seam.sandbox_def._modes import MODES, Mode
from seam.sandbox_def._services import SandboxRuntime
from seam.sandbox_def.conformance._arena import LIMITS, Arena
from seam.sandbox_def.conformance._attempt import SAID, TRIED, Attempt, arguments
from seam.sandbox_def.conformance._witnesses import Listeners, SharedObjects, Victim
from seam.subprocess_def import (
    Collect,
    Data,
    DescriptorSpec,
    Null,
    OpenPath,
    Outlet,
    OwnedLifetime,
    SpawnSpec,
    SubprocessRuntime,
)

State = Literal["stopped", "got through", "not possible here"]
"""`not possible here`: the unconfined control failed as well, so the attempt proves nothing on this machine."""

_PATIENCE = 20.0
"""Seconds for one program; they take a fraction of one."""
_OUTPUT = Collect(max_bytes=1 << 16, head_bytes=1 << 15, spill_bytes=0)
_MODES: tuple[Mode, ...] = MODES[:-1]


@dataclass(frozen=True)
class Result:
    """What became of one attempt.

    Attributes:
        attempt: its name.
        kind: what it is after.
        mode: `read-only` or `workspace-write`.
        state: see `State`.
        gap: the gap that allows it to get through, as the runtime names it; empty when there is none.
        output: end of what the program said, for who wants to know why.
    """

    attempt: str
    kind: str
    mode: str
    state: State
    gap: str = ""
    output: str = ""

    @property
    def honest(self) -> bool:
        """Whether the runtime says what it lets through."""
        return self.state != "got through" or bool(self.gap)


class Matrix:
    """Runs attempts in one arena.

    Args:
        base: a folder that is not below a shared temporary one; it is made and removed.
        interpreter: a Python that the caller can run, also inside.
        subprocess: what starts confined programs.
    """

    def __init__(self, base: Path, interpreter: str, subprocess: SubprocessRuntime) -> None:
        self._base = base
        self._interpreter = interpreter
        self._subprocess = subprocess

    async def run(
        self, attempts: Iterable[Attempt], runtimes: Iterable[SandboxRuntime]
    ) -> dict[str, list[Result]]:
        """Results of each runtime, by its mechanism."""
        results: dict[str, list[Result]] = {runtime.mechanism: [] for runtime in runtimes}
        services = self._base / "q"
        services.mkdir(parents=True)
        try:
            with Listeners(services) as listeners:
                for attempt in attempts:
                    control = await self._once(attempt, listeners, None, "read-only")
                    for runtime in runtimes:
                        for mode in _MODES:
                            if control.state == "got through":
                                result = await self._once(attempt, listeners, runtime, mode)
                            else:
                                result = Result(
                                    attempt.name,
                                    attempt.kind,
                                    mode,
                                    "not possible here",
                                    output=control.output,
                                )
                            results[runtime.mechanism].append(result)
        finally:
            Arena(self._base, "").destroy()
        return results

    async def _once(
        self, attempt: Attempt, listeners: Listeners, runtime: SandboxRuntime | None, mode: Mode
    ) -> Result:
        arena = Arena(self._base / "a", secrets.token_hex(16))
        arena.build()
        listeners.add_file(arena.workspace / "sock")
        shared = SharedObjects(arena.word)
        victim = Victim(arena, self._interpreter) if re.search(r"\bV\b", attempt.code) else None
        folder = os.open(arena.outside, os.O_RDONLY)
        file = os.open(arena.outside / "file", os.O_RDWR)
        secret = os.open(arena.home / ".ssh/id", os.O_RDONLY)
        listeners.give(secret)
        facts = self._facts(arena) | listeners.facts | shared.facts | (victim.facts if victim else {})
        argv = arguments(self._interpreter, attempt, facts)
        before = arena.picture()
        caller = _Caller(int(str(facts["free"]))) if attempt.check == "reached" else None
        gaps: frozenset[str] = frozenset()
        try:
            for descriptor in (folder, file):
                os.set_inheritable(descriptor, True)
            if runtime is None:
                output = await anyio.to_thread.run_sync(_unconfined, argv, arena, (folder, file))
            else:
                output, gaps = await self._confined(runtime, argv, arena, mode)
            worked = _worked(attempt, arena, before, listeners, victim, output, caller, facts)
        finally:
            for descriptor in (folder, file, secret):
                os.close(descriptor)
            listeners.give(None)
            worked_by_signal = victim.end() if victim is not None else False
            shared.remove()
            arena.destroy()
        worked = worked or (attempt.check == "signalled" and worked_by_signal)
        known = gaps | {gap.code for gap in CONSTANT_GAPS}
        gap = attempt.gap if worked and attempt.gap in known else ""
        return Result(
            attempt.name, attempt.kind, mode, "got through" if worked else "stopped", gap, output[-300:]
        )

    def _facts(self, arena: Arena) -> dict[str, object]:
        return {
            "outside": str(arena.outside),
            "ws": str(arena.workspace),
            "home": str(arena.home),
            "word": arena.word,
            "victim": 0,
            "ws_stream": str(arena.workspace / "sock"),
            "free": _free_port(),
            "mark": f"mark-{arena.word}",
            "core": 12345,
            "cgroup": _cgroup(),
            "processes": (LIMITS.processes or 0) + 40,
            "memory": (LIMITS.memory or 0) + (32 << 20),
            "file_size": LIMITS.file_size,
            "open_files": LIMITS.open_files,
            "cpu_time": LIMITS.cpu_time,
            "temporary": LIMITS.temporary_size,
        }

    async def _confined(
        self, runtime: SandboxRuntime, argv: tuple[str, ...], arena: Arena, mode: Mode
    ) -> tuple[str, frozenset[str]]:
        confined = await runtime.confine(
            argv, arena.policy(mode), cwd=str(arena.workspace), env=_environment()
        )
        try:
            spec = spawn_spec(confined)
            async with await self._subprocess.spawn(spec) as process:
                with anyio.move_on_after(_PATIENCE):
                    await process.wait()
                parts = [process.collected(stream).head() for stream in ("stdout", "stderr", confined.status)]
        finally:
            await runtime.release(confined)
        status = runtime.read_status(confined, parts[2])
        if not status.started:
            raise AssertionError(
                f"the attempt was not started: {status.failure}; {parts[1].decode(errors='replace')}"
            )
        text = b"".join(parts[:2]).decode("utf-8", "replace")
        if TRIED not in text:
            raise AssertionError(f"the program did not come to its attempt: {text}")
        return text, frozenset(gap.code for gap in confined.enforcement.gaps)


def spawn_spec(confined: Confined) -> SpawnSpec:
    """How a confined command is started."""
    descriptors: dict[int, DescriptorSpec] = {confined.status: Outlet(into=_OUTPUT)}
    descriptors |= {entry.number: Data(data=entry.data) for entry in confined.inputs}
    descriptors |= {entry.number: OpenPath(path=entry.path, access="location") for entry in confined.paths}
    return SpawnSpec(
        argv=confined.argv,
        cwd=confined.cwd,
        env=dict(confined.env),
        descriptors=descriptors,
        grace=0.1,
        survivors="end",
        stdin=Null(),
        stdout=_OUTPUT,
        stderr=_OUTPUT,
        drain=0.2,
        lifetime=OwnedLifetime(),
    )


class _Caller:
    """Somebody outside who tries to connect while an attempt listens."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._stop = threading.Event()
        self._heard = b""
        self._thread = threading.Thread(target=self._try, name="seam-conformance-caller")
        self._thread.start()

    def end(self) -> bytes:
        """Stop, wait, and tell what was heard."""
        self._stop.set()
        self._thread.join()
        return self._heard

    def _try(self) -> None:
        while not self._stop.wait(0.02) and not self._heard:
            try:
                with socket.create_connection(("127.0.0.1", self._port), 0.5) as connection:
                    self._heard = connection.recv(200)
            except OSError:
                continue  # nobody listens yet


def _unconfined(argv: tuple[str, ...], arena: Arena, inherited: tuple[int, ...]) -> str:
    env = _environment() | {"TMPDIR": str(arena.temporary)}
    process = subprocess.Popen(
        argv,
        cwd=arena.workspace,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=inherited,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=_PATIENCE)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return "it did not end"
    finally:
        # what it left must be seen first when that is the question, so only the group that hangs is ended here
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _worked(
    attempt: Attempt,
    arena: Arena,
    before: dict[str, object],
    listeners: Listeners,
    victim: Victim | None,
    output: str,
    caller: _Caller | None,
    facts: dict[str, object],
) -> bool:
    left = _end_marked(str(facts["mark"]))
    called = caller.end() if caller is not None else b""
    match attempt.check:
        case "said":
            return SAID in output
        case "leaked":
            return arena.word in output and _not_by_itself(attempt, output, arena)
        case "made":
            return os.path.lexists(arena.outside / "new")
        case "changed":
            return arena.picture() != before
        case "heard":
            return _eventually(lambda: listeners.heard(arena.word))
        case "reached":
            return arena.word.encode() in called
        case "touched":
            return victim is not None and victim.touched()
        case "outlived":
            return left
        case "signalled":
            return False  # the victim tells when it is ended


def _not_by_itself(attempt: Attempt, output: str, arena: Arena) -> bool:
    """A program knows its word; an error message that quotes its own source is no leak."""
    return "Traceback" not in output or f"secret {arena.word}" in output


def _eventually(condition: object) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + 0.15
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _end_marked(mark: str) -> bool:
    """End every process that carries `mark`. Returns whether there was one."""
    found = False
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
                found = True
        except OSError:
            continue  # it has ended meanwhile
    return found


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cgroup() -> str:
    """A folder of the control groups, writable where the caller may."""
    root = Path("/sys/fs/cgroup")
    return str(next((path for path in (root / "unified", root / "pids", root) if path.is_dir()), root))
