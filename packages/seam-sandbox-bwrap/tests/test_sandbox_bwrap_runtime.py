"""The bubblewrap runtime with real commands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from seam.sandbox_bwrap import BwrapConfig, BwrapRuntime
from seam.sandbox_def import LaunchStatus, LinkRefused, PathRule, Policy, SandboxUnavailable, WorkspaceChanged
from seam.sandbox_landlock import Trial, try_out
from seam.subprocess_def import SubprocessRuntime

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not os.access("/usr/bin/bwrap", os.X_OK), reason="no bubblewrap on this machine"),
]


@pytest.fixture
def runtime(subprocesses: SubprocessRuntime, arena: Path) -> BwrapRuntime:
    return BwrapRuntime(subprocesses, BwrapConfig(fallback="none", temporary=str(arena)))


def rules(*paths: Path | str) -> tuple[PathRule, ...]:
    return tuple(PathRule(path=str(path), reason="test") for path in paths)


def policy(arena: Path, **more: object) -> Policy:
    return Policy.model_validate({"mode": "workspace-write", "writable": rules(arena / "ws"), **more})


async def run(
    runtime: BwrapRuntime,
    subprocesses: SubprocessRuntime,
    asked: Policy,
    command: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> tuple[Trial, LaunchStatus]:
    given = {"PATH": os.environ["PATH"], **(env or {})}
    confined = await runtime.confine(("/bin/bash", "-c", command), asked, cwd=str(cwd), env=given)
    try:
        trial = await try_out(subprocesses, confined)
    finally:
        await runtime.release(confined)
    return trial, runtime.read_status(confined, trial.status)


async def test_sb_002_nested_rules_hold_in_any_order(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    project = arena / "s/ws/proj"
    project.mkdir(parents=True)
    (arena / "s/secret").write_text("hidden")
    (arena / "s/ws/seen").write_text("seen")
    (project / "key").write_text("hidden")
    hidden = rules(project / "key", arena / "s")
    for order in (hidden, hidden[::-1]):
        asked = Policy(
            mode="workspace-write", writable=rules(project), readable=rules(arena / "s/ws"), hidden=order
        )
        command = f"touch x; cat {arena}/s/secret key; cat {arena}/s/ws/seen; touch ../y"
        trial, _ = await run(runtime, subprocesses, asked, command, project)
        assert trial.stdout == b"seen"
        assert (project / "x").exists()
        assert not (arena / "s/ws/y").exists()


async def test_sb_007_a_root_behind_a_link_in_a_shared_folder(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(arena / "ws")
    root = PathRule(path=str(arena / "ws"), reason="test", given=str(link))
    asked = Policy(mode="workspace-write", writable=(root,), hidden=rules("/tmp"))
    trial, status = await run(runtime, subprocesses, asked, f"touch {link}/a {arena}/ws/b; pwd -P", link)
    assert status.started, trial.stderr
    assert trial.stdout.decode().strip() == str(arena / "ws")
    assert sorted(p.name for p in (arena / "ws").iterdir()) == ["a", "b"]


async def test_sb_015_devices_and_process_substitution(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    command = (
        "cat /dev/null && printf x >/dev/null && head -c4 /dev/zero | od -An -tx1 && head -c4 /dev/urandom | wc -c;"
        "cat <(echo sub); echo t | tee /dev/stderr; echo x > /dev/full || echo full; touch /dev/shm/x && test -e /dev/ptmx && echo dev"
    )
    trial, _ = await run(runtime, subprocesses, policy(arena), command, arena / "ws")
    assert trial.stdout.split() == [b"00", b"00", b"00", b"00", b"4", b"sub", b"t", b"full", b"dev"]


async def test_sb_031_renameat2_without_replacing_works_across_folders(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    command = (
        "mkdir a b; touch a/f; python3 -c 'import ctypes,os; l=ctypes.CDLL(None,use_errno=True);"
        'print(l.renameat2(-100,b"a/f",-100,b"b/f",1), l.renameat2(-100,b"/tmp",-100,b"/tmp/x",1) < 0)\''
    )
    trial, _ = await run(runtime, subprocesses, policy(arena), command, arena / "ws")
    assert trial.stdout == b"0 True\n"


async def test_sb_038_mount_points_are_removed_and_nothing_else(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    ws = arena / "ws"
    (ws / "kept").mkdir()
    asked = policy(arena, protected=rules(ws / ".rc", ws / ".cfg/commands", ws / "kept"))
    command = "touch .rc/x .cfg/commands kept/x; mkdir .cfg; ls -A"
    trial, _ = await run(runtime, subprocesses, asked, command, ws)
    assert trial.stdout.split() == [b".cfg", b".rc", b"kept"]
    assert [p.name for p in ws.iterdir()] == ["kept"]
    assert list((ws / "kept").iterdir()) == []


async def test_sb_038_two_commands_share_a_mount_point(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    ws = arena / "ws"
    asked = policy(arena, protected=rules(ws / ".rc"))
    env = {"PATH": os.environ["PATH"]}
    first = await runtime.confine(("/bin/true",), asked, cwd=str(ws), env=env)
    second = await runtime.confine(("/bin/sh", "-c", "echo x > .rc/x"), asked, cwd=str(ws), env=env)
    await try_out(subprocesses, first)
    assert (await runtime.release(first)).removed == ()
    assert (ws / ".rc").is_dir(), "the second command still needs it"
    await try_out(subprocesses, second)
    assert (await runtime.release(second)).removed == (str(ws / ".rc"),)
    assert list(ws.iterdir()) == []


async def test_sb_039_an_empty_folder_is_all_that_a_watcher_can_see(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    ws = arena / "ws"
    subprocess.run(["git", "init", "-q", str(ws)], check=True)
    asked = policy(arena, protected=rules(ws / ".bashrc"))
    status = f"git -c safe.directory={ws} -C {ws} status --porcelain"
    trial, _ = await run(runtime, subprocesses, asked, status, ws)
    assert (trial.stdout, trial.exit_code) == (b"", 0)


async def test_sb_013_pairs_and_pools_keep_working(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    code = (
        "import socket, multiprocessing as m\n"
        "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n"
        "print(sum(m.get_context('fork').Pool(2).map(abs, [-1, -2])))\n"
        "s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); print('loop')\n"
    )
    (arena / "ws/t.py").write_text(code)
    trial, _ = await run(runtime, subprocesses, policy(arena), "python3 t.py", arena / "ws")
    assert trial.stdout == b"b'x'\n3\nloop\n", trial.stderr


async def test_sb_020_a_link_into_a_protected_folder_is_no_way_to_write_it(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    tools = arena / "ws/.venv/bin"
    tools.mkdir(parents=True)
    (tools / "git").write_text("real")
    asked = policy(arena, protected=rules(arena / "ws/.venv"))
    await run(
        runtime,
        subprocesses,
        asked,
        f"ln -s {tools}/git l; echo fake > l; rm -rf .venv; mv .venv x",
        arena / "ws",
    )
    assert (tools / "git").read_text() == "real"


async def test_a_workspace_that_became_a_link_is_refused(runtime: BwrapRuntime, arena: Path) -> None:
    asked = policy(arena)
    (arena / "ws").rmdir()
    (arena / "ws").symlink_to("/etc")
    with pytest.raises(WorkspaceChanged):
        await runtime.confine(("/bin/true",), asked, cwd="/", env={})
    (arena / "ws").unlink()


async def test_a_workspace_that_becomes_a_link_after_the_preparation_is_not_followed(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    (arena / "other").mkdir()
    confined = await runtime.confine(
        ("/bin/sh", "-c", "touch escaped"), policy(arena), cwd=str(arena / "ws"), env={"PATH": "/bin"}
    )
    (arena / "ws").rmdir()
    (arena / "ws").symlink_to(arena / "other")
    trial = await try_out(subprocesses, confined)
    await runtime.release(confined)
    assert not runtime.read_status(confined, trial.status).started
    assert list((arena / "other").iterdir()) == []


async def test_a_protected_path_that_became_a_link_is_refused(runtime: BwrapRuntime, arena: Path) -> None:
    (arena / "ws/.rc").symlink_to("/etc/passwd")
    with pytest.raises(LinkRefused):
        await runtime.confine(
            ("/bin/true",), policy(arena, protected=rules(arena / "ws/.rc")), cwd="/", env={}
        )


@pytest.mark.parametrize("name", ["new\nline", "quo'te\"s", "b\udcffad", "-rf", "a:b", "$(x)", "*", "é"])
async def test_roots_of_odd_names(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path, name: str
) -> None:
    root = arena / name
    root.mkdir()
    asked = Policy(mode="workspace-write", writable=rules(root))
    trial, status = await run(runtime, subprocesses, asked, "touch x", root)
    assert status.started, trial.stderr
    assert (root / "x").exists()


async def test_three_hundred_roots(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    roots = [arena / f"r{number}" for number in range(300)]
    for root in roots:
        root.mkdir()
    asked = Policy(mode="workspace-write", writable=rules(*roots))
    trial, _ = await run(runtime, subprocesses, asked, f"touch {arena}/r7/x {arena}/r299/x; ulimit -n", arena)
    assert trial.stderr == b""
    assert (arena / "r299/x").exists()


async def test_a_value_of_a_megabyte_reaches_nobody_but_the_kernel_refuses_it_by_name(
    runtime: BwrapRuntime, subprocesses: SubprocessRuntime, arena: Path
) -> None:
    _, status = await run(runtime, subprocesses, policy(arena), "true", arena, {"BIG": "x" * (1 << 20)})
    assert (status.started, status.step) == (False, "exec")


@pytest.mark.parametrize(
    "env", [{"A": "x\0y"}, {"": "x"}, {"A=B": "x"}, {"A\0B": "x"}], ids=["value", "empty", "equals", "name"]
)
async def test_an_environment_that_cannot_be_one_is_refused_and_nothing_is_held(
    runtime: BwrapRuntime, arena: Path, env: dict[str, str]
) -> None:
    asked = policy(arena, protected=rules(arena / "ws/.rc"))
    with pytest.raises(ValueError, match=r"NUL|name of a variable"):
        await runtime.confine(("/bin/true",), asked, cwd="/", env=env)
    assert list((arena / "ws").iterdir()) == []
    assert list(arena.glob("confined-mount-points-*/*.json")) == []


async def test_the_runner_has_an_empty_environment(runtime: BwrapRuntime, arena: Path) -> None:
    env = {"LD_PRELOAD": "/evil.so", "BASH_ENV": "/evil.sh"}
    confined = await runtime.confine(("/bin/true", "--", "-x"), policy(arena), cwd="/", env=env)
    await runtime.release(confined)
    assert confined.env == ()
    assert confined.argv[confined.payload - 1] == "--"
    assert confined.argv[confined.payload :] == ("/bin/true", "--", "-x")
    assert not any("evil" in argument for argument in confined.argv)


async def test_a_relative_runner_is_refused() -> None:
    with pytest.raises(ValueError, match="PATH is never searched"):
        BwrapConfig(runner="bwrap")


async def test_the_report_says_what_is_enforced_in_each_mode(runtime: BwrapRuntime) -> None:
    report = await runtime.report()
    assert report.probes[0].usable
    assert {(mode.mode, mode.network) for mode in report.modes} == {
        (mode, network)
        for mode in ("read-only", "workspace-write")
        for network in ("none", "allow-list", "full")
    }


async def test_a_gap_that_the_policy_forbids_is_refused(subprocesses: SubprocessRuntime, arena: Path) -> None:
    runtime = BwrapRuntime(subprocesses, BwrapConfig(fallback="none", proc="host", temporary=str(arena)))
    with pytest.raises(SandboxUnavailable, match="gap-forbidden"):
        await runtime.confine(("/bin/true",), policy(arena, forbidden_gaps=("host-proc",)), cwd="/", env={})
    assert "host-proc" in {
        gap.code for mode in (await runtime.report()).modes for gap in mode.enforcement.gaps
    }
