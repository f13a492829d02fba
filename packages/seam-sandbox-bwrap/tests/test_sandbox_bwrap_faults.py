"""What goes wrong: each time a typed reason, no unconfined run, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from seam.sandbox_bwrap import BwrapConfig, BwrapRuntime
from seam.sandbox_def import PathRule, Policy, Reason, SandboxUnavailable
from seam.sandbox_landlock import Trial, process_start, try_out
from seam.subprocess_def import SubprocessRuntime

pytestmark = pytest.mark.anyio

REAL = "/usr/bin/bwrap"


def liar(arena: Path, body: str, mode: int = 0o755) -> str:
    """A program in bwrap's place that prints bwrap's options and then does something else."""
    path = arena / "fake-bwrap"
    path.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        "  --version) echo bubblewrap 0.8.0; exit ;;\n"
        "  --help) printf ' --%s\\n' args as-pid-1 die-with-parent perms size unshare-user bind-fd; exit ;;\n"
        "esac\n" + body
    )
    path.chmod(mode)
    return str(path)


async def attempt(subprocesses: SubprocessRuntime, arena: Path, **config: object) -> tuple[Reason, ...]:
    """Confine a command that leaves a trace; the reasons why that was refused."""
    made = BwrapConfig.model_validate({"fallback": "none", "temporary": str(arena), **config})
    runtime = BwrapRuntime(subprocesses, made)
    asked = Policy(mode="workspace-write", writable=(PathRule(path=str(arena / "ws"), reason="test"),))
    try:
        with pytest.raises(SandboxUnavailable) as caught:
            await runtime.confine(("/bin/touch", str(arena / "ran")), asked, cwd="/", env={})
    finally:
        runtime.close()
    assert not (arena / "ran").exists()
    return tuple(finding.reason for finding in caught.value.findings)


async def test_sb_014_a_missing_runner_is_told_once_with_its_remedy(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    assert await attempt(subprocesses, arena, runner="/nonexistent/bwrap") == (Reason.NO_BINARY,)


async def test_sb_018_a_runner_that_cannot_set_up_is_not_a_failing_command(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    body = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
    (reason,) = await attempt(subprocesses, arena, runner=liar(arena, body))
    assert reason in (Reason.OUTER_SECCOMP, Reason.APPARMOR, Reason.USER_NAMESPACES_OFF)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("exit 0\n", Reason.PROBE_LIED),
        ("echo hello >&65 2>/dev/null; exit 0\n", Reason.PROBE_FAILED),
        ("printf 'ready 0\\nexit 42\\n' >&9; exit 42\n", Reason.PROBE_FAILED),
        (
            "echo 'bwrap: Creating new namespace failed: No space left on device' >&2; exit 1\n",
            Reason.USER_NAMESPACES_EXHAUSTED,
        ),
        ("echo 'bwrap: loopback: Failed RTM_NEWADDR' >&2; exit 1\n", Reason.NETWORK_SETUP),
    ],
)
async def test_runners_that_lie(
    subprocesses: SubprocessRuntime, arena: Path, body: str, expected: Reason
) -> None:
    found = await attempt(subprocesses, arena, runner=liar(arena, body))
    assert expected in found


async def test_a_runner_that_reports_success_without_running_anything(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    body = "python3 -c 'import os; os.write(65, b\"ready 0\\nexit 42\\n\")'; exit 42\n"
    assert await attempt(subprocesses, arena, runner=liar(arena, body)) == (Reason.PROBE_LIED,)


async def test_a_runner_that_does_not_confine(subprocesses: SubprocessRuntime, arena: Path) -> None:
    body = 'while [ "$1" != -- ]; do shift; done; shift 4\nprintf \'ready 0\\n\' >/dev/fd/65\nexec "$@"\n'
    assert await attempt(subprocesses, arena, runner=liar(arena, body)) == (Reason.PROBE_ESCAPED,)


async def test_a_runner_that_hangs(subprocesses: SubprocessRuntime, arena: Path) -> None:
    found = await attempt(subprocesses, arena, runner=liar(arena, "exec sleep 60\n"), probe_timeout=0.5)
    assert found == (Reason.PROBE_HUNG,)


async def test_a_runner_that_others_can_write_is_not_used(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    shutil.copy(REAL, arena / "bwrap")
    (arena / "bwrap").chmod(0o777)
    assert await attempt(subprocesses, arena, runner=str(arena / "bwrap")) == (Reason.UNTRUSTED_BINARY,)


async def test_a_runner_in_a_writable_root_is_not_used(subprocesses: SubprocessRuntime, arena: Path) -> None:
    shutil.copy(REAL, arena / "ws/bwrap")
    assert Reason.UNTRUSTED_BINARY in await attempt(subprocesses, arena, runner=str(arena / "ws/bwrap"))


async def test_a_runner_that_is_none(subprocesses: SubprocessRuntime, arena: Path) -> None:
    (arena / "text").write_text("#!/bin/sh\necho something else\n")
    (arena / "text").chmod(0o755)
    assert await attempt(subprocesses, arena, runner=str(arena / "text")) == (Reason.UNSUPPORTED_BINARY,)


async def test_nothing_can_be_recorded(subprocesses: SubprocessRuntime, arena: Path) -> None:
    (arena / "file").touch()
    runtime = BwrapRuntime(subprocesses, BwrapConfig(fallback="none", temporary=str(arena / "file")))
    rule = PathRule(path=str(arena / "ws"), reason="test")
    asked = Policy(
        mode="workspace-write",
        writable=(rule,),
        protected=(PathRule(path=str(arena / "ws/.rc"), reason="test"),),
    )
    with pytest.raises(SandboxUnavailable, match="no-space"):
        await runtime.confine(("/bin/true",), asked, cwd="/", env={})
    assert list((arena / "ws").iterdir()) == []


@pytest.mark.skipif(not os.access(REAL, os.X_OK), reason="no bubblewrap on this machine")
async def test_one_boot_is_probed_once_and_the_report_probes_anew(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    config = BwrapConfig(fallback="none", temporary=str(arena), verdicts=arena / "verdicts")
    first, second = BwrapRuntime(subprocesses, config), BwrapRuntime(subprocesses, config)
    known = await first.probe()
    assert known.usable
    assert await second.probe() == known, "the record of the first, its time included"
    (fresh,) = (await second.report()).probes
    assert (fresh.usable, fresh.features) == (known.usable, known.features)
    assert fresh.seconds != known.seconds
    assert await BwrapRuntime(subprocesses, config).probe() == fresh


@pytest.mark.skipif(not os.access(REAL, os.X_OK), reason="no bubblewrap on this machine")
async def test_a_runner_that_is_replaced_by_a_liar_is_found_out_at_the_next_command(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    runner = arena / "fake-bwrap"
    shutil.copy(REAL, runner)
    config = BwrapConfig(fallback="none", temporary=str(arena), runner=str(runner))
    runtime = BwrapRuntime(subprocesses, config)
    asked = Policy(mode="workspace-write", writable=(PathRule(path=str(arena / "ws"), reason="test"),))
    await runtime.release(await runtime.confine(("/bin/true",), asked, cwd="/", env={}))
    runner.unlink()
    liar(arena, "exit 0\n")
    for each in (runtime, BwrapRuntime(subprocesses, config)):
        with pytest.raises(SandboxUnavailable, match="probe-lied"):
            await each.confine(("/bin/touch", str(arena / "ran")), asked, cwd="/", env={})
        each.close()
    assert not (arena / "ran").exists()


_HOST = """
import sys, anyio
from seam.sandbox_bwrap import BwrapConfig, BwrapRuntime
from seam.sandbox_def import PathRule, Policy
from seam.sandbox_landlock import try_out
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

