"""The fold: who gets what, and what rejects a candidate."""

from __future__ import annotations

from typing import cast

import anyio
import pytest
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from tools_runtime_fakes import DEFAULT, Stage, offered, registered, staged
from tools_runtime_services import Library, Provider, schema

from seam.tools_def import (
    GLOBAL,
    Agent,
    CallContext,
    Catalogue,
    NoteSource,
    ProjectionProblem,
    ProjectionRejected,
    Refused,
    Registered,
    ResolvedCall,
    SeamIntegration,
    Tool,
    ToolResult,
    ToolSchema,
    ToolSource,
    UnknownAgent,
    Visibility,
    effects,
    tool,
)

pytestmark = pytest.mark.anyio

REVIEWER = Agent(name="reviewer", workspace="/ws")
BOTH = (DEFAULT, REVIEWER)


def named(name: str, **changes: object) -> Tool:
    """A tool that does nothing."""

    class Nothing(BaseModel):
        pass

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return None

    base: dict[str, object] = {"description": f"Does {name}.", "effects": effects()}
    return Tool(name=name, parameters=Nothing, run=run, **(base | changes))  # pyright: ignore[reportArgumentType]


def names(catalogue: Catalogue, agent: str = "default") -> list[str]:
    return [descriptor.name for descriptor in catalogue.tools(agent)]


async def rejected(
    stage: Stage, *tools: Tool | ToolSource, services: tuple[Registered, ...] = ()
) -> tuple[ProjectionProblem, ...]:
    with pytest.raises(ProjectionRejected) as caught:
        await stage.project(*tools, services=services)
    problems = cast("tuple[ProjectionProblem, ...]", caught.value.facts["problems"])
    for problem in problems:
        assert problem.problem in str(caught.value)
    return problems


async def test_t_01_a_global_provider_is_seen_by_every_agent_an_agents_by_that_agent_only() -> None:
    async with staged() as stage:
        stage.agents = BOTH
        catalogue = await stage.project(
            named("shared"),
            offered(named("own"), owner="reviewer")[0],
            services=[
                registered(Provider("everywhere", schema("one"))),
                registered(Provider("review", schema("two")), owner="reviewer"),
                registered(Library("books", "guide"), owner="reviewer"),
            ],
        )
        assert names(catalogue) == ["shared", "one"]
        assert names(catalogue, "reviewer") == ["shared", "own", "one", "two"]
        assert [skill.id for skill in catalogue.skills("reviewer")] == ["guide"]
        assert catalogue.skills("default") == ()
        assert catalogue.digest("default") != catalogue.digest("reviewer")
        with pytest.raises(UnknownAgent, match="no agent 'global'; it has default, reviewer"):
            catalogue.tools(GLOBAL)


async def test_t_02_an_agents_provider_replaces_the_global_one_of_the_same_id_in_its_place() -> None:
    async with staged() as stage:
        stage.agents = BOTH
        catalogue = await stage.project(
            services=[
                registered(Provider("a", schema("first"))),
                registered(Provider("git", schema("log"))),
                registered(Provider("z", schema("last"))),
                registered(Provider("git", schema("log"), schema("blame")), owner="reviewer"),
            ],
        )
        assert names(catalogue) == ["first", "log", "last"]
        assert names(catalogue, "reviewer") == ["first", "log", "blame", "last"]
        turn = await stage.open(catalogue, agent=REVIEWER)
        refused = await turn.call("log", {})
        assert isinstance(refused, Refused)  # unknown effects, nobody to ask: but it was found
        await turn.close()


async def test_t_02_the_same_id_twice_for_one_owner_is_refused_naming_id_owner_and_both_rows() -> None:
    async with staged() as stage:
        services = (
            registered(Provider("git", schema("log")), source="plugin:consume.one"),
            registered(Provider("git", schema("blame")), source="plugin:consume.two"),
        )
        (problem,) = await rejected(stage, services=services)
        assert problem.source == "plugin:consume.one and plugin:consume.two"
        assert "'git'" in problem.problem
        assert "'global'" in problem.problem


