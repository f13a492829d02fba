"""Failures of other sandboxes, tried in every runtime with real commands."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import tty
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest

import seam.kernel
from seam.exec_def import Abort, ExecRequest, ExecResult, ShellExecutor
from seam.exec_sandbox import sandbox
from seam.kernel import Context, Kernel, NoConfig, plugin
from seam.sandbox_bwrap import bwrap
from seam.sandbox_def import InvalidPolicy, PolicyRequest
from seam.sandbox_landlock import landlock, landlock_abi
from seam.sandbox_policy import ConfiguredPolicy, PolicyConfig, policy
from seam.subprocess_local import local as subprocess_local

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not os.access("/usr/bin/bwrap", os.X_OK), reason="no bubblewrap on this machine"),
    pytest.mark.skipif(not isinstance(landlock_abi(), int), reason="no Landlock in this kernel"),
]

RUNTIMES = ("bwrap", "landlock")
KILLED = 7
"""Exit code of the other host when its command was killed."""
TERMINAL = "terminal"
"""Asks the other host, which has a terminal of its own, to push characters into it."""


@asynccontextmanager
async def opened(runtime: str, **rules: object) -> AsyncGenerator[ShellExecutor, None]:
    """The sandboxed executor over one runtime, as a deployment puts it together."""
    taken: list[ShellExecutor] = []

    @plugin(requires=[ShellExecutor])
    async def taker(ctx: Context, config: NoConfig) -> AsyncGenerator[None, None]:
        taken.append(ctx[ShellExecutor])
        yield

    async with Kernel() as kernel:
        kernel.root.load(subprocess_local)
        kernel.root.load(policy, {"partial": True, **rules})
        if runtime == "bwrap":
            kernel.root.load(bwrap, {"fallback": "none"})
        else:
            kernel.root.load(landlock, {})
        kernel.root.load(sandbox, {"grace": 0.2})
        kernel.root.load(taker)
        await kernel.root.settle()
        assert taken, list(kernel.faults)
        yield taken[0]


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    """Each runtime by its mechanism."""
    return str(request.param)


@pytest.fixture
def arena() -> Iterator[Path]:
    """A folder outside of /tmp, with `ws` and `outside` in it."""
    parent = "/var/lib" if os.geteuid() == 0 else str(Path.home())
    made = Path(tempfile.mkdtemp(prefix="seam-arena-", dir=parent))
    (made / "ws").mkdir()
    (made / "outside").mkdir()
    yield made
    shutil.rmtree(made)


async def run(executor: ShellExecutor, arena: Path, command: str, **more: object) -> ExecResult:
    request = ExecRequest.model_validate({"command": command, "workspace": str(arena / "ws"), **more})
    return await executor.run(executor.resolve(request))


def alive(mark: str) -> list[int]:
    """Processes that have the mark among their arguments."""
    found: list[int] = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words: Sequence[str] = process.info["cmdline"] or ()
        if process.info["status"] != psutil.STATUS_ZOMBIE and any(mark in word for word in words):
            found.append(process.pid)
    return found


async def gone(mark: str) -> None:
    """Wait until nothing with the mark is left; the contract is two seconds, the machine may be busy."""
    with anyio.fail_after(10):
        while alive(mark):
            await anyio.sleep(0.02)


async def there(path: Path) -> None:
    """Wait until a command has made a file."""
    with anyio.fail_after(30):
        while not path.exists():
            await anyio.sleep(0.01)


async def test_sb_008_a_target_that_is_missing_behind_a_link_is_outside(runtime: str, arena: Path) -> None:
    (arena / "ws/link").symlink_to(arena / "outside")
    async with opened(runtime) as executor:
        result = await run(executor, arena, "mkdir -p link/newdir && printf x > link/newdir/f.txt")
        asked = ExecRequest(
            command="true", workspace=str(arena / "ws"), workdir=str(arena / "ws/link/newdir")
        )
        with pytest.raises(Exception, match="newdir"):
            await executor.run(executor.resolve(asked))
    assert result.exit_code == 1
    denied = [(d.operation, d.target, d.rule) for d in result.sandbox.denials]
    assert denied == [("write", str(arena / "outside/newdir"), "mode workspace-write")]
    assert list((arena / "outside").iterdir()) == []
    decider = ConfiguredPolicy(PolicyConfig(writable=("link/newdir",)), str(Path.home()))
    with pytest.raises(InvalidPolicy, match="newdir"):
        decider.resolve(PolicyRequest(workspace=str(arena / "ws")))
    assert list((arena / "outside").iterdir()) == []


async def test_sb_013_a_pair_of_datagram_sockets_reaches_nobody_else(runtime: str, arena: Path) -> None:
    code = (
        "import socket\n"
        "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1) == b'x')\n"
        "for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):\n"
        "    try:\n"
        "        a, b = socket.socketpair(socket.AF_UNIX, kind); a.connect('t.sock'); a.send(b'out')\n"
        "        print('through')\n"
        "    except OSError: print('stopped')\n"
    )
    (arena / "ws/t.py").write_text(code)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as host:
        host.bind(str(arena / "ws/t.sock"))
        host.setblocking(False)
        async with opened(runtime) as executor:
            result = await run(executor, arena, "python3 t.py")
        assert result.stdout.data.split() == [b"True", b"stopped", b"stopped", b"stopped"], result
        with pytest.raises(BlockingIOError):
            host.recv(16)


async def test_sb_022_a_command_that_ignores_polite_signals_is_gone_after_an_abort(
    runtime: str, arena: Path
) -> None:
    mark = f"seam-sb-022-{runtime}-{os.getpid()}"
    abort = Abort()
    results: list[ExecResult] = []
    async with opened(runtime) as executor:
        command = f"trap '' TERM INT; echo up > up; exec -a {mark} sleep 500"
        spec = executor.resolve(ExecRequest(command=command, workspace=str(arena / "ws")))

        async def attend() -> None:
            results.append(await executor.run(spec, abort=abort))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attend)
            await there(arena / "ws/up")
            abort.set()
        assert results[0].aborted
        await gone(mark)


@asynccontextmanager
async def other_host(runtime: str, arena: Path, mark: str) -> AsyncGenerator[subprocess.Popen[bytes], None]:
    """Another process that runs two sleeps confined."""
    host = subprocess.Popen([sys.executable, str(Path(__file__)), runtime, str(arena), mark])
    try:
        await there(arena / "ws/up")
        assert len(alive(mark)) >= 3, "a shell and two sleeps"
        yield host
    finally:
        host.kill()
        host.wait()


async def test_sb_021_nothing_survives_a_killed_runner(runtime: str, arena: Path) -> None:
    mark = f"seam-sb-021-{runtime}-{os.getpid()}"
    name = {"bwrap": "bwrap", "landlock": "bash"}[runtime]  # Landlock's launcher has become the command
    async with other_host(runtime, arena, mark) as host:
        first = next(pid for pid in alive(mark) if psutil.Process(pid).name() == name)
        os.kill(first, signal.SIGKILL)
        assert host.wait(timeout=20) == KILLED, "the host lives, and has a result"
        await gone(mark)


async def test_sb_024_nothing_survives_a_killed_host(runtime: str, arena: Path) -> None:
    mark = f"seam-sb-024-{runtime}-{os.getpid()}"
    async with other_host(runtime, arena, mark) as host:
        os.kill(host.pid, signal.SIGKILL)
        host.wait()
        await gone(mark)


_PUSH = """
import fcntl, os, termios
for name in (0, 1, 2, "/dev/tty", "/proc/self/fd/0"):
    try:
        fd = name if isinstance(name, int) else os.open(name, os.O_RDWR)
        fcntl.ioctl(fd, termios.TIOCSTI, b"x")
        print("through")
    except OSError as error:
        print("stopped")
