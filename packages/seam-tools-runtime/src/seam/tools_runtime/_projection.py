"""The fold: every offer of a candidate, checked for every agent before any access filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seam.tools_def import (
    GLOBAL,
    ProjectionProblem,
    ProjectionRejected,
    ProjectionRequest,
    Registered,
    ToolSource,
    frozen_json,
)
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._catalogue import RuntimeCatalogue, Shelf, Table
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._names import clashes, name_problem
from seam.tools_runtime._offer import Offer, for_agent, service_key
from seam.tools_runtime._plain_tool import PlainTool
from seam.tools_runtime._problems import LONGEST, cut
from seam.tools_runtime._reading import read_services
from seam.tools_runtime._workers import Workers


class Projector:
    """Makes catalogues. Plain tools that were bound for the last one are taken over: a reload binds only what is new."""

    def __init__(self, workers: Workers, config: RuntimeConfig, maker: object) -> None:
        self._workers = workers
        self._config = config
        self._maker = maker
        self._bound: dict[tuple[int, str], tuple[ToolSource, PlainTool]] = {}

    async def project(self, request: ProjectionRequest) -> RuntimeCatalogue:
        """Raises `ProjectionRejected`, with every problem."""
        read = await read_services(request, self._workers, self._config)
        plain = self._plain(request.tools, request.optional)
        services = [read[place] for place in range(len(request.services))]
        offers = [*plain, *services]
        problems = [
            *(problem for offer in offers for problem in offer.told()),
            *_owner_problems(request),
            *_duplicate_services(request.services),
        ]
        tables = self._tables(request, offers)
        if not any(not problem.optional for problem in problems):  # else names may clash for another reason
            problems += _clash_problems(tables)
        fatal = [problem for problem in problems if not problem.optional]
        if fatal:
            raise ProjectionRejected(
                "the tools and skills of this deployment cannot be offered: "
                + "; ".join(f"{problem.source}: {problem.problem}" for problem in fatal),
                problems=tuple(fatal),
            )
        left_out = tuple(problem for problem in problems if problem.optional)
        shelf = Shelf(self._workers, self._config)
        return RuntimeCatalogue(
            {agent: table for agent, (table, _) in tables.items()}, left_out, self._maker, shelf
        )

    def _plain(self, sources: Sequence[ToolSource], optional: frozenset[str]) -> list[Offer]:
        bound: dict[tuple[int, str], tuple[ToolSource, PlainTool]] = {}
        offers: list[Offer] = []
        for source in sources:
            offer = Offer(
                owner=source.owner,
                source=source.tool.source or source.source,
                origin=source.source,
                optional=source.source in optional,
            )
            key = (id(source.tool), source.source)
            known = self._bound.get(key)
            if known is not None and known[0].tool is source.tool:
                bound[key] = known
                offer.tools = (known[1],)
            else:
                self._bind(source, offer)
                if offer.tools:
                    bound[key] = (source, _only(offer))
            offers.append(offer)
        self._bound = bound
        return offers

    def _bind(self, source: ToolSource, offer: Offer) -> None:
        problem = name_problem(source.tool.name)
        if problem is not None:
            offer.problems.append(f"tool: {problem}")
            return
        try:
            descriptor = source.tool.describe(source.source)
        except (
            Exception
        ) as error:  # pydantic makes no schema of it, or code in its model raised: the tool's defect
            offer.problems.append(
                f"tool {source.tool.name!r} cannot be described: {cut(str(error), LONGEST)}"
            )
            return
        frozen = {
            "parameters": frozen_json(descriptor.parameters),
            "output": frozen_json(descriptor.output),
        }
        offer.tools = (PlainTool(source.tool, descriptor.model_copy(update=frozen)),)

    def _tables(
        self, request: ProjectionRequest, offers: Sequence[Offer]
    ) -> dict[str, tuple[Table, list[tuple[str, str]]]]:
        with_own = (
            {offer.owner for offer in offers} | {note.owner for note in request.notes} | set(request.replaced)
        )
        tables: dict[str, tuple[Table, list[tuple[str, str]]]] = {}
        shared: tuple[Table, list[tuple[str, str]]] | None = None
        for agent in request.agents:
            if agent.name in with_own:
                tables[agent.name] = _table(offers, request, agent.name)
                continue
            shared = shared or _table(offers, request, GLOBAL)
            tables[agent.name] = shared
        return tables


def _only(offer: Offer) -> PlainTool:
    (tool,) = offer.tools
    assert isinstance(tool, PlainTool)
    return tool


def _table(
    offers: Sequence[Offer], request: ProjectionRequest, agent: str
) -> tuple[Table, list[tuple[str, str]]]:
    replaced = request.replaced.get(agent, frozenset())
    dealt = for_agent(offers, agent, GLOBAL, replaced)
    tools: list[BoundTool] = [tool for offer in dealt for tool in offer.tools]
    named = [(tool.descriptor.name, offer.source) for offer in dealt for tool in offer.tools]
    named += [(skill.entry.id, offer.source) for offer in dealt for skill in offer.skills]
    table = Table(
        tuple(tools),
        tuple(skill for offer in dealt for skill in offer.skills),
        tuple(
            note.text
            for note in request.notes
            if note.owner == agent or (note.owner == GLOBAL and note.source not in replaced)
        ),
    )
    return table, named


def _clash_problems(
    tables: dict[str, tuple[Table, list[tuple[str, str]]]],
) -> Iterator[ProjectionProblem]:
    told: set[tuple[str, str, str, str]] = set()
    for agent, (_, named) in tables.items():
        for clash in clashes(named):
            if clash in told:
                continue
            told.add(clash)
            name, first, other, second = clash
            differing = "" if name == other else f" (and {other!r}: names that differ in case only are one)"
            yield ProjectionProblem(
                source=f"{first} and {second}",
                problem=f"agent {agent!r} would see the name {name!r}{differing} twice; rename one",
            )


def _owner_problems(request: ProjectionRequest) -> Iterator[ProjectionProblem]:
    known = {GLOBAL, *(agent.name for agent in request.agents)}
    owned = [
        *((source.owner, f"{source.source}: tool {source.tool.name}") for source in request.tools),
        *((item.owner, f"provider:{item.service.id} ({item.source})") for item in request.services),
        *((note.owner, f"{note.source}: a note") for note in request.notes),
    ]
    for owner, source in owned:
        if owner not in known:
            yield ProjectionProblem(
                source=source,
                problem=f"is offered to {owner!r}, and the deployment declares no such agent (known: {sorted(known)})",
            )


def _duplicate_services(services: Sequence[Registered]) -> Iterator[ProjectionProblem]:
    seen: dict[tuple[str, type, str], Registered] = {}
    for item in services:
        key = (item.owner, *service_key(item))
        if key in seen:
            yield ProjectionProblem(
                source=f"{seen[key].source} and {item.source}",
                problem=f"both register a service with the id {item.service.id!r} for {item.owner!r}",
            )
        seen.setdefault(key, item)
