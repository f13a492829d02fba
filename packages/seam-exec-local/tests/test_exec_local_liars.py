"""The kit catches liars: each broken executor is found by the check that is meant for it."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, cast

import anyio
import psutil
import pytest

from seam.exec_def import (
    Abort,
    BadWorkdir,
    ExecProcess,
    ExecRequest,
    ExecResult,
    ExecSpec,
    ExecutorFacts,
    HandOver,
    KeptRange,
    OutputChunk,
    OutputSlice,
    Progress,
    Settled,
    ShellExecutor,
    StreamName,
    StreamOutput,
    Variables,
)
from seam.exec_def import conformance as kit
from seam.exec_def.conformance import Check, Settings, Subject, examine

LIAR = "SEAM_KIT_LIAR"


@pytest.fixture
def anyio_backend() -> str:
    """One event loop is enough to see that a check fails."""
    return "asyncio"


class Liar(ShellExecutor):
    """Honest so far; each liar changes one thing."""

    def __init__(self, honest: ShellExecutor, settings: Settings) -> None:
        self.honest = honest
        self.settings = settings

    @property
    def facts(self) -> ExecutorFacts:
        return self.honest.facts

    def resolve(self, request: ExecRequest) -> ExecSpec:
        return self.honest.resolve(request)

    async def run(
        self,
        spec: ExecSpec,
        *,
        abort: Abort | None = None,
        hand_over: HandOver | None = None,
        progress: Progress | None = None,
        settled: Settled | None = None,
    ) -> ExecResult:
        return await self.honest.run(
            spec, abort=abort, hand_over=hand_over, progress=progress, settled=settled
        )

    async def start(self, spec: ExecSpec) -> ExecProcess:
        return await self.honest.start(spec)

    async def aclose(self) -> None:
        await cast(Any, self.honest).aclose()


class ChangesResults(Liar):
    """Tells something else than what was."""

    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        raise NotImplementedError

    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        return self.change(spec, await self.honest.run(spec, **options))


class ChangesSpecs(Liar):
    """Runs something else than what was asked for."""

    def change(self, spec: ExecSpec) -> ExecSpec:
        raise NotImplementedError

    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        return await self.honest.run(self.change(spec), **options)


def stdout(result: ExecResult, **changes: object) -> ExecResult:
    """Return the result with changes in its first stream."""
    return result.model_copy(update={"stdout": result.stdout.model_copy(update=changes)})


class KillsTheLeaderOnly(Liar):
    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        environment = {**spec.environment.texts, LIAR: str(os.getpid())}
        process = await anyio.open_process(
            spec.argv, cwd=spec.workdir, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
        )
        with anyio.move_on_after(spec.limits.timeout):
            await process.wait()
        process.kill()
        await process.aclose()
        true = spec.model_copy(update={"argv": (*spec.argv[:-2], "true", "bash"), "command": "true"})
        result = await self.honest.run(true)
        return result.model_copy(update={"cause": "timed_out", "timed_out": True})


class LiesAboutTruncation(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        return stdout(result, losses=(), kept=(KeptRange(0, result.stdout.total),))


class EatsStdin(ChangesSpecs):
    def change(self, spec: ExecSpec) -> ExecSpec:
        return spec.model_copy(update={"stdin": None})


class SwallowsCancellation(Liar):
    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        results: list[ExecResult] = []
        try:
            options["settled"] = results.append
            return await self.honest.run(spec, **options)
        except anyio.get_cancelled_exc_class():
            return results[0]


class LosesTheReply(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        return stdout(result, parts=(), kept=(), total=0) if result.signal else result


class TakesSignalsForSuccess(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        return (
            result.model_copy(update={"cause": "exited", "exit_code": 0, "signal": None})
            if result.signal
            else result
        )


class HidesTimeouts(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        return result.model_copy(update={"cause": "exited", "timed_out": False})


class HidesSurvivors(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        return result.model_copy(update={"survivors": ()})


class LowersTimeoutsInSilence(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        return result.model_copy(update={"limits": result.limits.model_copy(update={"asked_timeout": None})})


class ShowsSecrets(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        shown = result.stdout.data.replace(b"[secret token]", self.settings.secrets["token"].encode())
        return stdout(result, parts=(shown,), kept=(KeptRange(0, len(shown)),), total=len(shown))


class OpensItsFiles(ChangesResults):
    def change(self, spec: ExecSpec, result: ExecResult) -> ExecResult:
        Path(result.stdout.spill_path or "").chmod(0o644)
        return result


class MergesOneAfterTheOther(Liar):
    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        result = await self.honest.run(spec.model_copy(update={"streams": "separate"}), **options)
        both: list[StreamOutput] = [result.stdout, *([result.stderr] if result.stderr else [])]
        data = b"".join(one.data for one in both)
        merged = stdout(result, parts=(data,), kept=(KeptRange(0, len(data)),), total=len(data))
        return merged.model_copy(update={"stderr": None})


class KeepsTheWorkdir(ChangesSpecs):
    moved = False

    def change(self, spec: ExecSpec) -> ExecSpec:
        workdir = "/" if self.moved else spec.workdir
        self.moved = self.moved or "cd /" in spec.command
        return spec.model_copy(update={"workdir": workdir})


class GluesText(ChangesSpecs):
    def change(self, spec: ExecSpec) -> ExecSpec:
        glued = spec.command + " && pwd"
        argv = tuple(glued if part == spec.command else part for part in spec.argv)
        return spec.model_copy(update={"command": glued, "argv": argv})


class LeaksTheHostsEnvironment(ChangesSpecs):
    def change(self, spec: ExecSpec) -> ExecSpec:
        return spec.model_copy(update={"environment": Variables({**os.environ, **spec.environment})})


class ResolvesDifferentlyEachTime(Liar):
    count = 0

    def resolve(self, request: ExecRequest) -> ExecSpec:
        self.count += 1
        spec = self.honest.resolve(request)
        return spec.model_copy(
            update={"environment": Variables({**spec.environment, "CALL": str(self.count)})}
        )


class RunsRequests(Liar):
    async def run(self, spec: ExecSpec | ExecRequest, **options: Any) -> ExecResult:
        return await self.honest.run(
            self.honest.resolve(spec) if isinstance(spec, ExecRequest) else spec, **options
        )


class FallsBackToAnotherWorkdir(Liar):
    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        try:
            return await self.honest.run(spec, **options)
        except BadWorkdir:
            return await self.honest.run(
                spec.model_copy(update={"workdir": str(Path(spec.workdir).parent)}), **options
            )


class IgnoresHandOver(Liar):
    async def run(self, spec: ExecSpec, *, hand_over: HandOver | None = None, **options: Any) -> ExecResult:
        return await self.honest.run(spec, **options)


class LetsHooksBreakIt(Liar):
    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        result = await self.honest.run(spec, **options)
        if result.hook_failures:
            raise RuntimeError(result.hook_failures[0].error)
        return result


class TellsTwice(Liar):
    async def run(self, spec: ExecSpec, *, settled: Settled | None = None, **options: Any) -> ExecResult:
        result = await self.honest.run(spec, settled=settled, **options)
        if settled is not None:
            with suppress(RuntimeError):
                settled(result)
        return result


class CountsOffsetsFromEachChunk(Liar):
    async def run(self, spec: ExecSpec, *, progress: Progress | None = None, **options: Any) -> ExecResult:
        def moved(chunk: OutputChunk) -> None:
            if progress is not None:
                progress(chunk.model_copy(update={"offset": 0}))

        return await self.honest.run(spec, progress=moved, **options)


class BlocksTheLoop(Liar):
    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        result = await self.honest.run(
            spec.model_copy(update={"argv": (*spec.argv[:-2], "true", "bash")}), **options
        )
        time.sleep(0.8)
        return result


class LeaksDescriptors(Liar):
    def __init__(self, honest: ShellExecutor, settings: Settings) -> None:
        super().__init__(honest, settings)
        self.leaked: list[int] = []

    async def run(self, spec: ExecSpec, **options: Any) -> ExecResult:
        self.leaked.append(os.open("/dev/null", os.O_RDONLY))
        return await self.honest.run(spec, **options)

    async def aclose(self) -> None:
        for descriptor in self.leaked:
            os.close(descriptor)


class StaysOpen(Liar):
    async def aclose(self) -> None:
        """Say that all is over, and end nothing."""


class ChangedProcess(ExecProcess):
    """A process whose handle is a liar's."""

    def __init__(self, honest: ExecProcess) -> None:
        self.honest = honest
        self.taken = 0

    spec = property(lambda self: self.honest.spec)  # type: ignore[assignment]  # short on purpose
    pid = property(lambda self: self.honest.pid)  # type: ignore[assignment]
    sandbox = property(lambda self: self.honest.sandbox)  # type: ignore[assignment]
    result = property(lambda self: self.honest.result)  # type: ignore[assignment]

    async def wait(self) -> ExecResult:
        return await self.honest.wait()

    async def terminate(self, *, reason: str = "") -> ExecResult:
        return await self.honest.terminate(reason=reason)

    async def read(self, stream: StreamName = "stdout", *, offset: int = 0, limit: int) -> OutputSlice:
        piece = await self.honest.read(stream, offset=max(offset, self.taken), limit=limit)
        self.taken = piece.next_offset
        return piece

    async def wait_beyond(self, offset: int, stream: StreamName = "stdout") -> bool:
        return await self.honest.wait_beyond(offset, stream)

    def subscribe(self, progress: Progress) -> Callable[[], None]:
        return self.honest.subscribe(progress)

    async def aclose(self) -> None:
        await self.honest.aclose()


