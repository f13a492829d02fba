"""Generations: prepare, publish, retire, dispose (claims T-70 to T-79)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import cast

import anyio
import pytest
from host_fakes import AGENT, Log, bench, row, tools_row
from pydantic import ValidationError

from seam.host._blueprint import Blueprint
from seam.host._outcomes import HostStopped, PrepareFailed, RollbackFailed, StopReport
from seam.host._slots import RowPlugin
from seam.kernel import Service
from seam.tools_def import AdmissionClosed, PublishedTools, effects, tool

pytestmark = pytest.mark.anyio


class Store(Service, key="store"):
    """Something that another row stands on."""


class Index(Service, key="index"):
    """Something that stands on the store."""


def listing(log: Log, *, store: str = "a", user: str = "a") -> tuple[RowPlugin, ...]:
    return (
        tools_row(log),
        row(log, "consume.user", requires=[Index], text=user),
        row(log, "implement.index", requires=[Store], provides=Index),
        row(log, "implement.store", provides=Store, text=store),
    )


async def test_t_70_operations_are_serial_and_a_failing_one_does_not_block_the_next() -> None:
    log = Log()
    async with bench() as b:
        results: list[str] = []

        async def publish(text: str, fail: bool) -> None:
            try:
                outcome = await b.publish(tools_row(log), row(log, "consume.x", text=text, fail=fail))
                results.append(f"{outcome.kind} {outcome.generation}")
            except PrepareFailed:
                results.append("failed")

        async with anyio.create_task_group() as group:
            group.start_soon(publish, "1", False)
            group.start_soon(publish, "2", True)
            group.start_soon(publish, "3", False)
        assert sorted(results) == ["failed", "published 1", "published 2"]


async def test_t_71_nothing_of_a_candidate_is_reachable_before_publish_and_the_number_grows_by_one() -> None:
    log = Log()
    async with bench() as b:
        with pytest.raises(AdmissionClosed, match="nothing is published yet"):
            b.control.admit()
        assert (await b.publish(*listing(log))).generation == 1
        first = b.control.admit()
        seen: list[int] = []
        spy = row(log, "consume.spy", text="x")

        async def look(published: object, number: int) -> object:
            answer = await b.preparer(Blueprint(agents=(AGENT,), base=(spy, *listing(log))), first, number)
            seen.append(b.control.admit().number)
            return answer

        outcome = await b.control.replace(look)  # pyright: ignore[reportArgumentType]
        assert seen == [1], "the candidate was reachable before it was published"
        assert outcome.generation == 2
        assert b.control.admit() is not first


async def test_t_71_a_change_of_nothing_keeps_the_number_and_calls_no_observer() -> None:
    log = Log()
    told: list[PublishedTools] = []
    async with bench() as b:
        await b.publish(*listing(log))
        b.control.subscribe(told.append)
        before = list(log.lines)
        outcome = await b.publish(*listing(log))
        assert (outcome.kind, outcome.generation) == ("unchanged", 1)
        assert told == []
        assert log.lines == before


async def test_t_72_a_failure_unwinds_the_candidate_in_reverse_and_keeps_the_published_one() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        published = b.control.admit()
        log.lines.clear()
        with pytest.raises(PrepareFailed, match="was told to fail") as caught:
            await b.publish(*listing(log, store="b"), row(log, "consume.bad", requires=[Index], fail=True))
        assert caught.value.problems[0].row == "consume.bad"
        assert b.control.admit() is published
        undone = [line for line in log.lines if line.startswith("-")]
        assert undone.index("-implement.index") < undone.index("-implement.store")
        assert "-consume.user" in undone


async def test_t_72_a_missing_requirement_is_named_with_its_row() -> None:
    log = Log()
    async with bench() as b:
        with pytest.raises(PrepareFailed) as caught:
            await b.publish(tools_row(log), row(log, "consume.user", requires=[Index]))
        problem = caught.value.problems[0]
        assert (problem.row, problem.key, problem.kind) == ("consume.user", "index", "missing")
        assert "[implement.index]" in problem.remedy


async def test_ke_019_a_cycle_is_reported_with_its_path_and_the_old_generation_stays() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        with pytest.raises(PrepareFailed, match=r"implement\.index -> implement\.store -> implement\.index"):
            await b.publish(
                tools_row(log),
                row(log, "implement.index", requires=[Store], provides=Index),
                row(log, "implement.store", requires=[Index], provides=Store),
            )
        assert b.control.admit().number == 1


async def test_t_72_a_plugin_that_never_comes_up_is_named() -> None:
    log = Log()
    async with bench(timeout=0.2) as b:
        with pytest.raises(PrepareFailed, match=r"consume\.slow: did not come up within 0\.2 s"):
            await b.publish(tools_row(log), row(log, "consume.slow", hang=True))


async def test_t_73_a_failing_unwind_closes_admission_and_reports_both_errors() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        with pytest.raises(RollbackFailed, match="fail at its end") as caught:
            await b.publish(
                *listing(log),
                row(log, "consume.stuck", fail_tear_down=True),
                row(log, "consume.bad", fail=True),
            )
        assert isinstance(caught.value.__cause__, PrepareFailed)
        with pytest.raises(AdmissionClosed, match="could not be unwound"):
            b.control.admit()


async def test_t_74_a_retired_generation_lives_until_its_last_lease_then_is_disposed_once_consumers_first() -> (
    None
):
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        old = b.control.admit()
        one, two = old.lease(), old.lease()
        await b.publish(*listing(log, store="b"))
        log.lines.clear()
        await one.release()
        await anyio.wait_all_tasks_blocked()
        assert old.state == "retired"
        assert log.lines == []
        await two.release()
        await old.gone.wait()
        assert log.lines == ["-consume.user", "-implement.index", "-implement.store"]


async def test_t_74_a_generation_that_was_idle_before_it_retired_still_waits_for_its_turns() -> None:
    log = Log()
    async with bench(drain=60) as b:
        await b.publish(*listing(log))
        old = b.control.admit()
        await old.lease().release()
        turn = await b.open_turn()
        await b.publish(*listing(log, store="b"))
        log.lines.clear()
        await anyio.wait_all_tasks_blocked()
        assert (old.state, turn.closed, log.lines) == ("retired", None, [])
        await turn.opening.lease.release()
        await old.gone.wait()
        assert "generation.disposed" in b.notes


async def test_t_75_leases_that_outlive_the_drain_deadline_are_ended_and_that_is_a_record() -> None:
    log = Log()
    async with bench(drain=0.05) as b:
        await b.publish(*listing(log))
        old = b.control.admit()
        turn = await b.open_turn()
        await b.publish(*listing(log, store="b"))
        await old.gone.wait()
        assert turn.closed is not None
        assert turn.closed[0] == "drained"
        assert "generation.disposed" in b.notes


async def test_t_76_stop_during_prepare_cancels_the_candidate_and_a_second_stop_gives_the_same_answer() -> (
    None
):
    log = Log()
    async with bench(timeout=60) as b:
        await b.publish(*listing(log))
        caught: list[BaseException] = []
        reports: list[StopReport] = []
        async with anyio.create_task_group() as group:

            async def slow() -> None:
                try:
                    await b.publish(*listing(log), row(log, "consume.slow", hang=True))
                except HostStopped as error:
                    caught.append(error)

            group.start_soon(slow)
            while "+consume.slow" not in log.lines:
                await anyio.lowlevel.checkpoint()
            reports.append(await b.control.stop(budget=1))
        assert caught
        assert await b.control.stop(budget=1) is reports[0]
        with pytest.raises(AdmissionClosed):
            b.control.admit()
        with pytest.raises(HostStopped):
            await b.publish(*listing(log))


async def test_t_77_what_did_not_change_is_carried_over_as_the_same_object() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        outcome = await b.publish(*listing(log, user="b"))
        assert set(outcome.carried) == {"implement.tools", "implement.index", "implement.store"}
        assert outcome.rebuilt == ("consume.user",)
        assert len(log.objects["implement.store"]) == 1
        assert len(log.objects["consume.user"]) == 2


async def test_t_77_a_changed_row_is_rebuilt_with_its_dependents() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        outcome = await b.publish(*listing(log, store="b"))
        assert outcome.carried == ("implement.tools",)
        assert set(outcome.rebuilt) == {"implement.store", "implement.index", "consume.user"}


async def test_t_77_a_carried_instance_is_disposed_with_the_last_generation_that_has_it() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        old = b.control.admit()
        await b.publish(*listing(log, user="b"))
        await old.gone.wait()
        assert "-implement.store" not in log.lines
        await b.control.stop(budget=1)
        assert log.lines.count("-implement.store") == 1


async def test_t_77_what_is_held_by_a_running_job_outlives_its_generation() -> None:
    log = Log()
    async with bench() as b:
        await b.publish(*listing(log))
        old = b.control.admit()
        store = next(i for i in old.contents.scope.instances if i.name == "implement.store")
        release = store.hold("job j1")
        await b.publish(*listing(log, store="b"))
        await old.gone.wait()
        assert "-implement.store" not in log.lines
        release()
        await store.wait_stopped()
        assert "-implement.store" in log.lines


async def test_t_77_contributions_of_a_carried_instance_appear_in_the_new_generation() -> None:
    log = Log()

    @tool(effects=effects())
    async def ping() -> str:
        """Answer."""
        return "pong"

    async with bench() as b:
        offering = row(log, "consume.ping", contribute=ping)
        await b.publish(tools_row(log), offering)
        await b.publish(tools_row(log), offering, row(log, "consume.other"))
        assert [d.name for d in b.control.admit().contents.catalogue.tools("default")] == ["ping"]


async def test_t_78_an_observer_of_a_publish_cannot_change_or_block_it() -> None:
    log = Log()
    told: list[int] = []

    def bad(_: PublishedTools) -> None:
        raise RuntimeError("not today")

    async with bench() as b:
        b.control.subscribe(bad)
        b.control.subscribe(lambda tools: told.append(tools.generation))
        outcome = await b.publish(*listing(log))
        assert outcome.kind == "published"
        assert told == [1]
        assert "observer.error" in b.notes


async def test_t_79_snapshots_have_no_mutators() -> None:
    log = Log()
    told: list[PublishedTools] = []
    refused: list[type[Exception]] = []

    @tool(effects=effects())
    async def ping() -> str:
        """Answer."""
        return "pong"

    def meddles(tools: PublishedTools) -> None:
        told.append(tools)
        for change in (
            lambda: setattr(tools, "generation", 7),
            lambda: cast("dict[str, str]", tools.digests).update(default="sha256:other"),
            lambda: cast("dict[str, str]", tools.digests).__delitem__("default"),
        ):
            try:
                change()
            except (ValidationError, AttributeError) as error:
                refused.append(type(error))

    async with bench() as b:
        b.control.subscribe(meddles)
        b.control.subscribe(told.append)
        await b.publish(tools_row(log), row(log, "consume.a", contribute=ping))
        first, second = told
        assert len(refused) == 3
        assert first.generation == second.generation == 1
        catalogue = b.control.admit().contents.catalogue
        assert second.digests == {"default": catalogue.digest("default")}
        (descriptor,) = catalogue.tools("default")
        with pytest.raises(ValidationError, match="frozen"):
            descriptor.name = "other"  # pyright: ignore[reportAttributeAccessIssue] - that is what is tested
        with pytest.raises(FrozenInstanceError):
            b.control.admit().contents.agents = {}  # pyright: ignore[reportAttributeAccessIssue] - that is what is tested
        assert catalogue.digest("default") == second.digests["default"]


async def test_t_08_names_that_clash_reject_the_candidate() -> None:
    log = Log()

    @tool(effects=effects())
    async def ping() -> str:
        """Answer."""
        return "pong"

    async with bench() as b:
        with pytest.raises(PrepareFailed, match="offered twice"):
            await b.publish(
                tools_row(log), row(log, "consume.a", contribute=ping), row(log, "consume.b", contribute=ping)
            )
        assert log.lines.count("-consume.a") == 1


async def test_an_optional_row_that_fails_is_left_out_and_reported() -> None:
    log = Log()
    async with bench() as b:
        outcome = await b.publish(*listing(log), row(log, "consume.extra", optional=True, fail=True))
        assert outcome.kind == "published"
        assert [problem.row for problem in outcome.left_out] == ["consume.extra"]
        assert "was told to fail" in outcome.left_out[0].text


async def test_an_optional_row_that_waits_for_something_is_left_out() -> None:
    log = Log()
    async with bench() as b:
        outcome = await b.publish(tools_row(log), row(log, "consume.user", requires=[Index], optional=True))
        assert [problem.row for problem in outcome.left_out] == ["consume.user"]


async def test_realms_have_their_own_instances_of_everything_that_stands_on_the_difference() -> None:
    log = Log()
    own = row(log, "agents.reviewer.implement.store", provides=Store, text="narrow")
    async with bench() as b:
        await b.publish(*listing(log), row(log, "consume.alone"), realms={"reviewer": (own,)})
        contents = b.control.admit().contents
        names = {slot.name for slot in contents.assembly.slots}
        assert {"reviewer/implement.index", "reviewer/consume.user"} <= names
        assert "reviewer/consume.alone" not in names
        assert contents.realms["reviewer"].get(Store) is not contents.scope.get(Store)
        assert contents.realms["reviewer"].get(Index) is not contents.scope.get(Index)


async def test_without_a_runtime_nothing_is_published_and_the_remedy_is_named() -> None:
    log = Log()
    async with bench() as b:
        with pytest.raises(PrepareFailed, match=r"pip install seam-tools-runtime"):
            await b.publish(row(log, "consume.alone"))