def test_t_04_there_is_no_way_to_execute_on_the_integration() -> None:
    public = {name for name in dir(SeamIntegration) if not name.startswith("_")}
    assert public == {"register_tool_service", "register_skill_service", "service_key"}


async def test_t_79_a_catalogue_has_no_mutators() -> None:
    async with staged() as stage:
        catalogue = await stage.project(named("plain"), services=[registered(Provider("git", schema("log")))])
        before = catalogue.digest("default")
        for descriptor in catalogue.tools("default"):
            parameters = cast("dict[str, JsonValue]", descriptor.parameters)
            with pytest.raises(TypeError, match="cannot be changed"):
                parameters["title"] = "other"
            with pytest.raises(TypeError, match="cannot be changed"):
                parameters.update(title="other")
            with pytest.raises(ValidationError, match="frozen"):
                descriptor.name = "other"  # pyright: ignore[reportAttributeAccessIssue] - that is what is tested
        assert len(catalogue.tools("default")) > 1
        assert catalogue.digest("default") == before


async def test_t_07_schemas_are_read_once_and_later_answers_change_nothing() -> None:
    parameters: dict[str, JsonValue] = {"type": "object", "properties": {"a": {"type": "string"}}}
    stated = ToolSchema.model_construct(
        name="log",
        description="Logs.",
        parameters=parameters,
        output=None,
        effects=None,
        requires_approval=None,
        visibility=Visibility(),
        concurrency="exclusive",
        deadline=None,
        notes=(),
    )
    provider = Provider("git")
    provider.stated = [stated]
    library = Library("books", "guide")
    async with staged() as stage:
        catalogue = await stage.project(services=[registered(provider), registered(library)])
        before = catalogue.tools("default")[0].model_dump()
        digest = catalogue.digest("default")
        parameters["properties"] = {}
        provider.stated = [schema("other")]
        library.stated = []
        turn = await stage.open(catalogue)
        assert [item.name for item in turn.tools] == ["log"]
        assert [item.id for item in turn.skills] == ["guide"]
        await turn.call("log", {"a": 1})
        await turn.close()
        assert catalogue.tools("default")[0].model_dump() == before
        assert catalogue.digest("default") == digest
        assert provider.schema_reads == 1
        with pytest.raises(TypeError, match="cannot be changed"):
            catalogue.tools("default")[0].parameters["type"] = "array"  # pyright: ignore[reportIndexIssue, reportOptionalSubscript, reportCallIssue, reportArgumentType]


@pytest.mark.parametrize(
    ("tools", "services", "both"),
    [
        ((), (("git", "log", GLOBAL), ("svn", "log", GLOBAL)), ("provider:git", "provider:svn")),
        (("log",), (("git", "log", GLOBAL),), ("plugin:p", "provider:git")),
        (("Log",), (("git", "lOG", GLOBAL),), ("plugin:p", "provider:git")),
        (("log",), (("git", "log", "reviewer"),), ("plugin:p", "provider:git")),
        (("log", "LOG"), (), ("plugin:p", "plugin:p")),
    ],
)
async def test_t_08_a_name_seen_twice_rejects_the_candidate_and_names_both(
    tools: tuple[str, ...], services: tuple[tuple[str, str, str], ...], both: tuple[str, str]
) -> None:
    async with staged() as stage:
        stage.agents = BOTH
        problems = await rejected(
            stage,
            *(named(name) for name in tools),
            services=tuple(
                registered(Provider(name, schema(offer)), owner=owner) for name, offer, owner in services
            ),
        )
        (problem,) = problems
        first, second = problem.source.split(" and ")
        assert first.startswith(both[0])
        assert second.startswith(both[1])
        assert "log" in problem.problem.casefold()