class LetsReadersSteal(Liar):
    async def start(self, spec: ExecSpec) -> ExecProcess:
        return ChangedProcess(await self.honest.start(spec))


class LimitsTheBackground(Liar):
    async def start(self, spec: ExecSpec) -> ExecProcess:
        process = await self.honest.start(spec)
        with anyio.move_on_after(spec.limits.timeout):
            await process.wait()
        await process.terminate()
        return process


LIARS: list[tuple[type[Liar], Check]] = [
    (KillsTheLeaderOnly, kit.test_ex_005_busy_children_do_not_outlive_a_timeout),
    (LiesAboutTruncation, kit.test_what_is_not_kept_is_on_disk_private_and_digested),
    (EatsStdin, kit.test_input_arrives_and_ends),
    (SwallowsCancellation, kit.test_ex_055_cancelling_ends_the_command_and_raises),
    (LosesTheReply, kit.test_ex_032_output_before_a_kill_is_kept),
    (TakesSignalsForSuccess, kit.test_ex_031_a_signal_is_told_by_name_and_never_as_success),
    (HidesTimeouts, kit.test_a_timeout_is_a_result_with_partial_output),
    (HidesSurvivors, kit.test_survivors_are_ended_and_named),
    (LowersTimeoutsInSilence, kit.test_ex_071_a_timeout_beyond_the_maximum_is_lowered_and_told),
    (ShowsSecrets, kit.test_a_secret_reaches_the_child_and_nothing_else),
    (OpensItsFiles, kit.test_what_is_not_kept_is_on_disk_private_and_digested),
    (MergesOneAfterTheOther, kit.test_out_008_merged_streams_are_in_the_order_of_the_writes),
    (KeepsTheWorkdir, kit.test_ex_075_every_call_is_a_shell_of_its_own),
    (GluesText, kit.test_ex_025_nothing_is_glued_to_a_command),
    (LeaksTheHostsEnvironment, kit.test_no_secret_of_the_host_is_visible),
    (ResolvesDifferentlyEachTime, kit.test_equal_requests_have_equal_specs_and_digests),
    (RunsRequests, kit.test_execution_takes_specs_only),
    (FallsBackToAnotherWorkdir, kit.test_ex_016_there_is_no_other_workdir_than_the_one_asked_for),
    (IgnoresHandOver, kit.test_a_command_is_handed_over_alive_when_its_limit_has_passed),
    (LetsHooksBreakIt, kit.test_ex_079_a_hook_that_raises_does_not_keep_the_command_alive),
    (TellsTwice, kit.test_settled_is_told_once_and_may_raise),
    (CountsOffsetsFromEachChunk, kit.test_progress_is_the_output_piece_by_piece),
    (BlocksTheLoop, kit.test_the_event_loop_stays_free),
    (LeaksDescriptors, kit.test_ex_051_timeouts_leave_no_descriptor_thread_or_zombie),
    (StaysOpen, kit.test_disposal_ends_everything_and_waits),
    (LetsReadersSteal, kit.test_readers_do_not_steal_from_each_other),
    (LimitsTheBackground, kit.test_start_returns_at_once_and_enforces_no_limit),
]


