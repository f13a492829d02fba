"""What a shell is like that nobody sits at: fresh for each call, literal about paths, never asking."""

from __future__ import annotations

import os
import stat

import anyio
import pytest

from seam.exec_def import BadWorkdir, EnvironmentTooLarge, ExecRequest, ExecutorUnavailable, InvalidCommand
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._ends import SLACK
from seam.exec_def.conformance._trial import Stopwatch, Trial


async def _needs(trial: Trial, program: str) -> None:
    if not (await trial.run(f"command -v {program}")).success:
        pytest.skip(f"the world has no {program}")


@check()
async def test_ex_011_nothing_can_ask_at_the_users_terminal(trial: Trial) -> None:
    result = await trial.run("sh -c 'read x </dev/tty'; echo code=$?", timeout=30.0)
    assert result.success
    assert "code=0" not in result.stdout.text
    assert result.stderr is not None
    assert "/dev/tty" in result.stderr.text


@check()
async def test_ex_011_a_commit_without_a_message_fails_instead_of_waiting(trial: Trial) -> None:
    await _needs(trial, "git")
    watch = Stopwatch()
    result = await trial.run(
        "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit --allow-empty", timeout=60.0
    )
    assert not result.timed_out
    assert result.exit_code not in (0, None)
    assert watch.seconds < SLACK


@check()
async def test_ex_056_no_pager_is_started(trial: Trial) -> None:
    await _needs(trial, "git")
    result = await trial.run(
        "git init -q r; cd r; git config user.name a; git config user.email a@b; "
        "for i in $(seq 5); do git commit -q --allow-empty -m c$i; done; "
        "git -c core.pager='less -+F' log --format=%s; git -c pager.log='less -+F' log --format=%s; "
        "seq 1 1000 | ${PAGER:-less} | tail -1",
        timeout=60.0,
    )
    assert result.success
    assert result.stdout.text.split() == ["c5", "c4", "c3", "c2", "c1"] * 2 + ["1000"]


@check()
async def test_ex_057_a_pager_in_git_configuration_does_not_count(trial: Trial) -> None:
    await _needs(trial, "git")
    result = await trial.run(
        "git init -q r; cd r; git config core.pager 'sleep 300; cat'; git var GIT_PAGER; git -p -c core.pager='sleep 300' --version",
        timeout=60.0,
    )
    assert result.success
    assert result.stdout.text.splitlines()[0] == "cat"


@check()
async def test_ex_014_a_missing_workdir_is_named(trial: Trial) -> None:
    missing = str(trial.folder / "no" / "such")
    with pytest.raises(BadWorkdir) as error:
        await trial.run("echo hi", workdir=missing)
    assert error.value.workdir == missing
    assert missing in error.value.message
    assert "does not exist" in error.value.message
    assert "bash" not in error.value.message


@check()
async def test_a_workdir_that_is_a_file_is_named(trial: Trial) -> None:
    (trial.folder / "file").write_text("x")
    with pytest.raises(BadWorkdir, match="not a directory"):
        await trial.run("echo hi", workdir="file")


@check("host_view")
async def test_ex_016_there_is_no_other_workdir_than_the_one_asked_for(trial: Trial) -> None:
    (trial.folder / "wt").mkdir()
    spec = trial.spec("touch ran; pwd", workdir="wt")
    (trial.folder / "wt").rmdir()
    with pytest.raises(BadWorkdir):
        await trial.executor.run(spec)
    assert list(trial.folder.iterdir()) == []


@check()
async def test_a_workdir_that_goes_away_while_the_command_runs_is_the_commands_own_affair(
    trial: Trial,
) -> None:
    (trial.folder / "gone").mkdir()
    result = await trial.run('rmdir "$PWD"; echo still here', workdir="gone")
    assert result.success
    assert result.stdout.text == "still here\n"


@check()
async def test_ex_063_odd_names_are_quoted_by_nobody_and_break_nothing(trial: Trial) -> None:
    odd = 'dir with space/üñí "q" $x `y`\nnewline'
    (trial.folder / odd).mkdir(parents=True)
    (trial.folder / "a b").mkdir()
    result = await trial.run("pwd; exit 3", workdir=odd, variables={"TMPDIR": str(trial.folder / "a b")})
    assert result.exit_code == 3
    assert result.stdout.data.decode() == f"{trial.folder / odd}\n"
    assert result.stderr is not None
    assert result.stderr.data == b""


@check()
async def test_ex_065_workdirs_are_literal(trial: Trial) -> None:
    for name in ("c++x", "[id]", "-dash", "~tilde", "a*b", "trail ", "."):
        folder = trial.folder / name
        folder.mkdir(exist_ok=True)
        result = await trial.run("pwd", workdir=name)
        assert result.stdout.data.decode() == f"{trial.folder}{'' if name == '.' else '/' + name}\n", name


@check()
async def test_ex_023_length_makes_no_difference(trial: Trial) -> None:
    for size in (131_071, 131_072):
        command = "echo $0 $#; x="
        command += "x" * (size - len(command.encode()) - 20) + "; echo ${#x} 0000000"
        command = command[: size - 8] + " " * (size - len(command[: size - 8]) - 8) + "; exit 7"
        assert len(command) == size
        result = await trial.run(command)
        assert result.exit_code == 7, result
        assert result.stdout.text.splitlines()[0] == "bash 0"


@check("host_view")
async def test_ex_023_a_heredoc_of_three_megabytes_works(trial: Trial) -> None:
    body = "0123456789abcde\n" * 200_000
    result = await trial.run(f"cat > f <<'E'\n{body}E\nwc -c < f; ls /proc/self/fd | wc -l; exit 3")
    assert result.exit_code == 3
    assert result.stdout.text.split()[0] == "3200000"
    assert result.stdout.text.split()[1] == (await trial.run("ls /proc/self/fd | wc -l")).stdout.text.strip()
    assert (trial.folder / "f").read_text() == body