"""


async def test_sb_025_nothing_is_typed_into_the_terminal_of_the_host(runtime: str, arena: Path) -> None:
    (arena / "ws/push.py").write_text(_PUSH)
    master, slave = pty.openpty()
    try:
        host = subprocess.Popen(
            [sys.executable, str(Path(__file__)), runtime, str(arena), TERMINAL],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        await anyio.to_thread.run_sync(host.wait)
        said = (arena / "ws/said").read_text().split() if (arena / "ws/said").exists() else []
        assert (host.returncode, said) == (0, ["stopped"] * 5)
        tty.setraw(slave)
        os.set_blocking(slave, False)
        with pytest.raises(BlockingIOError):
            os.read(slave, 1)
    finally:
        os.close(master)
        os.close(slave)


async def test_sb_026_what_builds_do_with_files_works(runtime: str, arena: Path) -> None:
    package = arena / "ws/src/demo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("x = 1\n")
    command = (
        "set -e; mkdir a b; touch a/f; mv a/f b/; ln b/f a/g; "
        "git init -q one; cd one; echo x > f; git add f; git -c user.name=n -c user.email=e commit -qm m; cd ..; "
        "git clone -q one two; test -f two/f; cp -r src build; mv build/demo demo; tar cf t.tar demo; tar xf t.tar -C a"
    )
    async with opened(runtime) as executor:
        result = await run(executor, arena, command)
    assert result.exit_code == 0, result


_NESTED = """
import anyio, sys
from seam.sandbox_def import PathRule, Policy
from seam.sandbox_landlock import LandlockConfig, LandlockRuntime, try_out
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

