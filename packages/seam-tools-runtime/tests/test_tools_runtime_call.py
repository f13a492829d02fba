"""The call: what is recorded, and how it can end."""

from __future__ import annotations

import anyio
import pytest
from pydantic import BaseModel, JsonValue, SecretStr
from tools_runtime_fakes import ScriptedPermissions, ScriptedPort, registered, staged

from seam.tools_def import (
    ApprovalAnswered,
    Approve,
    CallContext,
    CallDecided,
    CallRefusal,
    CallRequested,
    CallSettled,
    CallStarted,
    Cancelled,
    CapabilityUnavailable,
    Completed,
    Decision,
    Failed,
    JournalQuery,
    Noted,
    Outcome,
    Refused,
    Resolution,
    ResolvedCall,
    SettledCall,
    Text,
    Tool,
    ToolResult,
    ToolSchema,
    ToolsError,
    ToolService,
    Unavailable,
    effects,
    tool,
)

pytestmark = pytest.mark.anyio


@tool(effects=effects("reads"), concurrency="parallel")
async def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


async def test_a_call_gives_its_value_and_its_text() -> None:
    async with staged() as stage, stage.turn(add) as turn:
        outcome = await turn.call("add", {"a": 2})
        assert outcome == Completed(value=3, content=(Text(text="3"),))


async def test_t_40_the_journal_has_requested_decided_started_settled_in_order() -> None:
    async with staged() as stage, stage.turn(add) as turn:
        await turn.call("add", {"a": 2})
        requested, decided, started, settled = await stage.records("call-1")
        (descriptor,) = turn.tools
        assert isinstance(requested, CallRequested)
        assert (requested.tool, requested.arguments) == ("add", {"a": 2})
        assert (requested.descriptor, requested.source) == (descriptor.digest, "plugin:p")
        assert isinstance(decided, CallDecided)
        assert (decided.verdict, decided.by) == ("allow", "effects")
        assert isinstance(started, CallStarted)
        assert started.allowed_by == "effects"
        assert started.digest == decided.digest
        assert started.deadline == 120
        assert isinstance(settled, CallSettled)
        assert settled.ran
        assert settled.outcome.kind == "completed"
        assert [told.outcome for told in stage.emitter.settled] == [settled.outcome]


@tool(effects=effects("writes"))
async def write() -> None:
    """Writes."""


@tool(effects=effects())
async def broken() -> None:
    """Raises."""
    raise ZeroDivisionError("nothing to divide")


@tool(effects=effects())
async def stuck() -> None:
    """Never ends by itself."""
    await anyio.sleep_forever()


async def test_t_40_every_way_a_call_can_end_is_recorded() -> None:
    ways: dict[str, list[str]] = {}
    calls: list[tuple[str, JsonValue]] = [
        ("add", {"a": 1}),
        ("nothing", {}),
        ("add", {"a": "x"}),
        ("write", {}),
        ("broken", {}),
    ]
    async with staged() as stage, stage.turn(add, write, broken, stuck) as turn:
        for name, arguments in calls:
            await turn.call(name, arguments)
            call = f"call-{len(ways) + 1}"
            ways[call] = await stage.kinds(call)
        with anyio.move_on_after(0.05):
            await turn.call("stuck", {})
        ways["call-6"] = await stage.kinds("call-6")
        stage.lease.retired = "generation 7 was retired"
        await turn.call("add", {"a": 1})
        ways["call-7"] = await stage.kinds("call-7")
    assert list(ways.values()) == [
        ["requested", "decided", "started", "settled"],  # completed
        ["requested", "decided", "settled"],  # unknown
        ["requested", "decided", "settled"],  # invalid
        ["requested", "decided", "settled"],  # nobody to ask
        ["requested", "decided", "started", "settled"],  # raised
        ["requested", "decided", "started", "settled"],  # cancelled
        ["requested", "decided", "settled"],  # retired
    ]


async def test_t_41_a_call_cancelled_before_it_starts_runs_neither_policy_nor_tool() -> None:
    ran: list[str] = []

    @tool(effects=effects())
    async def touch() -> None:
        """Touches."""
        ran.append("tool")

    async with staged() as stage:
        stage.permissions = ScriptedPermissions(Decision(verdict="allow", reason="fine"))
        async with stage.turn(touch) as turn:
            with anyio.CancelScope() as scope:
                scope.cancel()
                await turn.call("touch", {})
            assert scope.cancelled_caught
            assert ran == []
            assert stage.permissions.asked == []
            requested, settled = await stage.records("call-1")
            assert requested.kind == "requested"
            assert isinstance(settled, CallSettled)
            assert isinstance(settled.outcome, Cancelled)
            assert not settled.ran


