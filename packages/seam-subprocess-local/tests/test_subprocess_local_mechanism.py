"""What is particular to the local implementer: its server, its socket, its windows, its build."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import anyio
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_subprocess_local_first_light import spec

from seam.subprocess_def import Collect, NotSupported, Null
from seam.subprocess_local import LocalSubprocessConfig, _ladder, open_runtime
from seam.subprocess_local._cgroup import writable_cgroup
from seam.subprocess_local._windows import Windows
from seam.subprocess_local._wire import EVENT, LISTED, LISTED_NAMES, Event, EventReader
from seam.subprocess_local.server import tree

pytestmark = pytest.mark.anyio

PIECES = st.lists(st.binary(max_size=40), max_size=20)


@given(PIECES, st.integers(0, 30), st.integers(0, 30))
def test_windows_keep_both_ends_of_any_stream(pieces: list[bytes], head: int, tail: int) -> None:
    windows, everything = Windows(head, tail), b"".join(pieces)
    for piece in pieces:
        windows.add(memoryview(piece))
    assert windows.total == len(everything)
    if len(everything) <= head + tail:
        assert (windows.head(), windows.tail()) == (everything, b"")
    else:
        assert windows.head() == everything[:head]
        assert windows.tail() == everything[len(everything) - tail :]


@given(PIECES, st.integers(0, 30), st.integers(0, 30), st.integers(0, 900), st.integers(1, 50))
def test_windows_are_read_at_any_offset(
    pieces: list[bytes], head: int, tail: int, offset: int, size: int
) -> None:
    windows, everything = Windows(head, tail), b"".join(pieces)
    for piece in pieces:
        windows.add(memoryview(piece))
    offset = min(offset, len(everything))
    found = windows.read(offset, size)
    if found is None:
        assert head <= offset < len(everything) - tail
    else:
        assert found == everything[offset : offset + len(found)]
        assert found or offset == len(everything)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=8),
    st.lists(st.integers(1, 60), min_size=1),
)
def test_events_are_cut_from_a_stream_however_it_arrives(
    kinds: list[tuple[int, int]], cuts: list[int]
) -> None:
    data = b""
    for kind, listed in kinds:
        data += EVENT.pack(kind, 7, 8, 1, 2, 3, 4)
        data += EVENT.pack(LISTED_NAMES, listed, 0, 0, 0, 0, 0) + LISTED.pack(5, b"name") * listed
    reader, position = EventReader(), 0
    found: list[Event] = []
    for cut in [*cuts, len(data)]:
        found += reader.feed(data[position : position + cut])
        position += cut
    assert [event.kind for event in found] == [kind for pair in kinds for kind in (pair[0], LISTED_NAMES)]
    assert [len(event.listed) for event in found if event.kind == LISTED_NAMES] == [
        listed for _, listed in kinds
    ]


def test_ex_050_a_child_may_have_a_lower_number_than_its_parent() -> None:
    listed = [
        tree.Seen(120, 32000, 1, "child", dead=False),
        tree.Seen(32000, 500, 1, "parent", dead=False),
        tree.Seen(7, 120, 1, "grandchild", dead=False),
        tree.Seen(8, 120, 1, "zombie", dead=True),
        tree.Seen(9, 1, 1, "stranger", dead=False),
    ]
    for order in (listed, listed[::-1]):
        assert {seen.pid for seen in tree.descendants(500, order)} == {32000, 120, 7}


def test_the_tree_is_read_as_it_is() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 300; :"]) as shell:
        try:
            found: set[str] = set()
            while "sleep" not in found:
                found = {seen.name for seen in tree.descendants(shell.pid, tree.look())}
        finally:
            for child in psutil.Process(shell.pid).children():
                child.kill()
    assert found == {"sleep"}


async def test_a_server_that_is_killed_is_replaced() -> None:
    async with open_runtime() as runtime:
        server = psutil.Process().children()[0]
        assert server.name() == "seam-launcher"
        running = await runtime.spawn(spec("sleep", "300"))
        server.kill()
        server.wait()
        async with await runtime.spawn(spec("echo", "again")) as process:
            ended = await process.wait()
            assert (ended.exit_code, process.collected("stdout").head()) == (0, b"again\n")
        async with running:
            assert (await running.terminate()).signal == "SIGTERM", "its supervisor lives on"


async def test_a_supervisor_is_not_found_by_the_commands_words() -> None:
    async with open_runtime() as runtime, await runtime.spawn(spec("sleep", "300.0612")) as process:
        supervisor = psutil.Process(process.pid).parent()
        assert supervisor is not None
        assert "0612" not in " ".join(supervisor.cmdline())
        assert supervisor.environ() == {}


async def test_ex_066_no_signal_goes_to_a_number_that_is_not_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """All signals are sent by the parent of the tree; this process sends none by number."""

    def refuse(*arguments: object) -> None:
        raise AssertionError(f"a signal by number: {arguments}")

    async with open_runtime() as runtime:
        monkeypatch.setattr(os, "kill", refuse)
        monkeypatch.setattr(os, "killpg", refuse)
        for command in (("sleep", "300"), ("true",)):
            async with await runtime.spawn(spec(*command)) as process:
                await process.signal("SIGCONT")
                await process.terminate()
                await process.signal("SIGKILL")
                await process.terminate()


async def test_spill_files_go_where_the_configuration_says_and_stay(tmp_path: Path) -> None:
    folder = tmp_path / "spill"
    config = LocalSubprocessConfig(spill_folder=str(folder))
    large = spec("seq", "100000").model_copy(
        update={"stdout": Collect(max_bytes=10, head_bytes=5, spill_bytes=10**9)}
    )
    async with open_runtime(config) as runtime, await runtime.spawn(large) as process:
        await process.wait()
    files = list(folder.iterdir())
    assert len(files) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert files[0].stat().st_size == process.collected("stdout").total


async def test_a_spill_folder_that_others_can_enter_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    large = spec("seq", "1000").model_copy(
        update={"stdout": Collect(max_bytes=10, head_bytes=5, spill_bytes=10**9)}
    )
    async with (
        open_runtime(LocalSubprocessConfig(spill_folder=str(folder))) as runtime,
        await runtime.spawn(large) as process,
    ):
        assert (await process.wait()).exit_code == 0
        summary = process.collected("stdout").summary()
    assert summary.spill is None
    assert summary.spill_error is not None
    assert "chmod 700" in summary.spill_error
    assert summary.reasons == ("spill_failed",)
    assert list(folder.iterdir()) == []


async def test_a_full_disk_is_told_and_hurts_nobody() -> None:
    """/dev/full stands for the disk: the folder is honest, the file is not."""
    from seam.subprocess_local._spill import SpillFile, SpillFolder

    class Full(SpillFolder):
        def create(self) -> tuple[str, int]:
            return "/dev/full", os.open("/dev/full", os.O_RDWR)

    spill = SpillFile(Full(None), 10**9)
    spill.write(b"x" * 100_000)
    spill.write(b"more")
    assert spill.error is not None
    assert "space" in spill.error
    assert spill.size == 0


async def test_bursts_of_starts_wait_for_the_socket() -> None:
    async with open_runtime() as runtime:
        codes: list[int | None] = []

        async def one(number: int) -> None:
            async with await runtime.spawn(spec("sh", "-c", f"exit {number % 200}", "x" * 60_000)) as process:
                codes.append((await process.wait()).exit_code)

        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(one, number)
    assert sorted(code for code in codes if code is not None) == list(range(60))


async def test_closing_returns_while_starts_are_cancelled() -> None:
    async with open_runtime() as runtime, anyio.create_task_group() as group:

        async def one() -> None:
            async with await runtime.spawn(spec("sleep", "300")) as process:
                await process.wait()

        for _ in range(20):
            group.start_soon(one)
        await anyio.sleep(0.005)
        group.cancel_scope.cancel()


async def test_what_is_demanded_and_missing_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_ladder, "LAUNCHER", tmp_path / "missing")
    with pytest.raises(NotSupported, match="pure wheel"):
        async with open_runtime(LocalSubprocessConfig(containment="launcher")):
            pass
    async with open_runtime() as runtime, await runtime.spawn(spec("true")) as process:
        assert process.containment.level == "server", "auto goes down the ladder"
    broken = tmp_path / "broken"
    broken.write_text("not a program")
    broken.chmod(0o755)
    monkeypatch.setattr(_ladder, "LAUNCHER", broken)
    with pytest.raises(NotSupported, match="cannot be executed"):
        async with open_runtime(LocalSubprocessConfig(containment="launcher")):
            pass


async def test_no_cgroup_is_left_behind() -> None:
    folder = writable_cgroup()
    if folder is None:
        pytest.skip("needs a cgroup v2 that can be written")
    async with open_runtime(LocalSubprocessConfig(cgroup="required")) as runtime:
        before = set(os.listdir(folder))
        for script in ("true", "setsid sleep 300 & exit 0", "kill -9 $PPID; sleep 300"):
            async with await runtime.spawn(spec("bash", "-c", script)) as process:
                await process.wait()
    with anyio.fail_after(5):
        while set(os.listdir(folder)) - before:
            await anyio.sleep(0.02)


HOST_IN_A_GROUP = """
import anyio, sys
sys.path.insert(0, {tests!r})
from seam.subprocess_local import open_runtime
from test_subprocess_local_first_light import spec
async def main():
    async with open_runtime() as runtime:
        await runtime.spawn(spec("sleep", "300"))
