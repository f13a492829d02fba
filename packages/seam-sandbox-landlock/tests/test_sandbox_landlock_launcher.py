"""The launchers by themselves, started with messages of every kind: the compiled one and the one in Python do the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import pytest

from seam.sandbox_landlock._launcher import Launcher, find_launcher

Kind = Literal["static", "python"]
HEAD = b"seam-confine 1"


@pytest.fixture(params=get_args(Kind))
def launcher(request: pytest.FixtureRequest) -> Launcher:
    found = find_launcher(request.param)
    if found is None:
        pytest.skip("no compiled launcher")
    return found


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Path]:
    """A program that is found by name, in a folder that is no system folder."""
    place = tmp_path / "bin" / "tell"
    place.parent.mkdir()
    place.write_text('#!/bin/sh\necho "told $A:$1"\nexit 7\n', "utf-8")
    place.chmod(0o755)
    yield place


def launched(
    launcher: Launcher, fields: list[bytes], *argv: str, end: bytes = b""
) -> tuple[int, bytes, list[bytes]]:
    """Exit code, output, and lines of the status."""
    read, write = os.pipe()
    message = b"\0".join([fields[0], b"status=%d" % write, *fields[1:]]) + b"\0" + end
    given = os.memfd_create("message")
    os.write(given, launcher.code + message)
    os.lseek(given, 0, os.SEEK_SET)
    command = [*launcher.argv, str(given), "--", *argv]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, pass_fds=(given, write), env={"B": "leaks"}, timeout=60
        )
    finally:
        os.close(given)
        os.close(write)
    with os.fdopen(read, "rb") as status:
        return done.returncode, done.stdout, status.read().splitlines()


def test_a_program_is_found_by_name_along_the_path_of_the_command(launcher: Launcher, program: Path) -> None:
    path = b"PATH=relative::/does/not/exist:/etc/passwd:" + os.fsencode(program.parent)
    fields = [HEAD, b"env=A=a=b", b"env=" + path, b"env=C="]
    code, output, status = launched(launcher, fields, "tell", "x y")
    assert (code, output, status) == (7, b"told a=b:x y\n", [b"ready 0"])


@pytest.mark.parametrize("path", [b".", b"", b"bin:../bin", b":"])
def test_nothing_is_found_in_the_folder_where_the_command_runs(
    launcher: Launcher, program: Path, path: bytes
) -> None:
    fields = [HEAD, b"cwd=" + os.fsencode(program.parent), b"env=PATH=" + path]
    code, output, status = launched(launcher, fields, "tell", "x")
    assert (code, output, status) == (125, b"", [b"ready 0", b"failed exec 2"])


def test_what_is_not_found_or_may_not_be_run_is_told_with_its_error(
    launcher: Launcher, tmp_path: Path
) -> None:
    (tmp_path / "plain").touch(mode=0o600)
    for name, path, number in (
        ("none", b"/nowhere", 2),
        ("plain", os.fsencode(tmp_path), 13),
        ("/nowhere/none", b"", 2),
    ):
        code, output, status = launched(launcher, [HEAD, b"env=PATH=" + path], name)
        assert (code, output) == (125, b"")
        assert status == [b"ready 0", b"failed exec %d" % number]


@pytest.mark.parametrize(
    ("fields", "end", "told"),
    [
        ([b"nonsense=1"], b"", b"failed message 22"),
        ([b"filter=800"], b"x" * 8, b"failed filter 22"),
        ([b"cwd=/does/not/exist"], b"", b"failed cwd 2"),
        ([b"join=/does/not/exist"], b"", b"failed join 2"),
    ],
)
def test_a_message_that_cannot_be_obeyed_starts_nothing(
    launcher: Launcher, fields: list[bytes], end: bytes, told: bytes
) -> None:
    code, output, status = launched(launcher, [HEAD, *fields], "/bin/echo", "started", end=end)
    assert (code, output) == (125, b"")
    assert status == [told]


def test_a_message_of_another_version_starts_nothing_and_says_nothing(launcher: Launcher) -> None:
    assert launched(launcher, [b"seam-confine 2"], "/bin/echo", "started") == (125, b"", [])


def test_an_environment_of_megabytes_arrives_whole(launcher: Launcher) -> None:
    fields = [HEAD, *(b"env=V%d=" % number + b"v" * 100_000 for number in range(15))]
    script = "import os; print(sum(len(v) for k, v in os.environ.items() if k[0] == 'V'), 'B' in os.environ)"
    code, output, status = launched(launcher, fields, sys.executable, "-S", "-E", "-c", script)
    assert (code, output, status) == (0, b"1500000 False\n", [b"ready 0"])


def test_the_parent_tells_how_the_command_ended(launcher: Launcher) -> None:
    for script, code, told in (("exit 3", 3, b"exit 3"), ("kill -9 $$", 137, b"signal 9")):
        got, _, status = launched(launcher, [HEAD, b"reap="], "/bin/sh", "-c", script)
        assert (got, status) == (code, [b"ready 0", told])


def test_limits_are_never_above_what_is_inherited_and_a_folder_may_be_there(
    launcher: Launcher, tmp_path: Path
) -> None:
    fields = [
        HEAD,
        b"limit=7:64",
        b"limit=7:128",
        b"mkdir=" + os.fsencode(tmp_path),
        b"mkdir=" + os.fsencode(tmp_path / "new"),
    ]
    code, output, _ = launched(launcher, fields, "/bin/sh", "-c", "ulimit -n; ulimit -Hn")
    assert (code, output) == (0, b"64\n64\n")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_signals_are_as_in_a_fresh_process_and_ignored_for_a_runner(launcher: Launcher) -> None:
    script = "grep SigIgn /proc/self/status"
    for fields, ignored in (([HEAD], 0), ([HEAD, b"runner="], 0b100_0000_0000_0111)):
        _, output, _ = launched(launcher, fields, "/bin/sh", "-c", script)
        assert int(output.split()[1], 16) & 0b111_1111_1111_1111 == ignored