async def test_t_42_an_unknown_tool_is_refused_and_recorded_as_a_call() -> None:
    async with staged() as stage, stage.turn(add) as turn:
        outcome = await turn.call("Add", {"a": 1})
        assert isinstance(outcome, Refused)
        assert outcome.policy == "visibility"
        assert "'Add'" in outcome.reason
        requested, _, settled = await stage.records("call-1")
        assert isinstance(requested, CallRequested)
        assert requested.descriptor is None
        assert isinstance(settled, CallSettled)
        assert settled.outcome == outcome


class Forward(ToolService):
    """Answers what the test wants, however deep it was raised."""

    id = "forward"
    description = "a provider"
    trusted = True

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.reachable: str | None = None

    async def schema(self, owner: str) -> list[ToolSchema]:
        return [
            ToolSchema(name="fetch", description="Fetches", parameters={"type": "object"}, effects=effects())
        ]

    async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # pyright: ignore[reportReturnType] - wrong ones are what the test is about

    async def available(self) -> str | None:
        return self.reachable


@pytest.mark.parametrize(
    "outcome",
    [
        Completed(value={"a": 1}, content=(Text(text="a"),), success=False),
        Refused(policy="their policy", reason="not today"),
        Cancelled(reason="they stopped it"),
        Failed(code="THEIR_CODE", message="m", retryable="yes"),
        Failed(code="THEIR_CODE", message="m", retryable="no"),
        Unavailable(reason="their server is away"),
    ],
)
async def test_t_46_typed_outcomes_survive_from_the_provider(outcome: Outcome) -> None:
    async with staged() as stage, stage.turn(services=[registered(Forward(outcome))]) as turn:
        assert await turn.call("fetch", {}) == outcome


def nested(error: Exception, *, group: bool = False) -> Exception:
    try:
        try:
            raise error
        except Exception as inner:
            raise OSError("connection lost") from inner
    except OSError as outer:
        return ExceptionGroup("requests", [ValueError("other"), outer]) if group else outer


class Retry(ToolsError):
    code = "TRY_AGAIN"
    retryable = "yes"


@pytest.mark.parametrize("group", [False, True])
async def test_t_47_a_network_refusal_deep_inside_is_a_refusal(group: bool) -> None:
    deep = nested(CallRefusal("egress", "example.org is not on the list"), group=group)
    async with staged() as stage, stage.turn(services=[registered(Forward(deep))]) as turn:
        assert await turn.call("fetch", {}) == Refused(
            policy="egress", reason="example.org is not on the list"
        )


async def test_t_46_what_a_tool_raises_becomes_a_typed_outcome() -> None:
    service = Forward(None)
    async with staged() as stage, stage.turn(services=[registered(service)]) as turn:
        service.answer = nested(CapabilityUnavailable("no shell here", reason="exec"))
        assert await turn.call("fetch", {}) == Unavailable(reason="no shell here")
        service.answer = Retry("the server is busy; call again")
        assert await turn.call("fetch", {}) == Failed(
            code="TRY_AGAIN", message="the server is busy; call again", retryable="yes"
        )
        service.answer = SystemExit(3)
        outcome = await turn.call("fetch", {})
        assert outcome == Failed(code="TOOL_ERROR", message="SystemExit: 3")
        service.reachable = "the server has gone away"
        assert await turn.call("fetch", {}) == Unavailable(reason="the server has gone away")
        last = (await stage.records("call-4"))[-1]
        assert isinstance(last, CallSettled)
        assert not last.ran


class Report(BaseModel):
    """A result."""

    lines: list[str]