class LiarSubject(Subject):
    """An honest subject behind a liar."""

    def __init__(self, honest: Subject, liar: type[Liar]) -> None:
        super().__init__(liar.__name__, honest.capabilities)
        self.honest = honest
        self.liar = liar

    @asynccontextmanager
    async def open(self, settings: Settings) -> AsyncGenerator[ShellExecutor, None]:
        async with self.honest.open(settings) as executor:
            liar = self.liar(executor, settings)
            try:
                yield liar
            finally:
                if isinstance(liar, LeaksDescriptors):
                    await liar.aclose()


def _end_what_liars_left() -> None:
    for process in psutil.process_iter():
        try:
            if process.environ().get(LIAR) == str(os.getpid()):  # other workers have liars of their own
                process.kill()
        except psutil.Error:
            continue  # gone, or not ours


@pytest.mark.anyio
@pytest.mark.parametrize(("liar", "check"), LIARS, ids=[liar.__name__ for liar, _ in LIARS])
async def test_the_check_that_is_meant_for_it_catches(
    exec_subject: Subject, liar: type[Liar], check: Check
) -> None:
    try:
        card = await examine(LiarSubject(exec_subject, liar), [check])
    finally:
        _end_what_liars_left()
    assert card.broken == [getattr(check, "__name__", "")]


@pytest.mark.anyio
async def test_a_card_names_what_was_kept_and_what_is_lacking(exec_subject: Subject, tmp_path: Path) -> None:
    class Lacking(Subject):
        def open(self, settings: Settings) -> Any:
            return exec_subject.open(settings)

    subject = Lacking("lacking", kit.Capabilities(secrets=False))
    card = await examine(
        subject,
        [kit.test_exit_codes_are_told_as_they_are, kit.test_a_secret_reaches_the_child_and_nothing_else],
    )
    card.write(tmp_path / "card.json")
    again = kit.Card.model_validate_json((tmp_path / "card.json").read_text())
    assert {one.check: one.verdict for one in again.outcomes} == {
        "test_exit_codes_are_told_as_they_are": "kept",
        "test_a_secret_reaches_the_child_and_nothing_else": "lacking",
    }
    assert card.broken == []
