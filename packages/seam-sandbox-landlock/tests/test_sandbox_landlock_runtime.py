"""The Landlock runtime with real commands, under both launchers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from seam.sandbox_def import (
    LaunchStatus,
    Limits,
    PathRule,
    Policy,
    Reason,
    SandboxUnavailable,
)
from seam.sandbox_landlock import LandlockConfig, LandlockRuntime, Trial, landlock_abi, try_out
from seam.subprocess_def import SubprocessRuntime

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not isinstance(landlock_abi(), int), reason="no Landlock in this kernel"),
]


@pytest.fixture(params=["static", "python"])
def runtime(request: pytest.FixtureRequest, subprocesses: SubprocessRuntime) -> LandlockRuntime:
    return LandlockRuntime(subprocesses, LandlockConfig(launcher=request.param))


def policy(arena: Path, **more: object) -> Policy:
    rules = (PathRule(path=str(arena / "ws"), reason="test"),)
    hidden = (PathRule(path=str(arena / "secret"), reason="test"),)
    return Policy.model_validate({"mode": "workspace-write", "writable": rules, "hidden": hidden, **more})


async def run(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path, command: str, **more: object
) -> tuple[Trial, LaunchStatus]:
    confined = await runtime.confine(
        ("/bin/bash", "-c", command),
        policy(arena, **more),
        cwd=str(arena / "ws"),
        env={"PATH": os.environ["PATH"]},
    )
    try:
        trial = await try_out(subprocesses, confined)
    finally:
        await runtime.release(confined)
    return trial, runtime.read_status(confined, trial.status)


async def test_it_confines(runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path) -> None:
    (arena / "secret").write_text("hidden")
    trial, status = await run(
        runtime,
        subprocesses,
        arena,
        "echo x > in; echo x > ../out; cat ../secret; echo x > $TMPDIR/t; exit 7",
    )
    assert status.started
    assert trial.exit_code == 7
    assert (arena / "ws/in").exists()
    assert not (arena / "out").exists()
    assert b"hidden" not in trial.stdout


async def test_sb_026_renames_and_links_across_folders_work(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    command = "mkdir a b && touch a/f && mv a/f b/ && ln b/f a/g && cp -r a c && rm -r b && git init -q x"
    trial, _ = await run(runtime, subprocesses, arena, command)
    assert (trial.exit_code, trial.stderr) == (0, b"")


async def test_sb_027_folders_made_later_can_be_renamed_into(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    (arena / "ws/f").touch()
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
    trial, _ = await run(
        runtime,
        subprocesses,
        arena,
        f"mkdir new && mv f new/ && {python} -m venv --without-pip v && v/bin/python -c 'print(1)'",
    )
    assert (trial.exit_code, trial.stdout) == (0, b"1\n"), trial.stderr


async def test_sb_015_devices_work_as_outside(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    command = (
        "cat /dev/null && printf x >/dev/null && head -c4 /dev/zero | od -An -tx1 && head -c4 /dev/urandom | wc -c;"
        "cat <(echo sub); echo t | tee /dev/stderr; echo x > /dev/full || echo full"
    )
    trial, _ = await run(runtime, subprocesses, arena, command)
    assert trial.stdout.split() == [b"00", b"00", b"00", b"00", b"4", b"sub", b"t", b"full"]


async def test_sb_028_truncation_outside_is_denied_or_named(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    (arena / "out").write_text("kept")
    await run(runtime, subprocesses, arena, "truncate -s 0 ../out; : > ../out")
    gaps = {gap.code for mode in (await runtime.report()).modes for gap in mode.enforcement.gaps}
    assert (arena / "out").read_text() == "kept" or "truncation" in gaps
    assert "metadata-changes" in gaps


async def test_no_descriptor_of_the_host_or_the_sandbox_is_left(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    trial, _ = await run(runtime, subprocesses, arena, "ls /proc/self/fd")
    assert trial.stdout.split() == [b"0", b"1", b"2", b"3"]


async def test_the_private_folder_is_gone_afterwards_whatever_the_command_did_to_it(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    trial, _ = await run(
        runtime,
        subprocesses,
        arena,
        "mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; chmod 0 $TMPDIR/a/b $TMPDIR/a; echo $TMPDIR",
    )
    assert not os.path.lexists(trial.stdout.decode().strip())


async def test_limits_hold(runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path) -> None:
    trial, _ = await run(
        runtime,
        subprocesses,
        arena,
        "ulimit -n; ulimit -c; ulimit -f",
        limits=Limits(open_files=99, file_size=4096),
    )
    assert trial.stdout.split() == [b"99", b"0", b"4"]


async def test_hidden_files_inside_a_writable_root_are_refused_not_leaked(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    (arena / "ws/key").touch()
    with pytest.raises(SandboxUnavailable, match="hidden inside a writable root"):
        await run(
            runtime,
            subprocesses,
            arena,
            "true",
            hidden=(PathRule(path=str(arena / "ws/key"), reason="test"),),
        )


async def test_partial_must_be_permitted(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    with pytest.raises(SandboxUnavailable) as caught:
        await run(runtime, subprocesses, arena, "true", partial=False)
    assert Reason.PARTIAL_FORBIDDEN in {finding.reason for finding in caught.value.findings}


async def test_a_forbidden_gap_is_refused_by_name(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    with pytest.raises(SandboxUnavailable, match="gap-forbidden"):
        await run(runtime, subprocesses, arena, "true", forbidden_gaps=("processes-visible",))


async def test_a_command_that_is_not_there_is_not_started(
    runtime: LandlockRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    confined = await runtime.confine(("/nonexistent",), policy(arena), cwd=str(arena), env={})
    trial = await try_out(subprocesses, confined)
    await runtime.release(confined)
    status = runtime.read_status(confined, trial.status)
    assert not status.started
    assert status.step == "exec"


async def test_what_nobody_can_confine_is_refused(runtime: LandlockRuntime, arena: Path) -> None:
    for argv, asked in (((), policy(arena)), (("/bin/true",), Policy(mode="full-access"))):
        with pytest.raises(ValueError, match=r"no command|does not confine"):
            await runtime.confine(argv, asked, cwd="/", env={})
    with pytest.raises(ValueError, match="NUL"):
        await runtime.confine(("/bin/true", "a\0b"), policy(arena), cwd="/", env={})


async def test_one_boot_is_probed_once_and_the_report_probes_anew(
    subprocesses: SubprocessRuntime, arena: Path
) -> None:
    config = LandlockConfig(verdicts=arena / "verdicts")
    known = await LandlockRuntime(subprocesses, config).probe()
    other = LandlockRuntime(subprocesses, config)
    assert await other.probe() == known
    (fresh,) = (await other.report()).probes
    assert fresh.usable
    assert fresh.seconds != known.seconds