async def main(arena):
    async with open_runtime(LocalSubprocessConfig()) as subprocesses:
        runtime = BwrapRuntime(subprocesses, BwrapConfig(fallback="none", temporary=arena))
        rules = [PathRule(path=arena + p, reason="test") for p in ("/ws", "/ws/.rc")]
        asked = Policy(mode="workspace-write", writable=(rules[0],), protected=(rules[1],))
        command = "echo up > up; exec sleep 300.%s" % sys.argv[2]
        confined = await runtime.confine(("/bin/sh", "-c", command), asked, cwd=arena + "/ws", env={"PATH": "/bin:/usr/bin"})
        await try_out(subprocesses, confined)

anyio.run(main, sys.argv[1])
"""


@pytest.mark.skipif(not os.access(REAL, os.X_OK), reason="no bubblewrap on this machine")
async def test_sb_038_and_024_a_killed_host_leaves_neither_processes_nor_mount_points(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    mark = str(os.getpid())
    host = subprocess.Popen([sys.executable, "-c", _HOST, str(arena), mark])
    try:
        with anyio.fail_after(30):
            while not (arena / "ws/up").exists():
                await anyio.sleep(0.02)
        assert (arena / "ws/.rc").is_dir()
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    with anyio.fail_after(5):
        while (
            subprocess.run(["pgrep", "-f", f"sleep 300.{mark}"], capture_output=True, check=False).returncode
            == 0
        ):
            await anyio.sleep(0.05)
    assert process_start(host.pid) == ""
    runtime = BwrapRuntime(subprocesses, BwrapConfig(fallback="none", temporary=str(arena)))
    await runtime.probe()
    runtime.close()
    assert not (arena / "ws/.rc").exists(), "the next start removes what the killed host left"
    assert (arena / "ws/up").exists()


_NO_LOOPBACK = r"""
cat /dev/fd/66 > "$0.args"
if tr '\0' '\n' < "$0.args" | grep -q -e --unshare-net; then
  echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2
  exit 1
