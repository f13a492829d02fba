"""The sandboxed executor from end to end: real shells, real confinement, facts on the result."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

from seam.exec_def import Abort, Environment, ExecRequest, ExecResult, SecretRef, ShellExecutor
from seam.sandbox_bwrap import bwrap
from seam.sandbox_def import InvalidPolicy, SandboxUnavailable, Widening, WideningRefused
from seam.sandbox_landlock import landlock

Opener = Callable[..., AbstractAsyncContextManager[ShellExecutor]]

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not os.access("/usr/bin/bwrap", os.X_OK), reason="no bubblewrap on this machine"),
]
PARTIAL = {"partial": True}


async def run(executor: ShellExecutor, arena: Path, command: str, **more: object) -> ExecResult:
    request = ExecRequest.model_validate({"command": command, "workspace": str(arena / "ws"), **more})
    return await executor.run(executor.resolve(request))


@pytest.mark.parametrize("runtime", [bwrap, landlock], ids=["bwrap", "landlock"])
async def test_a_denied_command_tells_what_was_denied_and_by_which_rule(
    open_executor: Opener, arena: Path, runtime: object
) -> None:
    async with open_executor({}, PARTIAL, runtime) as executor:
        result = await run(executor, arena, f"touch {arena}/x; cat /etc/shadow; echo fine > y")
    assert result.exit_code == 0
    assert {(d.operation, d.target) for d in result.sandbox.denials} == {
        ("write", str(arena / "x")),
        ("read", "/etc/shadow"),
    }
    assert {d.certainty for d in result.sandbox.denials} == {"confirmed"}
    assert (arena / "ws/y").exists()


@pytest.mark.parametrize(
    "command",
    [
        "grep zzz /etc/passwd",
        "ls /nope",
        "sh -c 'exit 126'",
        "nosuchcmd",
        "echo 'permission denied: sandbox' >&2; exit 1",
        "mkdir -p /tmp/sandbox/p; touch /tmp/sandbox/p/package.json; find /tmp/sandbox /root -name package.json 2>/dev/null; exit 1",
        "touch f; chmod 0 f; ./f",
        "echo 'cp: cannot create x: Permission denied' >&2; exit 1",
    ],
)
async def test_sb_032_and_033_failures_of_the_commands_own_are_no_denials(
    open_executor: Opener, arena: Path, command: str
) -> None:
    async with open_executor({}, PARTIAL) as executor:
        result = await run(executor, arena, command)
    assert result.cause == "exited"
    assert result.exit_code != 0
    assert result.sandbox.denials == ()


async def test_sb_033_codes_pass_through(open_executor: Opener, arena: Path) -> None:
    async with open_executor({}, PARTIAL) as executor:
        codes = [
            (await run(executor, arena, f"exit {code}")).exit_code for code in (0, 1, 2, 126, 127, 137, 255)
        ]
        killed = await run(executor, arena, "kill -KILL $$")
    assert codes == [0, 1, 2, 126, 127, 137, 255]
    assert (killed.exit_code, killed.signal, killed.cause) == (None, "SIGKILL", "signalled")


async def test_sb_034_a_denial_is_told_beside_exit_0(open_executor: Opener, arena: Path) -> None:
    async with open_executor({}, PARTIAL) as executor:
        result = await run(executor, arena, f"cat /etc/shadow | head -1; echo x > {arena}/f || true")
    assert result.exit_code == 0
    assert {d.target for d in result.sandbox.denials} == {"/etc/shadow", str(arena / "f")}


async def test_sb_017_every_mode_does_what_it_says(open_executor: Opener, arena: Path) -> None:
    command = (
        f"touch /tmp/sb017-$$; touch {arena}/ws/x; touch {arena}/y; ls {arena}/ws >/dev/null && echo read"
    )
    made: dict[str, list[str]] = {}
    for mode in ("read-only", "workspace-write", "full-access"):
        async with open_executor({}, {"mode": mode, **PARTIAL}) as executor:
            result = await run(executor, arena, command.replace("$$", mode))
        assert b"read" in result.stdout.data
        assert result.sandbox.mode == mode
        names = (Path(f"/tmp/sb017-{mode}"), arena / "ws/x", arena / "y")
        made[mode] = [path.name for path in names if path.exists()]
        for path in names:
            path.unlink(missing_ok=True)
    assert made == {
        "read-only": [],
        "workspace-write": ["x"],
        "full-access": ["sb017-full-access", "x", "y"],
    }


async def test_sb_010_git_runs_nothing_that_a_command_planted(open_executor: Opener, arena: Path) -> None:
    ws = arena / "ws"
    subprocess.run(["git", "init", "-q", str(ws)], check=True)
    (arena / "wt").mkdir()
    (arena / "wt/.git").write_text(f"gitdir: {ws}/.git/worktrees/wt\n")
    async with open_executor({}, {"writable": [str(arena / "wt")], **PARTIAL}) as executor:
        result = await run(
            executor,
            arena,
            f"git config core.fsmonitor 'touch {arena}/pwn'; echo 'gitdir: /tmp/evil' > {arena}/wt/.git;"
            f"echo 'touch {arena}/pwn' > .git/hooks/post-index-change; mv .git old; echo a > a;"
            "git add a && git -c user.name=n -c user.email=e commit -qm m; git log --oneline | wc -l",
        )
    subprocess.run(["git", "-C", str(ws), "status"], check=True, capture_output=True)
    assert not (arena / "pwn").exists()
    assert (arena / "wt/.git").read_text().startswith(f"gitdir: {ws}")
    assert result.stdout.data.strip() == b"1", (result.stdout.data, result.stderr)


async def test_sb_021_022_nothing_is_left_after_an_abort(open_executor: Opener, arena: Path) -> None:
    mark = f"seam-left-{os.getpid()}"
    command = f"trap '' TERM INT; exec -a {mark} sleep 500 & (exec -a {mark} setsid sleep 500) & trap '' TERM; echo up > up; wait"
    abort = Abort()
    results: list[ExecResult] = []
    async with open_executor({"grace": 0.2}, PARTIAL) as executor:
        spec = executor.resolve(ExecRequest(command=command, workspace=str(arena / "ws")))

        async def stop() -> None:
            with anyio.fail_after(20):
                while not (arena / "ws/up").exists():
                    await anyio.sleep(0.01)
            abort.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            results.append(await executor.run(spec, abort=abort))
    assert results[0].aborted
    found = subprocess.run(["pgrep", "-f", mark], capture_output=True, check=False)
    assert found.stdout == b""


async def test_sb_025_nothing_reaches_a_terminal(open_executor: Opener, arena: Path) -> None:
    code = "import fcntl, termios; f = open('/dev/tty', 'w'); fcntl.ioctl(f, termios.TIOCSTI, b'x')"
    async with open_executor({}, PARTIAL) as executor:
        result = await run(executor, arena, f'python3 -c "{code}"')
    assert result.exit_code == 1
    assert result.stderr is not None
    assert b"/dev/tty" in result.stderr.data


async def test_sb_016_no_network_is_no_question(open_executor: Opener, arena: Path) -> None:
    for isolation in ("namespace", "seccomp"):
        async with open_executor({}, PARTIAL, bwrap, {"network_isolation": isolation}) as executor:
            assert (await run(executor, arena, "true")).exit_code == 0
            code = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
            assert (await run(executor, arena, f'python3 -c "{code}"')).exit_code == 1


async def test_sb_014_without_a_runtime_nothing_runs(open_executor: Opener, arena: Path) -> None:
    config = {"runner": "/nonexistent/bwrap", "fallback": "none"}
    async with open_executor({}, PARTIAL, bwrap, config) as executor:
        with pytest.raises(SandboxUnavailable, match="pip install"):
            await run(executor, arena, "touch ran")
    assert not (arena / "ws/ran").exists()


async def test_the_ladder_ends_at_landlock_only_where_the_policy_permits_it(
    open_executor: Opener, arena: Path
) -> None:
    config = {"runner": "/nonexistent/bwrap"}
    async with open_executor({}, PARTIAL, bwrap, config) as executor:
        result = await run(executor, arena, "echo ok")
        assert result.sandbox.enforcement is not None
        assert result.sandbox.enforcement.level == "partial"
    async with open_executor({}, {}, bwrap, config) as executor:
        with pytest.raises(SandboxUnavailable, match="partial-forbidden"):
            await run(executor, arena, "touch ran")
    assert not (arena / "ws/ran").exists()


async def test_a_widening_holds_for_that_call_alone(open_executor: Opener, arena: Path) -> None:
    async with open_executor({}, PARTIAL) as executor:
        ask = Widening(mode="full-access", why="it must")
        widened = await run(executor, arena, f"touch {arena}/wide", widening=ask)
        after = await run(executor, arena, f"touch {arena}/narrow")
    assert (arena / "wide").exists()
    assert not (arena / "narrow").exists()
    assert (widened.sandbox.mode, after.sandbox.mode) == ("full-access", "workspace-write")


async def test_a_widening_that_the_policy_forbids_is_a_typed_refusal(
    open_executor: Opener, arena: Path
) -> None:
    async with open_executor({}, {"ceiling": "workspace-write", **PARTIAL}) as executor:
        with pytest.raises(WideningRefused):
            await run(executor, arena, "true", widening=Widening(mode="full-access", why="please"))


async def test_a_workspace_that_cannot_be_one_is_refused(open_executor: Opener, arena: Path) -> None:
    async with open_executor({}, PARTIAL) as executor:
        for workspace in ("/", str(arena / "missing"), "/etc/passwd"):
            with pytest.raises(InvalidPolicy):
                executor.resolve(ExecRequest(command="true", workspace=workspace))


async def test_secrets_reach_the_command_and_nothing_else(open_executor: Opener, arena: Path) -> None:
    (arena / "secret").write_text("s3cret-value\n")
    sources = {"token": {"file": str(arena / "secret")}}
    environment = Environment(variables={"TOKEN": SecretRef(secret="token")})
    async with open_executor({}, PARTIAL, bwrap, {}, sources) as executor:
        request = ExecRequest(
            command='echo ${#TOKEN}; tr "\\0" " " < /proc/1/environ',
            workspace=str(arena / "ws"),
            environment=environment,
        )
        spec = executor.resolve(request)
        result = await executor.run(spec)
    assert result.stdout.data.startswith(b"12\n")
    assert b"s3cret" not in result.stdout.data
    assert "s3cret" not in spec.model_dump_json()


async def test_the_background_carries_the_same_facts(open_executor: Opener, arena: Path) -> None:
    async with open_executor({}, PARTIAL) as executor:
        spec = executor.resolve(ExecRequest(command=f"touch {arena}/x; exit 4", workspace=str(arena / "ws")))
        async with await executor.start(spec) as process:
            result = await process.wait()
    assert result.exit_code == 4
    assert result.sandbox.enforcement is not None
    assert [d.target for d in result.sandbox.denials] == [str(arena / "x")]


async def test_a_hundred_commands_at_once(open_executor: Opener, arena: Path) -> None:
    results: list[int | None] = []
    async with open_executor({}, PARTIAL) as executor:

        async def one(number: int) -> None:
            results.append((await run(executor, arena, f"exit {number}")).exit_code)

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(one, number)
    assert sorted(code for code in results if code is not None) == list(range(100))
    assert list((arena / "ws").iterdir()) == []