async def test_t_08_a_clash_counts_before_access_filters_and_with_skills() -> None:
    nowhere = Visibility(platforms=frozenset({"nowhere"}), hidden=True)
    async with staged() as stage:
        (problem,) = await rejected(
            stage, named("guide", visibility=nowhere), services=(registered(Library("books", "guide")),)
        )
        assert problem.source == "plugin:p and provider:books (plugin:outside)"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "blank"),
        ("  ", "blank"),
        ("1st", "not a legal name"),
        ("a b", "not a legal name"),
        ("a.b", "not a legal name"),
        ("é", "not a legal name"),
        ("a" * 65, "not a legal name"),
        ("log\n", "not a legal name"),
        ("seam", "reserved"),
        ("Seam_call", "reserved"),
    ],
)
async def test_t_08_blank_illegal_and_reserved_names_are_errors(name: str, words: str) -> None:
    async with staged() as stage:
        (problem,) = await rejected(stage, services=(registered(Provider("git", schema(name))),))
        assert problem.source == "provider:git (plugin:outside)"
        assert words in problem.problem
        (problem,) = await rejected(stage, services=(registered(Library("books", name)),))
        assert words in problem.problem


def deep(levels: int) -> JsonValue:
    made: JsonValue = {"type": "object"}
    for _ in range(levels):
        made = {"type": "object", "properties": {"x": made}}
    return made


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"type": "objekt"}, "must be a schema with"),
        ({"type": "array"}, "must be a schema with"),
        ({}, "must be a schema with"),
        ("a text", "not a JSON Schema object"),
        (None, "not a JSON Schema object"),
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "not a valid JSON Schema at properties.a.type"),
        ({"type": "object", "required": "a"}, "not a valid JSON Schema at required"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.org/x"}}}, "only references within"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}, "which is not in it"),
        ({"type": "object", "$ref": "#"}, "refers to itself without end"),
        ({"type": "object", "patternProperties": {"(": {}}}, "not a valid JSON Schema"),
        ({"type": "object", "description": "d" * 300_000}, "at most 262144"),
        (deep(55), "nested deeper than 100 levels"),
    ],
)  # fmt: skip
async def test_t_09_schemas_that_are_not_json_schema_reject_the_candidate(
    parameters: JsonValue, words: str
) -> None:
    async with staged() as stage:
        (problem,) = await rejected(
            stage, services=(registered(Provider("git", schema("log", parameters=parameters))),)
        )
        assert "tool 'log': parameters" in problem.problem
        assert words in problem.problem


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"tree": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"items": {"$ref": "#/$defs/t"}}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"a": {}}},
        {"$schema": "https://nobody.example/knows", "type": "object"},
        deep(40),
    ],
    ids=["recursive", "draft 7", "unknown dialect", "deep"],
)  # fmt: skip
async def test_odd_but_valid_schemas_are_taken(parameters: JsonValue) -> None:
    async with staged() as stage:
        catalogue = await stage.project(
            services=[registered(Provider("git", schema("log", parameters=parameters)))]
        )
        assert catalogue.tools("default")[0].parameters == parameters


async def test_t_10_undeclared_approval_means_on_risk_and_undeclared_source_the_provider() -> None:
    async with staged() as stage:
        catalogue = await stage.project(
            named("mine"), services=[registered(Provider("git", schema("log")))], notes=[]
        )
        mine, log = catalogue.tools("default")
        assert (mine.requires_approval, mine.source) == ("on-risk", "plugin:p")
        assert (log.requires_approval, log.source) == ("on-risk", "provider:git")


async def test_t_11_a_foreign_tool_is_asked_about_whatever_it_calls_itself() -> None:
    claims = [
        schema("read", effects=effects("reads"), requires_approval="never"),
        schema("web_search", effects=effects(), requires_approval="never"),
        schema("safe", requires_approval="always"),
    ]
    provider = Provider("stranger", *claims)
    async with staged() as stage, stage.turn(services=[registered(provider)]) as turn:
        for name in ("read", "web_search", "safe"):
            outcome = await turn.call(name, {})
            assert isinstance(outcome, Refused)
            assert outcome.policy == "approval"
        assert provider.executed == []
    provider.trusted = True
    async with staged() as stage, stage.turn(services=[registered(provider)]) as turn:
        assert (await turn.call("read", {})).kind == "completed"
        assert (await turn.call("web_search", {})).kind == "completed"
        assert (await turn.call("safe", {})).kind == "refused"


class Stubborn(Provider):
    """Ignores its cancellation until it is let go."""

    def __init__(self) -> None:
        super().__init__("stubborn")
        self.let_go = anyio.Event()

    async def schema(self, owner: str) -> list[ToolSchema]:
        with anyio.CancelScope(shield=True):
            await self.let_go.wait()
        return []