fi
exec /bin/bash -c 'exec 66<"$0"; exec /usr/bin/bwrap "$@"' "$0.args" "$@"
"""


@pytest.mark.skipif(not os.access(REAL, os.X_OK), reason="no bubblewrap on this machine")
async def test_sb_016_where_no_loopback_can_be_set_up_another_way_is_found_once(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    config = BwrapConfig(fallback="none", temporary=str(arena), runner=liar(arena, _NO_LOOPBACK))
    runtime = BwrapRuntime(subprocesses, config)
    probe = await runtime.probe()
    assert probe.usable
    assert [finding.reason for finding in probe.findings] == [Reason.NETWORK_SETUP]
    assert "network-namespace" not in probe.features
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)"
    asked = Policy(mode="workspace-write", writable=(PathRule(path=str(arena / "ws"), reason="test"),))
    confined = await runtime.confine(
        ("/usr/bin/env", "python3", "-c", code), asked, cwd="/", env={"PATH": os.environ["PATH"]}
    )
    trial = await try_out(subprocesses, confined)
    await runtime.release(confined)
    assert runtime.read_status(confined, trial.status).exit_code == 1
    assert b"PermissionError" in trial.stderr


@pytest.mark.skipif(not os.access(REAL, os.X_OK), reason="no bubblewrap on this machine")
async def test_a_runner_killed_in_the_middle_leaves_neither_processes_nor_mount_points(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    mark = f"seam-middle-{os.getpid()}"
    config = BwrapConfig(fallback="none", temporary=str(arena))
    runtime = BwrapRuntime(subprocesses, config)
    rules = [PathRule(path=f"{arena}/{name}", reason="test") for name in ("ws", "ws/.rc")]
    asked = Policy(mode="workspace-write", writable=(rules[0],), protected=(rules[1],))
    command = f"echo up > up; exec -a {mark} sleep 500"
    confined = await runtime.confine(
        ("/bin/bash", "-c", command), asked, cwd=str(arena / "ws"), env={"PATH": "/bin:/usr/bin"}
    )
    trials: list[Trial] = []

    async def attend() -> None:
        trials.append(await try_out(subprocesses, confined))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(attend)
        with anyio.fail_after(30):
            while not (arena / "ws/up").exists():
                await anyio.sleep(0.01)
        found = subprocess.run(["pgrep", "-x", "bwrap"], capture_output=True, text=True, check=True)
        for pid in found.stdout.split():
            if mark in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(int(pid), signal.SIGKILL)
    released = await runtime.release(confined)
    status = runtime.read_status(confined, trials[0].status)
    assert status.started
    assert status.exit_code is None, "nobody can know it"
    assert (released.left, [path.name for path in (arena / "ws").iterdir()]) == ((), ["up"])
    with anyio.fail_after(5):
        while subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False).returncode == 0:
            await anyio.sleep(0.02)