async def main(ws):
    async with open_runtime(LocalSubprocessConfig()) as subprocesses:
        runtime = LandlockRuntime(subprocesses, LandlockConfig(verdicts=ws + "/.verdicts", temporary=ws))
        asked = Policy(mode="workspace-write", writable=(PathRule(path=ws, reason="test"),))
        command = "mkdir inner && mv g inner/ && ln inner/g inner/h && echo x > ../outside/n; ls inner"
        confined = await runtime.confine(("/bin/sh", "-c", command), asked, cwd=ws, env={"PATH": "/bin:/usr/bin"})
        try:
            trial = await try_out(subprocesses, confined)
        finally:
            await runtime.release(confined)
    print(trial.stdout.decode(), trial.stderr.decode(), file=sys.stderr)
    sys.exit(0 if trial.stdout == b"g\\nh\\n" else 1)

anyio.run(main, sys.argv[1])
"""


@pytest.mark.skipif(
    any(Path(seam.kernel.__file__).is_relative_to(hidden) for hidden in ("/tmp", "/var/tmp")),
    reason="the code that runs inside lies under /tmp, which a sandbox hides",
)
async def test_sb_027_folders_made_later_can_be_renamed_into_also_in_a_sandbox_in_a_sandbox(
    runtime: str, arena: Path
) -> None:
    (arena / "ws/f").touch()
    (arena / "ws/g").touch()
    (arena / "ws/nested.py").write_text(_NESTED)
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
    async with opened(runtime) as executor:
        first = await run(
            executor,
            arena,
            f"mkdir new && mv f new/ && {python} -m venv --without-pip v && v/bin/python -c 'print(1)'",
        )
        nested = await run(executor, arena, f"{sys.executable} nested.py {arena}/ws")
    assert (first.exit_code, first.stdout.data) == (0, b"1\n"), first
    assert nested.exit_code == 0, nested
    assert list((arena / "outside").iterdir()) == []


async def test_sb_031_renaming_without_replacing_works_as_outside(runtime: str, arena: Path) -> None:
    code = (
        "import ctypes, os, tempfile\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for base in ('.', tempfile.gettempdir()):\n"
        "    os.makedirs(base + '/p'); os.makedirs(base + '/q'); open(base + '/p/f', 'w').close()\n"
        "    print(libc.renameat2(-100, (base + '/p/f').encode(), -100, (base + '/q/f').encode(), 1))\n"
    )
    (arena / "ws/t.py").write_text(code)
    async with opened(runtime) as executor:
        result = await run(executor, arena, "python3 t.py")
    assert result.stdout.data == b"0\n0\n", result


@pytest.mark.parametrize("parent", [False, True], ids=["alone", "with-its-parent"])
async def test_a_command_that_replaces_its_workspace_by_a_link_gains_nothing(
    runtime: str, arena: Path, parent: bool
) -> None:
    project = arena / "ws/project"
    project.mkdir()
    rules = {"writable": [str(arena / "ws")]} if parent else {}
    command = (
        f"mv ../project ../moved; rm -rf ../project; ln -s {arena}/outside ../project;"
        "echo x > ../project/escaped; echo x > $PWD/escaped2; echo x > still; exit 0"
    )
    async with opened(runtime, **rules) as executor:
        request = ExecRequest(command=command, workspace=str(project))
        await executor.run(executor.resolve(request))
        assert list((arena / "outside").iterdir()) == []
        if project.is_symlink():
            with pytest.raises(InvalidPolicy, match="lies in a writable root"):
                executor.resolve(request)
        else:
            await executor.run(executor.resolve(request))
    assert list((arena / "outside").iterdir()) == []


async def _host(runtime: str, arena: str, mark: str) -> int:
    command = f"exec -a {mark} sleep 500 & (exec -a {mark} setsid sleep 500) & echo up > up; wait; : {mark}"
    if mark == TERMINAL:
        os.close(os.open(os.ttyname(0), os.O_RDWR))  # the first terminal that a new session opens is its own
        command = "python3 push.py > said"
    async with opened(runtime) as executor:
        spec = executor.resolve(ExecRequest(command=command, workspace=f"{arena}/ws"))
        result = await executor.run(spec)
    if mark == TERMINAL:
        return result.exit_code or 0
    return KILLED if result.exit_code is None or result.exit_code != 0 else 1


if __name__ == "__main__":
    raise SystemExit(anyio.run(_host, sys.argv[1], sys.argv[2], sys.argv[3]))
