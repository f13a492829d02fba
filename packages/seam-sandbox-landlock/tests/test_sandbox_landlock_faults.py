"""Launchers that lie, hang, are missing or can be written by others: a typed reason, and nothing runs or is left."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import anyio
import pytest

from seam.sandbox_def import PathRule, Policy, Reason, SandboxUnavailable
from seam.sandbox_landlock import (
    LandlockConfig,
    LandlockRuntime,
    Launcher,
    LauncherChoice,
    Trial,
    find_launcher,
    landlock_abi,
    try_out,
)
from seam.subprocess_def import SubprocessRuntime

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not isinstance(landlock_abi(), int), reason="no Landlock in this kernel"),
]


def policy(arena: Path) -> Policy:
    return Policy(mode="workspace-write", writable=(PathRule(path=str(arena / "ws"), reason="test"),))


def pose(monkeypatch: pytest.MonkeyPatch, path: Path, *, mode: int = 0o755) -> None:
    """Make a program the compiled launcher."""
    if path.exists():
        path.chmod(mode)

    def found(choice: LauncherChoice) -> Launcher:
        return Launcher((str(path),), "static", (str(path),))

    monkeypatch.setattr("seam.sandbox_landlock._runtime.find_launcher", found)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exit 0", Reason.PROBE_FAILED),
        ("exit 42", Reason.PROBE_FAILED),
        ("echo garbage >/dev/fd/65; exit 42", Reason.PROBE_FAILED),
        ("printf 'ready 0\\n' >/dev/fd/65; exit 42", Reason.PROBE_LIED),
        ("printf 'ready 0\\nexit 0\\n' >/dev/fd/65; exit 0", Reason.PROBE_LIED),
        ("shift 2; printf 'ready 0\\n' >/dev/fd/65; exec \"$@\"", Reason.PROBE_ESCAPED),
        ("exec sleep 60", Reason.PROBE_HUNG),
        ("kill -KILL $$", Reason.PROBE_FAILED),
    ],
)
async def test_launchers_that_lie(
    subprocesses: SubprocessRuntime,
    arena: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    expected: Reason,
) -> None:
    liar = arena / "liar"
    liar.write_text(f"#!/bin/sh\n{body}\n")
    pose(monkeypatch, liar)
    config = LandlockConfig(temporary=str(arena), probe_timeout=0.5 if "sleep" in body else 10)
    runtime = LandlockRuntime(subprocesses, config)
    with pytest.raises(SandboxUnavailable) as caught:
        await runtime.confine(("/bin/touch", str(arena / "ran")), policy(arena), cwd="/", env={})
    assert [finding.reason for finding in caught.value.findings] == [expected]
    assert sorted(path.name for path in arena.iterdir()) == ["liar", "ws"]


@pytest.mark.parametrize("case", ["missing", "writable"])
async def test_launchers_that_cannot_be_trusted(
    subprocesses: SubprocessRuntime, arena: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    path = arena / "launcher"
    if case == "writable":
        path.write_text("#!/bin/sh\nexit 0\n")
    pose(monkeypatch, path, mode=0o777)
    with pytest.raises(SandboxUnavailable) as caught:
        await LandlockRuntime(subprocesses, LandlockConfig()).confine(
            ("/bin/true",), policy(arena), cwd="/", env={}
        )
    expected = {"missing": Reason.NO_BINARY, "writable": Reason.UNTRUSTED_BINARY}[case]
    assert [finding.reason for finding in caught.value.findings] == [expected]


async def test_a_launcher_that_is_replaced_by_a_liar_is_found_out_at_the_next_command(
    subprocesses: SubprocessRuntime, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = find_launcher("static")
    if real is None:
        pytest.skip("no compiled launcher in this build")
    path = arena / "launcher"
    path.write_bytes(Path(real.argv[0]).read_bytes())
    pose(monkeypatch, path)
    runtime = LandlockRuntime(subprocesses, LandlockConfig(temporary=str(arena)))
    await runtime.release(await runtime.confine(("/bin/true",), policy(arena), cwd="/", env={}))
    path.unlink()
    path.write_text("#!/bin/sh\nprintf 'ready 0\\n' >/dev/fd/65\nshift 2\nexec \"$@\"\n")
    path.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match="probe-escaped"):
        await runtime.confine(("/bin/touch", str(arena / "ran")), policy(arena), cwd="/", env={})
    assert not (arena / "ran").exists()


@pytest.mark.parametrize("launcher", ["static", "python"])
async def test_a_command_killed_in_the_middle_leaves_nothing(
    subprocesses: SubprocessRuntime, arena: Path, launcher: LauncherChoice
) -> None:
    mark = f"seam-middle-{launcher}-{os.getpid()}"
    runtime = LandlockRuntime(subprocesses, LandlockConfig(launcher=launcher, temporary=str(arena)))
    command = f"echo $$ > pid.new; echo x > $TMPDIR/x; mv pid.new pid; exec -a {mark} sleep 500"
    env = {"PATH": "/bin:/usr/bin"}
    confined = await runtime.confine(
        ("/bin/bash", "-c", command), policy(arena), cwd=str(arena / "ws"), env=env
    )
    trials: list[Trial] = []

    async def attend() -> None:
        trials.append(await try_out(subprocesses, confined))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attend)
        with anyio.fail_after(30):
            while not (arena / "ws/pid").exists():
                await anyio.sleep(0.01)
        os.kill(int((arena / "ws/pid").read_text()), signal.SIGKILL)
    released = await runtime.release(confined)
    assert runtime.read_status(confined, trials[0].status).started
    assert released.left == ()
    assert [path.name for path in arena.iterdir()] == ["ws"]
    assert subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize(
    "env", [{"A": "x\0y"}, {"": "x"}, {"A=B": "x"}, {"A\0B": "x"}], ids=["value", "empty", "equals", "name"]
)
async def test_an_environment_that_cannot_be_one_is_refused_and_nothing_is_left(
    subprocesses: SubprocessRuntime, arena: Path, env: dict[str, str]
) -> None:
    runtime = LandlockRuntime(subprocesses, LandlockConfig(temporary=str(arena)))
    with pytest.raises(ValueError, match=r"NUL|name of a variable"):
        await runtime.confine(("/bin/true",), policy(arena), cwd="/", env=env)
    assert [path.name for path in arena.iterdir()] == ["ws"]


@pytest.mark.parametrize("launcher", ["static", "python"])
async def test_a_value_of_a_megabyte_is_refused_by_the_kernel_and_told(
    subprocesses: SubprocessRuntime, arena: Path, launcher: LauncherChoice
) -> None:
    runtime = LandlockRuntime(subprocesses, LandlockConfig(launcher=launcher, temporary=str(arena)))
    confined = await runtime.confine(("/bin/true",), policy(arena), cwd="/", env={"BIG": "x" * (1 << 20)})
    trial = await try_out(subprocesses, confined)
    await runtime.release(confined)
    status = runtime.read_status(confined, trial.status)
    assert (status.started, status.step) == (False, "exec")


@pytest.mark.parametrize("name", ["new\nline", "quo'te\"s", "b\udcffad", "-rf", "a:b", "$(x)", "*", "é"])
@pytest.mark.parametrize("launcher", ["static", "python"])
async def test_roots_of_odd_names(
    subprocesses: SubprocessRuntime, arena: Path, name: str, launcher: LauncherChoice
) -> None:
    root = arena / name
    root.mkdir()
    runtime = LandlockRuntime(subprocesses, LandlockConfig(launcher=launcher))
    asked = Policy(mode="workspace-write", writable=(PathRule(path=str(root), reason="test"),))
    confined = await runtime.confine(
        ("/bin/touch", "x", "../out"), asked, cwd=str(root), env={"PATH": "/bin"}
    )
    await try_out(subprocesses, confined)
    await runtime.release(confined)
    assert (root / "x").exists()
    assert not (arena / "out").exists()


@pytest.mark.parametrize("launcher", ["static", "python"])
async def test_three_hundred_roots(
    subprocesses: SubprocessRuntime, arena: Path, launcher: LauncherChoice
) -> None:
    roots = [arena / f"r{number}" for number in range(300)]
    for root in roots:
        root.mkdir()
    asked = Policy(
        mode="workspace-write", writable=tuple(PathRule(path=str(root), reason="test") for root in roots)
    )
    runtime = LandlockRuntime(subprocesses, LandlockConfig(launcher=launcher))
    argv = ("/bin/touch", f"{arena}/r7/x", f"{arena}/r299/x", f"{arena}/out")
    confined = await runtime.confine(argv, asked, cwd="/", env={})
    await try_out(subprocesses, confined)
    await runtime.release(confined)
    assert (arena / "r7/x").exists()
    assert (arena / "r299/x").exists()
    assert not (arena / "out").exists()
