"""A deployment that runs, with real implementers: calls, sessions, reload, stop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from seam.host import Host, PrepareFailed, ReloadOutcome
from seam.tools_def import (
    Access,
    AdmissionClosed,
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    Completed,
    JournalQuery,
    LeaseInvalid,
    Refused,
    Turn,
    TurnEnded,
    UnknownAgent,
    outcome_text,
)

pytestmark = pytest.mark.anyio

ACCESS = Access(principal="me", platform="tests")

BASE = """
[seam]
drain = "5s"
stop = "5s"
debounce = "50ms"
[agents.default]
workspace = "."
[implement.subprocess]
use = "local"
[implement.exec]
use = "local"
[implement.tools]
use = "runtime"
[implement.jobs]
use = "local"
[consume.exec-tool]
[consume.jobs-tool]
[process.journal]
use = "memory"
"""

PING = '''
from seam.tools_def import effects, tool

@tool(effects=effects())
async def ping() -> str:
    """Answer."""
    return "{answer}"
'''


class Yes(ApprovalPort):
    """Says yes to everything, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return Approve(by="me")


def deployment(folder: Path, text: str = BASE) -> Path:
    path = folder / "deployment.toml"
    path.write_text(text)
    return path


@asynccontextmanager
async def turn(
    host: Host, *, session: str = "s1", approval: ApprovalPort | None = None
) -> AsyncGenerator[Turn]:
    async with host.turns.open(
        "default", session=session, access=ACCESS, approval=approval or Yes()
    ) as opened:
        yield opened


