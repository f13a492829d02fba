"""Who may, who is asked, and what an answer holds for."""

from __future__ import annotations

import anyio
from pydantic import JsonValue

from seam.tools_def._context import CallContext
from seam.tools_def._effects import effects
from seam.tools_def._hooks import CallInfo
from seam.tools_def._outcome import Completed, Outcome, Refused
from seam.tools_def._permissions import Decision
from seam.tools_def._ports import ApprovalAnswer, ApprovalRequest, Approve, Deny, Edit
from seam.tools_def._records import CallSettled
from seam.tools_def._services import ToolSchema, ToolService
from seam.tools_def.conformance._check import CheckList, expect
from seam.tools_def.conformance._tools_subject import (
    PATIENCE,
    Deed,
    HeldLease,
    Person,
    Rules,
    ToolsSubject,
    registered,
    scene,
)

policy_checks: CheckList[ToolsSubject] = CheckList([])


@policy_checks("every deny is evaluated before anybody is asked; an ask hides none (T-24)")
async def denies_come_before_questions(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.person = Person(Approve(by="ann"))
        stage.hooks.before.append(lambda info: Decision(verdict="ask", reason="the hook asks"))
        stage.rules = Rules(Decision(verdict="deny", reason="the rules forbid it"))
        deed = Deed()
        turn = await stage.open(deed)
        outcome = await turn.call("deed", {})
        expect(isinstance(outcome, Refused), f"a denied call ended as {outcome.kind}")
        expect("the rules forbid it" in getattr(outcome, "reason", ""), "the refusal does not say why")
        expect(not stage.person.requests, "a person was asked about what is denied")
        expect(not deed.done, "a denied tool ran")
        await turn.close()


@policy_checks("one question, with all reasons (T-25)")
async def one_question_with_all_reasons(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.person = Person(Approve(by="ann"))
        stage.hooks.before.append(lambda info: Decision(verdict="ask", reason="the hook asks"))
        stage.rules = Rules(Decision(verdict="ask", reason="the rules ask"))
        deed = Deed()
        turn = await stage.open(deed)
        await turn.call("deed", {})
        expect(len(stage.person.requests) == 1, f"asked {len(stage.person.requests)} times")
        reasons = stage.person.requests[0].reasons
        expect("the hook asks" in reasons and "the rules ask" in reasons, f"the reasons are {reasons}")
        expect(len(reasons) >= 3, f"the risk of the tool itself is not among the reasons: {reasons}")
        expect(len(deed.done) == 1, "an approved tool did not run once")
        await turn.close()


@policy_checks("unattended and approval needed is refused, and the tool is never called (T-26, T-27)")
async def unattended_is_refused(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        deed = Deed()
        turn = await stage.open(deed)
        outcome = await turn.call("deed", {})
        expect(isinstance(outcome, Refused), f"with nobody to ask, a risky call ended as {outcome.kind}")
        expect(not deed.done, "the tool ran without consent")
        await turn.close()


@policy_checks("an allow by policy waives `on-risk`, never `always`")
async def always_is_always(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.rules = Rules(Decision(verdict="allow", reason="fine"))
        risky, strict = Deed("risky"), Deed("strict", requires_approval="always")
        turn = await stage.open(risky, strict)
        expect((await turn.call("risky", {})).kind == "completed", "an allow did not waive on-risk")
        expect((await turn.call("strict", {})).kind == "refused", "an allow waived `always`")
        expect(not strict.done, "a tool that always needs an approval ran without one")
        await turn.close()


@policy_checks("a policy that raises means refused, and the call is settled (T-28)")
async def broken_policies_refuse(subject: ToolsSubject) -> None:
    def broken(info: CallInfo) -> Decision | None:
        raise RuntimeError("the hook is broken")

    for place in ("rules", "hook"):
        async with scene(subject) as stage:
            stage.rules = Rules()
            stage.rules.broken = place == "rules"
            if place == "hook":
                stage.hooks.before.append(broken)
            deed = Deed(effects=effects())
            turn = await stage.open(deed)
            outcome = await turn.call("deed", {}, call="c1")
            expect(isinstance(outcome, Refused), f"with broken {place} a call ended as {outcome.kind}")
            expect(not deed.done, f"with broken {place} the tool ran")
            expect((await stage.kinds(turn, "c1"))[-1:] == ["settled"], "the call was not settled")
            await turn.close()


@policy_checks("a deny of one hook cannot be undone by another (T-50)")
async def denies_stay(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.hooks.before.append(lambda info: Decision(verdict="deny", reason="no"))
        stage.hooks.before.append(lambda info: Decision(verdict="allow", reason="yes"))
        deed = Deed(effects=effects())
        turn = await stage.open(deed)
        expect((await turn.call("deed", {})).kind == "refused", "a later allow undid a deny")
        expect(not deed.done, "a denied tool ran")
        await turn.close()


@policy_checks(
    "consent holds for the digest that was asked about; what is decided otherwise is asked again (T-31, T-33)"
)
async def consent_is_for_a_digest(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.person = Person(*[Approve(by="ann", grant="session")] * 4)
        deed = Deed(subject={"workdir": "/a"})
        turn = await stage.open(deed)
        await turn.call("deed", {"text": "x"})
        await turn.call("deed", {"text": "x"})
        expect(len(stage.person.requests) == 1, "a granted digest was asked about again")
        await turn.call("deed", {"text": "y"})
        expect(len(stage.person.requests) == 2, "changed arguments were not asked about")
        deed.subject = {"workdir": "/b"}
        await turn.call("deed", {"text": "x"})
        expect(
            len(stage.person.requests) == 3,
            "a changed subject (workdir, environment, ...) was not asked about",
        )
        await turn.close()


@policy_checks("a yes once is used once; a person's no is remembered for the digest in the turn (T-33)")
async def once_is_once(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.person = Person(Approve(by="ann"), Deny(by="ann", reason="no"))
        deed = Deed()
        turn = await stage.open(deed)
        for _ in range(3):
            await turn.call("deed", {})
        expect(len(stage.person.requests) == 2, f"asked {len(stage.person.requests)} times about the same")
        expect(len(deed.done) == 1, f"ran {len(deed.done)} times on one yes")
        await turn.close()


@policy_checks("an edited approval runs the edited arguments (T-32)")
async def edits_run_what_was_edited(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.person = Person(Edit(by="ann", arguments={"text": "safe"}))
        deed = Deed()
        turn = await stage.open(deed)
        await turn.call("deed", {"text": "risky"})
        expect(deed.done == ["safe"], f"after an edit the tool did {deed.done}")
        await turn.close()


class _Retiring(Person):
    def __init__(self, lease: HeldLease) -> None:
        super().__init__()
        self._lease = lease

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self._lease.retired = True
        return Approve(by="ann")


@policy_checks("the generation is checked again after the answer, and before anybody is asked (T-30)")
async def the_generation_is_checked_again(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        stage.person = _Retiring(stage.lease)
        deed = Deed()
        turn = await stage.open(deed)
        outcome = await turn.call("deed", {})
        expect(
            isinstance(outcome, Refused) and not deed.done,
            f"on a retired generation a call ended as {outcome!r}",
        )
        person = stage.person = Person()
        outcome = await turn.call("deed", {})
        expect(isinstance(outcome, Refused) and not person.requests, "a late call was asked about")
        await turn.close()


@policy_checks("a call that is cancelled while a question is open never starts the tool (T-29, PI-014)")
async def late_answers_start_nothing(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        person = stage.person = Person()
        deed = Deed()
        turn = await stage.open(deed)
        returned: list[Outcome] = []

        async def call() -> None:
            try:
                returned.append(await turn.call("deed", {}, call="c1"))
            finally:
                person.asked.set()  # one who asks nobody is not waited for

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as callers:
                callers.start_soon(call)
                await person.asked.wait()
                callers.cancel_scope.cancel()
        settled = (await stage.records(turn, "c1"))[-1]
        expect(isinstance(settled, CallSettled) and not settled.ran, f"the last record is {settled!r}")
        expect(
            getattr(settled, "outcome", Completed()).kind == "cancelled", "it is recorded as something else"
        )
        expect(not deed.done and not returned, "the tool ran, or the cancellation was swallowed")
        await turn.close()


class _Claims(ToolService):
    id = "stranger"
    description = "claims to be harmless"

    def __init__(self) -> None:
        self.executed = 0

    async def schema(self, owner: str) -> list[ToolSchema]:
        return [
            ToolSchema(
                name="read",
                description="Only reads, honestly.",
                parameters={"type": "object"},
                effects=effects("reads"),
                requires_approval="never",
            )
        ]

    async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002
        self.executed += 1
        return Completed()


@policy_checks("the claims of a foreign tool are not believed unless its row trusts it (T-11)")
async def strangers_are_asked_about(subject: ToolsSubject) -> None:
    async with scene(subject) as stage:
        service = _Claims()
        turn = await stage.open(services=[registered(service)])
        outcome = await turn.call("read", {})
        expect(isinstance(outcome, Refused), f"a stranger's tool ended as {outcome.kind} with nobody asked")
        expect(not service.executed, "a stranger's tool was called with nobody asked")
        await turn.close()
