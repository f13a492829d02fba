"""Starting, and every way in which it can fail: before anything ran, by a name of its own, without a
trace."""

from __future__ import annotations

import os
import resource
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from seam.subprocess_def._errors import (
    ArgumentListTooLong,
    BadWorkingDirectory,
    ExecutableNotFound,
    InvalidDescriptor,
    InvalidEnvironment,
    NotExecutable,
    NulInArgument,
    SpawnFailed,
    TooManyDescriptors,
)
from seam.subprocess_def._spec import SpawnSpec
from seam.subprocess_def._streams import Confided, Null, OpenPath, Pipe
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._trial import WIDE, Trial

LIMIT = 131071
"""Bytes of one string, without its NUL, on Linux with pages of 4096 bytes (execve(2))."""


async def _fails(trial: Trial, spec: SpawnSpec, error: type[SpawnFailed], **facts: object) -> None:
    with pytest.raises(error) as caught:
        await trial.spawn(spec)
    found = {name: caught.value.facts.get(name) for name in facts}
    assert found == facts, f"{caught.value} carries {caught.value.facts}"
    assert str(caught.value), "an error says what to do"


@check()
async def test_ex_014_a_bad_working_directory_is_named(trial: Trial) -> None:
    (trial.folder / "file").touch()
    for cwd, reason in (
        ("/nonexistent/dir", "missing"),
        (str(trial.folder / "file"), "not_a_directory"),
        ("relative/dir", "relative"),
        ("/" + "x" * 300, "too_long"),
    ):
        await _fails(trial, trial.spec("true", cwd=cwd), BadWorkingDirectory, cwd=cwd, reason=reason)


@check("host_view")
async def test_ex_016_a_deleted_working_directory_is_never_replaced(trial: Trial) -> None:
    gone = trial.folder / "gone"
    gone.mkdir()
    gone.rmdir()
    await _fails(
        trial,
        trial.bash("touch ran; pwd", cwd=str(gone)),
        BadWorkingDirectory,
        cwd=str(gone),
        reason="missing",
    )
    assert list(trial.folder.iterdir()) == []


@check()
async def test_a_missing_program_is_named(trial: Trial) -> None:
    await _fails(
        trial, trial.spec("no-such-program-at-all"), ExecutableNotFound, argv0="no-such-program-at-all"
    )
    await _fails(trial, trial.spec("/no/such/program"), ExecutableNotFound, argv0="/no/such/program")
    await _fails(trial, trial.spec("ls", env={"PATH": ""}), ExecutableNotFound, argv0="ls")


@check("host_view")
async def test_what_cannot_be_executed_says_why(trial: Trial) -> None:
    files = {
        "permission": ("#!/bin/sh\n", 0o644),
        "bad_format": ("echo hi\n", 0o755),
        "missing_interpreter": ("#!/no/such/interpreter\n", 0o755),
    }
    for reason, (text, mode) in files.items():
        path = trial.folder / reason
        path.write_text(text)
        path.chmod(mode)
        await _fails(trial, trial.spec(str(path)), NotExecutable, path=str(path), reason=reason)
    folder = str(trial.folder)
    await _fails(trial, trial.spec(folder), NotExecutable, path=folder, reason="is_a_directory")


@check()
async def test_ex_023_one_argument_up_to_the_limit_works_and_beyond_is_named(trial: Trial) -> None:
    assert trial.runtime.limits.string_bytes == LIMIT
    for size in (LIMIT - 1, LIMIT):
        ran = await trial.run(trial.spec("printf", "%s", "x" * size, stdout=WIDE))
        assert (ran.exit.exit_code, len(ran.out)) == (0, size)
    spec = trial.spec("printf", "%s", "x" * (LIMIT + 1))
    await _fails(trial, spec, ArgumentListTooLong, kind="argument", index=2, size=LIMIT + 1, limit=LIMIT)
    three = trial.spec("printf", "%s", "ä" * 1_500_000)
    await _fails(trial, three, ArgumentListTooLong, kind="argument", index=2, size=3_000_000, limit=LIMIT)


@check()
async def test_ex_024_a_large_environment_value_is_named(trial: Trial) -> None:
    spec = trial.spec("true", env={"BIG": "x" * 200_000})
    await _fails(trial, spec, ArgumentListTooLong, kind="environment", name="BIG", size=200_004, limit=LIMIT)
    ran = await trial.run(trial.bash("echo ${#BIG}", env={"BIG": "x" * (LIMIT - 4)}))
    assert ran.out == b"%d\n" % (LIMIT - 4)


@check()
async def test_too_much_in_total_is_said(trial: Trial) -> None:
    arguments = ["x" * 100_000] * 80
    await _fails(trial, trial.spec("true", *arguments), ArgumentListTooLong, kind="total")
    assert (await trial.run(trial.spec("true"))).exit.exit_code == 0


@check()
async def test_many_and_odd_arguments_arrive_as_they_are(trial: Trial) -> None:
    program = "import sys; sys.stdout.buffer.write(b'\\0'.join(a.encode() for a in sys.argv[1:]))"
    odd = [
        "",
        " ",
        "a b",
        "'",
        '"',
        "$HOME `x` \\",
        "*",
        "-n",
        "--",
        "ünï",
        "line\nline",
        "\t",
        "\x1b[0m",
        "x" * 1000,
    ]
    ran = await trial.run(trial.python(program, *odd))
    assert ran.out.decode().split("\0") == odd
    many = [str(number) for number in range(30_000)]
    ran = await trial.run(trial.python(program, *many, stdout=WIDE))
    assert ran.out.decode().split("\0") == many