async def test_t_12_a_slow_or_raising_provider_rejects_the_candidate() -> None:
    slow = Provider("slow", schema("a"))
    slow.delay = 60
    raising = Provider("raising", schema("b"))
    raising.broken = ConnectionError("no route")
    wrong = Provider("wrong")
    wrong.stated = {"not": "a list"}
    mixed = Provider("mixed")
    mixed.stated = [schema("c"), "text"]
    stubborn = Stubborn()
    async with staged(projection_timeout=0.05, grace=0.05) as stage:
        problems = await rejected(
            stage,
            named("fine"),
            services=tuple(registered(item) for item in (slow, raising, wrong, mixed, stubborn)),
        )
        stubborn.let_go.set()
    found = {problem.source.split(" ")[0]: problem.problem for problem in problems}
    assert found == {
        "provider:slow": "did not end within 0.05 s",
        "provider:raising": "raised ConnectionError: no route",
        "provider:wrong": "stated a dict instead of a list of ToolSchema",
        "provider:mixed": "stated str in a list of ToolSchema",
        "provider:stubborn": "did not end within 0.05 s, ignores its cancellation and was left behind",
    }


async def test_t_12_an_optional_provider_is_left_out_with_id_and_reason_and_the_others_work() -> None:
    away = Provider("away", schema("a"))
    away.broken = ConnectionError("no route")
    away.optional = True
    bad = Library("bad", "no good")
    bad.optional = True
    async with staged() as stage:
        catalogue = await stage.project(
            named("fine"),
            services=[registered(away), registered(bad), registered(Provider("git", schema("log")))],
        )
        assert names(catalogue) == ["fine", "log"]
        left_out = {(item.source, item.optional): item.problem for item in catalogue.left_out}
        assert left_out[("provider:away (plugin:outside)", True)] == "raised ConnectionError: no route"
        assert "'no good' is not a legal name" in left_out[("provider:bad (plugin:outside)", True)]


async def test_t_12_an_optional_agents_provider_that_is_away_leaves_the_global_one() -> None:
    away = Provider("git", schema("blame"))
    away.broken = ConnectionError("no route")
    away.optional = True
    async with staged() as stage:
        stage.agents = BOTH
        catalogue = await stage.project(
            services=[registered(Provider("git", schema("log"))), registered(away, owner="reviewer")]
        )
        assert names(catalogue, "reviewer") == ["log"]


async def test_what_is_offered_to_nobody_is_an_error() -> None:
    async with staged() as stage:
        with pytest.raises(ProjectionRejected) as caught:
            await stage.project(
                offered(named("a"), owner="ghost")[0],
                services=[registered(Provider("git", schema("log")), owner="spectre")],
                notes=[NoteSource(text="boo", source="plugin:p", owner="phantom")],
            )
        for ghost in ("ghost", "spectre", "phantom"):
            assert f"'{ghost}'" in str(caught.value)


async def test_a_parameter_model_that_has_no_schema_is_named() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        event: anyio.Event

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        return None

    async with staged() as stage:
        (problem,) = await rejected(stage, Tool(name="odd", description="Odd.", parameters=Odd, run=run))
        assert "tool 'odd' cannot be described" in problem.problem


async def test_every_problem_of_the_offers_is_told_at_once() -> None:
    async with staged() as stage:
        problems = await rejected(
            stage,
            named("fine"),
            services=(
                registered(Provider("git", schema("log"), schema("bad name"))),
                registered(Provider("svn", schema("x", parameters={"type": 1}))),
            ),
        )
        assert len(problems) == 2


@tool(effects=effects("reads"))
async def hello() -> str:
    """Say hello."""
    return "hello"


async def test_a_second_projection_binds_only_what_is_new_and_equal_offers_have_equal_digests() -> None:
    async with staged() as stage:
        first = await stage.project(hello, named("other"))
        second = await stage.project(hello, named("new"))
        assert second.tools("default")[0] is first.tools("default")[0]
        third = await stage.project(hello, named("other"))
        assert third.digest("default") == first.digest("default")
        assert third.digest("default") != second.digest("default")