async def test_the_main_job_a_call_goes_through_a_deployment_to_a_process_and_back(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host, turn(host) as t:
        outcome = await t.call("shell", {"command": "pwd; exit 3"})
        assert isinstance(outcome, Completed)
        assert not outcome.success
        assert outcome_text(outcome).endswith(str(tmp_path))
        kinds = [entry.record.kind for entry in await host.journal.read(t.id)]
        assert kinds == [
            "turn_opened",
            "requested",
            "decided",
            "approval_asked",
            "approval_answered",
            "started",
            "settled",
        ] or kinds.index("requested") < kinds.index("started") < kinds.index("settled")


async def test_t_26_an_unattended_turn_is_refused_what_needs_approval(tmp_path: Path) -> None:
    async with (
        Host.open(deployment(tmp_path)) as host,
        host.turns.open("default", session="s", access=ACCESS) as t,
    ):
        outcome = await t.call("shell", {"command": "touch never"})
        assert isinstance(outcome, Refused)
        assert outcome.policy == "approval"
    assert not (tmp_path / "never").exists()


async def test_an_unknown_agent_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host:
        with pytest.raises(UnknownAgent, match="default"):
            async with host.turns.open("nobody", session="s", access=ACCESS):
                pass


async def test_what_the_body_raises_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Host.open(deployment(tmp_path)):
            raise ZeroDivisionError


async def test_a_deployment_that_cannot_be_published_starts_nothing(tmp_path: Path) -> None:
    text = BASE.replace('[implement.exec]\nuse = "local"\n', "")
    with pytest.raises(PrepareFailed) as caught:
        async with Host.open(deployment(tmp_path, text)):
            raise AssertionError("it was opened")
    (problem,) = caught.value.problems
    assert (problem.row, problem.key) == ("consume.exec-tool", "exec")


async def test_without_a_journal_nothing_runs(tmp_path: Path) -> None:
    text = BASE.replace('[process.journal]\nuse = "memory"\n', "")
    with pytest.raises(PrepareFailed, match=r"\[process\.journal\]"):
        async with Host.open(deployment(tmp_path, text)):
            raise AssertionError("it was opened")


async def test_t_60_an_ended_turn_refuses(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host:
        async with turn(host) as t:
            pass
        with pytest.raises(TurnEnded):
            await t.call("shell", {"command": "true"})


async def test_t_63_turns_of_one_session_are_serial_and_sessions_run_side_by_side(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host:
        order: list[str] = []
        release = anyio.Event()

        async def hold() -> None:
            async with turn(host, session="one"):
                order.append("first")
                await release.wait()

        async def follow() -> None:
            async with turn(host, session="one"):
                order.append("second")

        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await anyio.wait_all_tasks_blocked()
            group.start_soon(follow)
            async with turn(host, session="two"):
                order.append("other")
            await anyio.wait_all_tasks_blocked()
            assert order == ["first", "other"]
            release.set()
        assert order == ["first", "other", "second"]


async def test_ending_a_session_ends_its_jobs(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host:
        async with turn(host) as t:
            await t.call("shell", {"command": "sleep 1000", "background": True})
        await host.turns.end_session("default", "s1")
        async with turn(host) as t:
            assert outcome_text(await t.call("job_list", {})) == "No jobs."


async def test_a_job_survives_a_reload_that_does_not_concern_it(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    async with Host.open(path) as host:
        async with turn(host) as t:
            await t.call("shell", {"command": "sleep 1000", "background": True})
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "ping.py").write_text(PING.format(answer="pong"))
        outcome = await host.reload()
        assert (outcome.kind, outcome.rebuilt) == ("published", ("tools/ping.py",))
        async with turn(host) as t:
            assert outcome_text(await t.call("job_list", {})).startswith("j1: running")
            assert outcome_text(await t.call("ping", {})) == "pong"


async def test_t_80_a_bad_edit_leaves_the_old_generation_running_and_says_what_and_where(
    tmp_path: Path,
) -> None:
    path = deployment(tmp_path)
    async with Host.open(path) as host:
        path.write_text(BASE + "[implement.exec\n")
        outcome = await host.reload()
        assert outcome.kind == "refused"
        assert f"{path}:" in outcome.problems[0]
        assert host.generation == 1
        async with turn(host) as t:
            assert isinstance(await t.call("shell", {"command": "true"}), Completed)
        path.write_text(
            BASE.replace('use = "local"\n[implement.tools]', 'use = "local"\nlimit = 1\n[implement.tools]')
        )
        outcome = await host.reload()
        assert outcome.kind == "refused"
        assert "limit" in outcome.problems[0]


async def test_t_84_a_change_of_a_process_row_says_restart_and_does_nothing_else(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    async with Host.open(path) as host:
        path.write_text(BASE.replace('use = "memory"', 'use = "sqlite"\npath = "j.db"'))
        outcome = await host.reload()
        assert outcome.kind == "restart"
        assert host.generation == 1
        assert not (tmp_path / "j.db").exists()


async def test_ke_006_one_answer_each_after_several_reloads(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    async with Host.open(path) as host:
        for number in (1, 2, 3):
            (tools / "ping.py").write_text(PING.format(answer=number))
            assert (await host.reload()).kind == "published"
            async with turn(host) as t:
                assert outcome_text(await t.call("ping", {})) == str(number)


async def test_a_running_turn_keeps_its_generation_over_a_reload(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ping.py").write_text(PING.format(answer="old"))
    async with Host.open(path) as host, turn(host) as t:
        (tools / "ping.py").write_text(PING.format(answer="new"))
        assert (await host.reload()).generation == 2
        assert t.generation == 1
        assert outcome_text(await t.call("ping", {})) == "old"
        async with turn(host, session="s2") as other:
            assert outcome_text(await other.call("ping", {})) == "new"


async def test_a_call_that_arrives_after_the_drain_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    path = deployment(tmp_path, BASE.replace('drain = "5s"', 'drain = "50ms"'))
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ping.py").write_text(PING.format(answer="old"))
    asked = Yes()
    async with Host.open(path) as host:
        async with turn(host, approval=asked) as t:
            (old,) = host.living()
            (tools / "ping.py").write_text(PING.format(answer="new"))
            await host.reload()
            await old.gone.wait()
            with pytest.raises((TurnEnded, LeaseInvalid)):
                await t.call("shell", {"command": "true"})
        assert asked.asked == []
        closed = [
            entry.record for entry in await host.journal.read(t.id) if entry.record.kind == "turn_closed"
        ]
        assert [record.how for record in closed if record.kind == "turn_closed"] == ["drained"]


async def until(outcomes: list[ReloadOutcome], wanted: Callable[[ReloadOutcome], bool]) -> ReloadOutcome:
    with anyio.fail_after(20):
        while True:
            for outcome in outcomes:
                if wanted(outcome):
                    return outcome
            await anyio.sleep(0.01)


async def test_t_80_t_83_watching_a_burst_is_one_reload_and_new_files_are_found(tmp_path: Path) -> None:
    path = deployment(tmp_path)
    outcomes: list[ReloadOutcome] = []
    async with Host.open(path, reload=True) as host:
        host.subscribe(outcomes.append)
        (tmp_path / "tools").mkdir()
        for number in range(5):
            (tmp_path / "tools" / f"ping{number}.py").write_text(
                PING.format(answer=number).replace("ping", f"ping{number}")
            )
        await until(
            outcomes, lambda outcome: len([r for r in outcome.rebuilt if r.startswith("tools/")]) == 5
        )
        (tmp_path / "tools" / "ping0.py").write_text("broken(")
        refused = await until(outcomes, lambda outcome: outcome.kind == "refused")
        assert "ping0.py" in refused.problems[0]
        (tmp_path / "tools" / "ping0.py").unlink()
        last = await until(outcomes, lambda outcome: "tools/ping0.py" in outcome.removed)
        assert last.kind == "published"


async def test_stop_is_idempotent_and_closes_admission(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host:
        first = await host.stop()
        assert await host.stop() is first
        assert first.errors == ()
        with pytest.raises(AdmissionClosed):
            async with turn(host):
                pass


async def test_realms_give_two_agents_different_implementers_of_one_key(tmp_path: Path) -> None:
    text = BASE + '[agents.reviewer]\nworkspace = "."\n[agents.reviewer.implement.exec]\ntimeout = "7s"\n'
    async with Host.open(deployment(tmp_path, text)) as host:
        seen: dict[str, str] = {}
        for agent in ("default", "reviewer"):
            async with host.turns.open(agent, session="s", access=ACCESS, approval=Yes()) as t:
                outcome = await t.call("shell", {"command": "true"})
                assert isinstance(outcome, Completed)
                assert isinstance(outcome.value, dict)
                seen[agent] = str(outcome.value["limits"])
                assert [tool.name for tool in t.tools].count("shell") == 1
        assert "'timeout': 7.0" in seen["reviewer"]
        assert seen["default"] != seen["reviewer"]


async def test_the_record_of_the_host_itself_is_kept(tmp_path: Path) -> None:
    async with Host.open(deployment(tmp_path)) as host:
        topics = [
            entry.record.topic
            async for entry in host.journal.query(JournalQuery())
            if entry.record.kind == "noted"
        ]
        assert "generation.published" in topics