@check()
async def test_ex_024_a_variable_beyond_the_limit_is_named_and_the_executor_stays_well(trial: Trial) -> None:
    with pytest.raises(EnvironmentTooLarge) as error:
        await trial.run("true", variables={"BIG": "x" * 200_000})
    assert error.value.variable == "BIG"
    assert (await trial.run("true")).success


@check()
async def test_ex_025_nothing_is_glued_to_a_command(trial: Trial) -> None:
    result = await trial.run("cat <<'EOF'\nline $HOME `x`\nEOF")
    assert (result.exit_code, result.stdout.text) == (0, "line $HOME `x`\n")
    assert result.stderr is not None
    assert result.stderr.text == ""
    comment = await trial.run("echo a # comment")
    assert comment.stdout.text == "a\n"
    escaped = await trial.run("echo a \\")
    assert escaped.stdout.text == "a \\\n"


@check()
async def test_ex_029_variables_are_not_in_anybodys_arguments(trial: Trial) -> None:
    result = await trial.run(
        "tr '\\0' ' ' < /proc/$$/cmdline; tr '\\0' ' ' < /proc/$PPID/cmdline; echo $TOK | tr a-z A-Z",
        variables={"TOK": "s3cret-value"},
    )
    assert "s3cret-value" not in result.stdout.text
    assert "S3CRET-VALUE" in result.stdout.text


@check()
async def test_ex_059_a_start_up_file_cannot_swallow_a_command(trial: Trial) -> None:
    startup = trial.folder / "startup"
    startup.write_text("exit 0\n")
    (trial.folder / ".bashrc").write_text("exit 0\n")
    (trial.folder / ".bash_profile").write_text("exit 0\n")
    result = await trial.run(
        "echo hi", variables={"HOME": str(trial.folder), "SSH_CLIENT": "1.2.3.4 5 6", "SSH_CONNECTION": "1"}
    )
    assert result.stdout.text == "hi\n"


@check("host_view")
async def test_ex_061_the_order_of_the_path_is_the_hosts(trial: Trial) -> None:
    result = await trial.run('echo "$PATH"')
    assert result.stdout.text.rstrip("\n") == os.environ["PATH"]
    wrapper = trial.folder / "bin" / "python3"
    wrapper.parent.mkdir()
    wrapper.write_text("#!/bin/sh\n")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    found = await trial.run(
        "command -v python3", variables={"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    )
    assert found.stdout.text == f"{wrapper}\n"


@check()
async def test_ex_075_every_call_is_a_shell_of_its_own(trial: Trial) -> None:
    assert (await trial.run("export A=1; cd /; shopt -s extglob; f() { :; }")).success
    replaced = await trial.run("exec echo replaced")
    assert (replaced.exit_code, replaced.stdout.text) == (0, "replaced\n")
    assert (await trial.run("exit 5")).exit_code == 5
    fresh = await trial.run('echo "[$A]"; pwd; type f')
    assert fresh.stdout.text == f"[]\n{trial.folder}\n"
    assert fresh.exit_code == 1


@check("host_view")
async def test_no_secret_of_the_host_is_visible(trial: Trial) -> None:
    name = "SEAM_KIT_HOST_SECRET"
    assert name not in os.environ
    result = await trial.run("env")
    allowed = {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TERM",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
    }
    seen = {line.split("=", 1)[0] for line in result.stdout.text.splitlines()}
    leaked = {name for name in seen & set(os.environ) if name not in allowed and not name.startswith("LC_")}
    assert leaked <= {"PWD", "SHLVL", "_", "OLDPWD", *trial.spec("env").environment}


@check()
async def test_a_command_with_a_nul_is_refused(trial: Trial) -> None:
    with pytest.raises(InvalidCommand, match="NUL"):
        trial.executor.resolve(ExecRequest(command="echo \0"))


@check("host_limits")
async def test_ex_052_no_descriptors_left_is_told_as_that(trial: Trial) -> None:
    import resource

    assert (await trial.run("echo hi")).success
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = sorted(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[-1] + 1, hard))
    fillers: list[int] = []
    try:
        with pytest.raises(OSError):
            while True:
                fillers.append(os.dup(0))
        with pytest.raises(ExecutorUnavailable, match="too many open files"):
            await trial.run("echo hi")
    finally:
        for filler in fillers:
            os.close(filler)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    await anyio.lowlevel.checkpoint()
    assert (await trial.run("echo hi")).success
    assert len(os.listdir("/proc/self/fd")) <= len(before)


@check("host_view")
async def test_ex_044_ignored_and_blocked_signals_of_the_host_are_not_inherited(trial: Trial) -> None:
    import signal

    ignored = [signal.SIGPIPE, signal.SIGINT, signal.SIGCHLD]
    before = {number: signal.getsignal(number) for number in ignored}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    try:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        result = await trial.run(
            "grep -E 'Sig(Ign|Blk)' /proc/self/status; yes | head -1; sh -c 'kill -INT $$; echo no'; exit 7",
            timeout=30.0,
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    lines = dict(line.split(":\t") for line in result.stdout.text.splitlines() if ":" in line)
    assert int(lines["SigBlk"], 16) == 0
    mask = sum(1 << (number - 1) for number in ignored)
    assert int(lines["SigIgn"], 16) & mask == 0
    assert "y" in result.stdout.text.splitlines()
    assert "no" not in result.stdout.text.splitlines()
    assert result.exit_code == 7