async def test_results_of_every_shape_become_outcomes() -> None:
    results: list[object] = []

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return results.pop()  # pyright: ignore[reportReturnType]

    class Nothing(BaseModel):
        pass

    anything = Tool(name="any", description="Any.", parameters=Nothing, run=run, effects=effects())
    async with staged() as stage, stage.turn(anything) as turn:
        for result, expected in (
            (None, Completed()),
            ("text", Completed(value="text", content=(Text(text="text"),))),
            (
                {"b": 1, "a": (1, 2)},
                Completed(value={"a": [1, 2], "b": 1}, content=(Text(text='{"a":[1,2],"b":1}'),)),
            ),
            (Report(lines=["x"]), Completed(value={"lines": ["x"]}, content=(Text(text='{"lines":["x"]}'),))),
            (Completed(value=1, success=False), Completed(value=1, success=False)),
            (Failed(code="OWN", message="own"), Failed(code="OWN", message="own")),
        ):
            results.append(result)
            assert await turn.call("any", {}) == expected


async def test_t_48_a_value_that_is_not_json_is_a_failed_outcome_that_names_the_field() -> None:
    service = Forward(None)
    async with staged() as stage, stage.turn(services=[registered(service)]) as turn:
        for answer, code, place in (
            ({"deep": [1, {"set": {1}}]}, "RESULT_NOT_SERIALISABLE", "$.deep[1].set"),
            (Completed.model_construct(value={"a": float("nan")}), "RESULT_NOT_SERIALISABLE", "value.a"),
            (Completed.model_construct(content=("just text",)), "RESULT_INVALID", "content"),  # pyright: ignore[reportArgumentType]
            (object(), "RESULT_NOT_SERIALISABLE", "object"),
        ):
            service.answer = answer
            outcome = await turn.call("fetch", {})
            assert isinstance(outcome, Failed)
            assert outcome.code == code
            assert place in outcome.message


async def test_t_48_results_are_bounded_as_a_whole_and_the_larger_field_is_named() -> None:
    service = Forward(Completed(value="v" * 600, content=(Text(text="t" * 500),)))
    async with staged(result_bytes=1000) as stage, stage.turn(services=[registered(service)]) as turn:
        outcome = await turn.call("fetch", {})
        assert isinstance(outcome, Failed)
        assert outcome.code == "RESULT_TOO_LARGE"
        assert "1100 bytes, of which `value` takes 600; at most 1000" in outcome.message
        assert sum(len(item.text) for item in outcome.content if isinstance(item, Text)) <= 1000
        service.answer = Failed(code="X", message="m" * 100_000)
        outcome = await turn.call("fetch", {})
        assert isinstance(outcome, Failed)
        assert len(outcome.message) == 4000


async def test_t_48_results_are_frozen_and_cut_off_from_the_tool() -> None:
    mine: dict[str, JsonValue] = {"list": [1]}

    async def observer(told: SettledCall) -> None:
        told.outcome.value["list"] = "changed"  # pyright: ignore[reportIndexIssue, reportOptionalSubscript, reportCallIssue, reportArgumentType]

    service = Forward(Completed(value=mine))
    async with staged() as stage:
        stage.emitter.observers.append(observer)
        async with stage.turn(services=[registered(service)]) as turn:
            outcome = await turn.call("fetch", {})
            mine["list"] = "changed"
            assert outcome.value == {"list": [1]}
            with pytest.raises(TypeError, match="cannot be changed"):
                outcome.value["list"] = "changed"  # pyright: ignore[reportIndexIssue, reportOptionalSubscript, reportCallIssue, reportArgumentType]


async def test_a_value_that_breaks_its_output_schema_is_a_failure() -> None:
    class Nothing(BaseModel):
        pass

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return {"lines": "no list"}

    lying = Tool(
        name="lie", description="Lies.", parameters=Nothing, output=Report, run=run, effects=effects()
    )
    async with staged() as stage, stage.turn(lying) as turn:
        outcome = await turn.call("lie", {})
        assert isinstance(outcome, Failed)
        assert outcome.code == "RESULT_INVALID"
        assert "lines" in outcome.message


async def test_t_45_deadlines_per_tool_and_provider_and_resolution_the_smallest_counts() -> None:
    class Nothing(BaseModel):
        pass

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return resolved.deadline

    async def resolve(parameters: BaseModel, context: CallContext) -> Resolution:
        return Resolution(deadline=50)

    def made(name: str, deadline: float | None, *, own: bool) -> Tool:
        return Tool(
            name=name,
            description="D.",
            parameters=Nothing,
            run=run,
            effects=effects(),
            deadline=deadline,
            resolve=resolve if own else None,
        )

    tools = [
        made("none", None, own=False),
        made("tool", 20, own=False),
        made("both", 20, own=True),
        made("own", None, own=True),
    ]
    async with staged(deadline=30) as stage, stage.turn(*tools) as turn:
        found = [(await turn.call(name, {})).value for name in ("none", "tool", "both", "own")]
        assert found == [30, 20, 20, 50]