anyio.run(main)
"""


def test_ex_067_a_host_in_its_parents_group_leaves_the_parent_alone() -> None:
    program = HOST_IN_A_GROUP.format(tests=str(Path(__file__).parent))
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}], check=True); print('still-here')"
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"still-here\n"), done.stderr


HOST_AS_PID_1 = """
import anyio, os, sys
sys.path.insert(0, {tests!r})
from seam.subprocess_local import LocalSubprocessConfig, open_runtime
from test_subprocess_local_first_light import spec
def zombies():
    return [pid for pid in os.listdir("/proc") if pid.isdecimal() and is_zombie(pid)]
def is_zombie(pid):
    try:
        return open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False
async def main():
    assert os.getpid() == 1
    for containment in ("launcher", "server"):
        async with open_runtime(LocalSubprocessConfig(containment=containment, settle=0.5)) as runtime:
            for number in range({times}):
                async with await runtime.spawn(spec("bash", "-c", f"(sleep 0.02 &) >/dev/null 2>&1; exit {{number % 100}}")) as process:
                    assert (await process.wait()).exit_code == number % 100
        await anyio.sleep(0.05)
        assert zombies() == [], zombies()
    print("clean")
anyio.run(main)
"""


def _as_pid_1(times: int) -> None:
    program = HOST_AS_PID_1.format(tests=str(Path(__file__).parent), times=times)
    command = ["unshare", "-pf", "--mount-proc", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    if b"Operation not permitted" in done.stderr:
        pytest.skip("needs a pid namespace of its own (unshare -p)")
    assert (done.returncode, done.stdout) == (0, b"clean\n"), done.stderr.decode()


def test_ex_080_a_host_that_is_pid_1_has_no_zombies() -> None:
    _as_pid_1(20)


@pytest.mark.full
@pytest.mark.timeout(300)
def test_ex_080_a_host_that_is_pid_1_has_no_zombies_after_three_hundred() -> None:
    _as_pid_1(300)


async def test_a_sigchld_handler_of_the_host_is_left_alone() -> None:
    before = signal.getsignal(signal.SIGCHLD)
    async with open_runtime() as runtime, await runtime.spawn(spec("true")) as process:
        await process.wait()
        assert signal.getsignal(signal.SIGCHLD) is before


async def test_idle_processes_hold_few_descriptors() -> None:
    async with open_runtime() as runtime:
        quiet = spec("sleep", "300").model_copy(update={"stdout": Null(), "stderr": Null()})
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(10):
            await runtime.spawn(quiet)
        assert len(os.listdir("/proc/self/fd")) - before == 10, "one control socket each"