@check()
async def test_nul_and_bad_names_are_refused_by_name(trial: Trial) -> None:
    await _fails(trial, trial.spec("echo", "a\0b"), NulInArgument, kind="argument", index=1)
    await _fails(trial, trial.spec("echo", env={"A": "a\0b"}), NulInArgument, kind="environment", name="A")
    await _fails(trial, trial.spec("echo", cwd="/tmp\0x"), NulInArgument, kind="cwd")
    await _fails(trial, trial.spec("echo", env={"": "x"}), InvalidEnvironment, name="")
    await _fails(trial, trial.spec("echo", env={"A=B": "x"}), InvalidEnvironment, name="A=B")


@check("host_view")
async def test_ex_065_working_directories_are_taken_literally(trial: Trial) -> None:
    for name in ("c++x", "[id]", "-dash", "~tilde", "a*b", "trail ", 'sp ace/üñí "q" $x `y`\nnewline'):
        folder = trial.folder / name
        folder.mkdir(parents=True)
        ran = await trial.run(trial.spec("pwd", "-P", cwd=str(folder)))
        assert ran.out.decode() == f"{folder}\n"


@check()
async def test_argv0_may_differ_from_the_program(trial: Trial) -> None:
    ran = await trial.run(trial.spec("other", "-c", "echo $0", executable="/bin/sh"))
    assert ran.out == b"other\n"


@check("host_view")
async def test_which_finds_what_would_run(trial: Trial) -> None:
    tool = trial.folder / "tool"
    tool.write_text("#!/bin/sh\necho mine\n")
    env = {"PATH": f"/nonexistent:{trial.folder}:/bin"}
    assert await trial.runtime.which("tool", env) is None
    tool.chmod(0o755)
    assert await trial.runtime.which("tool", env) == str(tool)
    assert await trial.runtime.which(str(tool), {}) == str(tool)
    assert await trial.runtime.which("tool", {}) is None
    assert await trial.runtime.which("tool", {"PATH": f":.:{trial.folder.name}"}) is None
    assert (await trial.run(trial.spec("tool", env=env))).out == b"mine\n"


@contextmanager
def _few_descriptors(spare: int) -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    filler = [os.open(os.devnull, os.O_RDONLY) for _ in range(highest)]  # no gaps below the limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(*filler, highest) + 1 + spare, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for descriptor in filler:
            os.close(descriptor)


def _held() -> int:
    return len(os.listdir("/proc/self/fd"))


@check("host_view")
async def test_ex_052_no_descriptors_left_is_said_and_nothing_leaks(trial: Trial) -> None:
    assert (await trial.run(trial.spec("true"))).exit.exit_code == 0
    before = _held()
    failures = 0
    for spare in range(12):
        with _few_descriptors(spare):
            try:
                async with await trial.spawn(trial.spec("echo", "hi", stdin=Pipe())) as process:
                    assert (await process.wait()).exit_code == 0
            except TooManyDescriptors as problem:
                failures += 1
                assert problem.facts["scope"] == "process"
                assert "too many open files" in str(problem)
        assert _held() == before, f"{spare} spare descriptors: {_held() - before} leaked"
    assert failures >= 3
    assert (await trial.run(trial.spec("echo", "fine"))).out == b"fine\n"


@check("host_view")
async def test_failed_starts_leak_nothing(trial: Trial) -> None:
    wrong = [
        trial.spec("no-such-program-at-all"),
        trial.spec("true", cwd="/nonexistent"),
        trial.spec("true", "x" * (LIMIT + 1), stdin=Pipe()),
        trial.spec("/etc/passwd", stdin=Pipe()),
        trial.spec("true", descriptors={5: OpenPath(path="/nonexistent", access="read")}),
        trial.spec("true", descriptors={2: Pipe()}),
        trial.spec("true", descriptors={7: Confided()}),
        trial.spec("a\0b"),
    ]
    for spec in wrong:
        with pytest.raises(SpawnFailed):
            await trial.spawn(spec)
    before = _held()
    for _ in range(10):
        for spec in wrong:
            with pytest.raises(SpawnFailed):
                await trial.spawn(spec)
    assert _held() == before


@check()
async def test_descriptors_that_cannot_be_given_are_named(trial: Trial) -> None:
    missing = trial.spec("true", descriptors={5: OpenPath(path="/nonexistent", access="read")})
    await _fails(trial, missing, InvalidDescriptor, descriptor=5, path="/nonexistent", reason="ENOENT")
    await _fails(
        trial, trial.spec("true", descriptors={1: Pipe()}), InvalidDescriptor, descriptor=1, reason="reserved"
    )
    await _fails(
        trial,
        trial.spec("true", descriptors={9: Confided()}),
        InvalidDescriptor,
        descriptor=9,
        reason="missing",
    )
    ran = await trial.run(trial.spec("true", stdout=Null()))
    assert ran.exit.exit_code == 0
