"""What a process finds: environment, signals, session, descriptors."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from anyio import EndOfStream

from seam.subprocess_def._confidential import Confidential
from seam.subprocess_def._errors import StreamUnavailable
from seam.subprocess_def._streams import Confided, Data, OpenPath, Outlet, Pipe
from seam.subprocess_def.conformance._check import check
from seam.subprocess_def.conformance._trial import WINDOW, Trial

STATUS = "grep -E '^Sig(Ign|Blk)' /proc/self/status"


@contextmanager
def _hostile_signals() -> Generator[None]:
    ignored = (signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT)
    on_main_thread = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored} if on_main_thread else {}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGUSR1, signal.SIGTERM, signal.SIGALRM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)


@check()
async def test_ex_044_ignored_and_blocked_signals_are_not_inherited(trial: Trial) -> None:
    with _hostile_signals():
        async with trial.subject.open() as runtime, await runtime.spawn(trial.bash(STATUS)) as process:
            ended = await process.wait()
            found = dict(line.split() for line in process.collected("stdout").head().decode().splitlines())
        ran = await trial.run(trial.bash("yes | head -1; sh -c 'kill -INT $$; echo no'; exit 3"))
    assert ended.exit_code == 0
    assert {name: int(bits, 16) for name, bits in found.items()} == {"SigBlk:": 0, "SigIgn:": 0}
    assert (ran.exit.exit_code, ran.out, ran.err) == (3, b"y\n", b""), (
        "with SIGCHLD ignored the status is right too"
    )


@check()
async def test_ex_011_there_is_no_controlling_terminal(trial: Trial) -> None:
    ran = await trial.run(trial.spec("sh", "-c", "read x </dev/tty && echo opened"))
    assert (ran.exit.exit_code, ran.out) != (0, b"opened\n")
    assert ran.exit.exit_code not in (0, None)
    assert b"/dev/tty" in ran.err


@check("exact_environment")
async def test_the_environment_is_exactly_the_specs(trial: Trial) -> None:
    spec = trial.spec("/usr/bin/env", "-0", env={"ODD": "a=b\nc", "EMPTY": ""})
    ran = await trial.run(spec)
    found = dict(entry.split("=", 1) for entry in ran.out.decode().split("\0") if entry)
    assert found == dict(spec.env)


@check()
async def test_secrets_reach_the_child_and_nothing_else(trial: Trial) -> None:
    secret = Confidential(env={"TOKEN": "s3cr3t-value"}, descriptors={5: b"s3cr3t-bytes"})
    spec = trial.bash("echo ${#TOKEN}; cat <&5 | wc -c", descriptors={5: Confided()}, env={"TOKEN": "public"})
    async with await trial.spawn(spec, confidential=secret) as process:
        ended = await process.wait()
        assert process.collected("stdout").head().split() == [b"12", b"12"]
    for text in (repr(secret), repr(spec), spec.model_dump_json(), ended.model_dump_json(), repr(process)):
        assert "s3cr3t" not in text


@check("host_view")
async def test_nothing_is_inherited_but_what_was_asked_for(trial: Trial) -> None:
    with open("/dev/null", "rb") as leak:
        import os

        os.set_inheritable(leak.fileno(), True)
        program = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
        ran = await trial.run(trial.python(program))
        # the listing itself holds one more
        assert ran.out in (b"[0, 1, 2, 3]\n",)
        given = await trial.run(trial.python(program, descriptors={7: Data(data=b"x"), 40: Data(data=b"y")}))
    assert given.out == b"[0, 1, 2, 3, 7, 40]\n"


@check()
async def test_standard_input_is_at_its_end(trial: Trial) -> None:
    ran = await trial.run(trial.bash("cat; read x; echo $?"))
    assert ran.out == b"1\n"


@check()
async def test_descriptors_carry_bytes_to_the_child(trial: Trial) -> None:
    large = bytes(range(256)) * 4000  # more than a pipe holds
    spec = trial.bash("sha256sum <&3; cat <&9", descriptors={3: Data(data=large), 9: Data(data=b"small")})
    ran = await trial.run(spec)
    import hashlib

    assert ran.out == hashlib.sha256(large).hexdigest().encode() + b"  -\nsmall"


@check()
async def test_descriptors_do_not_get_into_each_others_way(trial: Trial) -> None:
    numbers = list(range(3, 40))
    script = "; ".join(f"cat <&{number}; echo" for number in numbers)
    descriptors = {number: Data(data=b"%d" % number) for number in reversed(numbers)}
    ran = await trial.run(trial.bash(script, descriptors=descriptors))
    assert ran.out.split() == [b"%d" % number for number in numbers]


@check()
async def test_a_descriptor_can_hold_the_child_until_the_parent_lets_it_go(trial: Trial) -> None:
    spec = trial.bash(
        "echo waiting >&4; read x <&5; echo $x", descriptors={5: Pipe(), 4: Outlet(into=Pipe())}
    )
    async with await trial.spawn(spec) as process:
        assert await process.source(4).receive() == b"waiting\n"
        assert not process.leader_exited
        await process.sink(5).send(b"go\n")
        assert (await process.wait()).exit_code == 0
        assert process.collected("stdout").head() == b"go\n"
        with pytest.raises(EndOfStream):
            await process.source(4).receive()


@check()
async def test_an_outlet_can_be_collected(trial: Trial) -> None:
    spec = trial.bash("echo status >&11; echo out", descriptors={11: Outlet(into=WINDOW)})
    async with await trial.spawn(spec) as process:
        await process.wait()
        assert (process.collected(11).head(), process.collected("stdout").head()) == (b"status\n", b"out\n")


@check("host_view")
async def test_paths_are_handed_over_open(trial: Trial) -> None:
    (trial.folder / "file").write_text("content")
    (trial.folder / "link").symlink_to("file")
    descriptors = {
        5: OpenPath(path=str(trial.folder / "file"), access="read"),
        6: OpenPath(path=str(trial.folder), access="location"),
    }
    ran = await trial.run(trial.bash("cat <&5; readlink /proc/self/fd/6", descriptors=descriptors, cwd="/"))
    assert ran.out.decode() == f"content{trial.folder}\n"
    link = trial.spec("true", descriptors={5: OpenPath(path=str(trial.folder / "link"), access="read")})
    with pytest.raises(Exception, match="link"):
        await trial.spawn(link)


@check()
async def test_streams_are_there_as_the_spec_chose(trial: Trial) -> None:
    async with await trial.spawn(trial.spec("cat", stdin=Pipe(), stdout=Pipe())) as process:
        for ask in (process.collected, process.sink):
            with pytest.raises(StreamUnavailable):
                ask("stdout")
        with pytest.raises(StreamUnavailable):
            process.source("stderr")
        with pytest.raises(StreamUnavailable):
            process.sink(5)
        assert process.collected("stderr").total == 0


@check()
async def test_the_world_is_told(trial: Trial) -> None:
    assert trial.runtime.world_id != ""
    assert trial.runtime.platform in ("linux", "darwin")
    assert trial.runtime.limits.total_bytes >= trial.runtime.limits.string_bytes > 0
    assert trial.runtime.cwd.startswith("/")