async def test_t_45_one_hung_provider_does_not_hold_up_the_rest() -> None:
    class Hung(Forward):
        deadline = 0.05

        async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002
            context.keep({"so": "far"}, [Text(text="half")])
            await anyio.sleep_forever()
            raise AssertionError

    async with staged() as stage, stage.turn(add, services=[registered(Hung(None))]) as turn:
        outcomes: dict[str, Outcome] = {}
        none: JsonValue = {}
        one: JsonValue = {"a": 1}

        async def call(name: str, arguments: JsonValue) -> None:
            outcomes[name] = await turn.call(name, arguments)

        async with anyio.create_task_group() as calls:
            calls.start_soon(call, "fetch", none)
            calls.start_soon(call, "add", one)
        assert outcomes["add"].value == 2
        assert outcomes["fetch"] == Cancelled(
            reason="its deadline of 0.05 s was over",
            deadline=True,
            value={"so": "far"},
            content=(Text(text="half"),),
        )


async def test_progress_and_output_are_handed_on_and_a_sink_that_raises_fails_nothing() -> None:
    @tool(effects=effects())
    async def work(context: CallContext) -> str:
        """Works."""
        context.progress("half", done=1, total=2)
        context.output("line\n", stream="stderr")
        return f"{context.turn} {context.call} {context.owner.session} {context.access.principal}"

    shown: list[str] = []
    async with staged() as stage, stage.turn(work) as turn:
        outcome = await turn.call("work", {}, progress=lambda item: shown.append(f"{item.kind} {item.text}"))
        assert outcome.value == "t1 call-1 s1 ann"
        assert shown == ["progress half", "output line\n"]

        def broken_sink(item: object) -> None:
            raise ConnectionError("the client is gone")

        outcome = await turn.call("work", {}, progress=broken_sink)
        assert isinstance(outcome, Completed)
        notes = [record for record in await stage.records("call-2") if isinstance(record, Noted)]
        assert [(note.topic, "the client is gone" in note.text) for note in notes] == [
            ("progress.error", True)
        ]


async def test_t_95_declared_secrets_are_redacted_before_writing_and_before_people() -> None:
    @tool(effects=effects("network"))
    async def login(user: str, password: SecretStr) -> str:
        """Logs in."""
        return password.get_secret_value()[::-1]

    async with staged() as stage:
        stage.approval = port = ScriptedPort(Approve(by="ann"))
        async with stage.turn(login) as turn:
            outcome = await turn.call("login", {"user": "ann", "password": "hunter2"})
            assert outcome.value == "2retnuh"
            text = "\n".join(record.model_dump_json() for record in await stage.records())
            assert "hunter2" not in text
            assert "[redacted]" in text
            assert "hunter2" not in port.requests[0].model_dump_json()
    answered = [r for r in await stage.records() if isinstance(r, ApprovalAnswered)]
    assert [item.answer for item in answered] == ["approve"]


async def test_pi_022_parallel_calls_have_exactly_one_start_and_one_end_each() -> None:
    @tool(effects=effects(), concurrency="parallel")
    async def big(number: int) -> str:
        """Gives 100 kB."""
        await anyio.sleep(0)
        return str(number) * (100_000 // len(str(number)))

    async with staged() as stage, stage.turn(big) as turn:

        async def call(number: int) -> None:
            await turn.call("big", {"number": number}, call=f"c{number}")

        async with anyio.create_task_group() as calls:
            for number in range(100):
                calls.start_soon(call, number)
        kinds: dict[str, list[str]] = {}
        for record in await stage.records():
            kinds.setdefault(getattr(record, "call", ""), []).append(record.kind)
        for number in range(100):
            assert kinds[f"c{number}"] == ["requested", "decided", "started", "settled"]
        assert not await stage.journal.verify()
        (summary,) = await stage.journal.turns(JournalQuery())
        assert (summary.calls, summary.unsettled) == (100, ())
