"""Questions that wait for somebody elsewhere."""

from __future__ import annotations

import anyio
import pytest

from seam.tools_def import (
    Access,
    ApprovalAlreadyDecided,
    ApprovalAnswer,
    ApprovalDesk,
    ApprovalRequest,
    Approve,
    Deny,
    Owner,
    ResolvedCall,
    UnknownApproval,
    effects,
)

pytestmark = pytest.mark.anyio


def request(approval: str = "a1") -> ApprovalRequest:
    return ApprovalRequest(
        approval=approval,
        call="c1",
        resolved=ResolvedCall(
            tool="t", descriptor="d", arguments={}, effects=effects("writes"), deadline=1, summary="s"
        ),
        reasons=("it writes",),
        owner=Owner(agent="default", session="s1"),
        access=Access(principal="ann", platform="mcp"),
    )


async def test_pi_018_of_two_approvers_one_wins_and_the_other_is_told_who() -> None:
    asked: list[str] = []
    desk = ApprovalDesk(lambda question: asked.append(question.approval))
    answers: list[ApprovalAnswer] = []
    told: list[str] = []

    async def wait() -> None:
        answers.append(await desk.ask(request()))

    async def decide(answer: ApprovalAnswer) -> None:
        try:
            desk.answer("a1", answer)
        except ApprovalAlreadyDecided as late:
            told.append(f"{late.facts['answer']} {late.facts['by']}: {late}")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert [question.approval for question in desk.pending] == asked == ["a1"]
        async with anyio.create_task_group() as approvers:
            approvers.start_soon(decide, Approve(by="ann"))
            approvers.start_soon(decide, Deny(by="bob"))
    assert len(answers) == len(told) == 1
    winner, said = ("ann", "approved") if isinstance(answers[0], Approve) else ("bob", "denied")
    assert f"already decided: {said} by {winner}" in told[0]
    assert desk.pending == ()


async def test_pi_014_a_late_answer_is_told_that_nobody_waits() -> None:
    desk = ApprovalDesk(lambda question: None)
    with anyio.CancelScope() as scope:

        async def leave() -> None:
            await anyio.wait_all_tasks_blocked()
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave)
            await desk.ask(request())
    assert desk.pending == ()
    with pytest.raises(ApprovalAlreadyDecided, match=r"already over \(cancelled\).*starts nothing") as late:
        desk.answer("a1", Approve(by="ann"))
    assert late.value.facts["answer"] == "cancelled"


async def test_an_answer_to_no_question_is_refused() -> None:
    with pytest.raises(UnknownApproval, match="no open question 'nothing'"):
        ApprovalDesk(lambda question: None).answer("nothing", Deny(by="bob"))


async def test_a_notification_that_fails_leaves_no_open_question() -> None:
    def broken(question: ApprovalRequest) -> None:
        raise ConnectionError("the chat is gone")

    desk = ApprovalDesk(broken)
    with pytest.raises(ConnectionError):
        await desk.ask(request())
    assert desk.pending == ()


async def test_only_so_many_decided_questions_are_remembered() -> None:
    def at_once(question: ApprovalRequest) -> None:
        desk.answer(question.approval, Approve(by="ann"))

    desk = ApprovalDesk(at_once, remembered=2)
    for number in range(3):
        await desk.ask(request(f"a{number}"))
    with pytest.raises(UnknownApproval):
        desk.answer("a0", Approve(by="ann"))
    with pytest.raises(ApprovalAlreadyDecided):
        desk.answer("a2", Approve(by="ann"))
