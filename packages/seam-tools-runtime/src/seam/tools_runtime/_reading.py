"""Providers are read once, in prepare, side by side and each within its time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar, cast

import anyio

from seam.tools_def import (
    UNKNOWN_EFFECTS,
    Descriptor,
    ProjectionRequest,
    Registered,
    SkillEntry,
    SkillService,
    ToolSchema,
    ToolService,
    frozen_json,
)
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._foreign_schema import schema_problem
from seam.tools_runtime._names import name_problem
from seam.tools_runtime._offer import BoundSkill, Offer
from seam.tools_runtime._problems import LONGEST, cut
from seam.tools_runtime._service_tool import ServiceTool
from seam.tools_runtime._workers import Workers

StatedT = TypeVar("StatedT", ToolSchema, SkillEntry)


async def read_services(
    request: ProjectionRequest, workers: Workers, config: RuntimeConfig
) -> dict[int, Offer]:
    """The offer of each registration, by its place in the list; what went wrong is among the offer's problems."""
    offers: dict[int, Offer] = {}

    async def read(place: int, registered: Registered) -> None:
        offers[place] = await _read(registered, request.optional, workers, config)

    async with anyio.create_task_group() as readers:
        for place, registered in enumerate(request.services):
            readers.start_soon(read, place, registered)
    return offers


async def _read(
    registered: Registered, optional: frozenset[str], workers: Workers, config: RuntimeConfig
) -> Offer:
    offer = Offer.of_service(registered, optional)
    if (problem := _deadline_problem(registered)) is not None:
        offer.problems.append(problem)
        return offer

    async def step() -> None:
        await registered.life.start()
        if isinstance(registered.service, ToolService):
            offer.tools = _tools(
                registered.service, registered.owner, await _schemas(registered), offer, config
            )
        else:
            offer.skills = _skills(registered.service, registered.owner, await _entries(registered), offer)

    seconds = registered.service.deadline or config.projection_timeout
    try:
        await workers.bounded(step, seconds=seconds, grace=config.grace)
    except (
        Exception
    ) as error:  # whatever a provider raises is a reason to do without it, or to reject the candidate
        kind = "" if isinstance(error, TimeoutError) else f"raised {type(error).__name__}: "
        offer.problems.append(cut(f"{kind}{error}", LONGEST))
    return offer


def _deadline_problem(registered: Registered) -> str | None:
    deadline = cast(object, registered.service.deadline)
    if deadline is None or (isinstance(deadline, (int, float)) and 0 < deadline < math.inf):
        return None
    return f"states a deadline of {deadline!r}; a deadline is a number of seconds above 0, or None"


async def _schemas(registered: Registered) -> Sequence[ToolSchema]:
    return await cast(ToolService, registered.service).schema(registered.owner)


async def _entries(registered: Registered) -> Sequence[SkillEntry]:
    return await cast(SkillService, registered.service).catalog(registered.owner)


def _tools(
    service: ToolService, owner: str, stated: object, offer: Offer, config: RuntimeConfig
) -> tuple[ServiceTool, ...]:
    tools: list[ServiceTool] = []
    for schema in _listed(stated, ToolSchema, offer):
        problems = _schema_problems(schema, config)
        if problems:
            offer.problems += [f"tool {schema.name[:80]!r}: {problem}" for problem in problems]
            continue
        tools.append(ServiceTool(service, owner, _descriptor(service, schema)))
    return tuple(tools)


def _schema_problems(schema: ToolSchema, config: RuntimeConfig) -> list[str]:
    found = [
        name_problem(schema.name),
        None if schema.description.strip() else "it has no description; a model chooses by it",
        schema_problem(schema.parameters, "parameters", limit=config.schema_bytes, of_object=True),
        None
        if schema.output is None
        else schema_problem(schema.output, "output", limit=config.schema_bytes, of_object=False),
    ]
    return [problem for problem in found if problem is not None]


def _descriptor(service: ToolService, schema: ToolSchema) -> Descriptor:
    approval = schema.requires_approval or "on-risk"
    if approval == "never" and not service.trusted:
        approval = "on-risk"  # a claim, as its effects are: only a trusted service is believed
    return Descriptor(
        name=schema.name,
        description=schema.description,
        parameters=schema.parameters,
        output=schema.output,
        effects=(schema.effects if service.trusted else None) or UNKNOWN_EFFECTS,
        requires_approval=approval,
        visibility=schema.visibility,
        concurrency=schema.concurrency,
        deadline=schema.deadline,
        notes=schema.notes,
        source=f"provider:{service.id}",
    ).model_copy(
        update={
            "parameters": frozen_json(schema.parameters),
            "output": frozen_json(schema.output),
        }
    )


def _skills(service: SkillService, owner: str, stated: object, offer: Offer) -> tuple[BoundSkill, ...]:
    skills: list[BoundSkill] = []
    for entry in _listed(stated, SkillEntry, offer):
        problem = name_problem(entry.id) or (
            None if entry.description.strip() else "it has no description; a model chooses by it"
        )
        if problem:
            offer.problems.append(f"skill {entry.id[:80]!r}: {problem}")
        else:
            skills.append(BoundSkill(entry, service, owner, f"provider:{service.id}"))
    return tuple(skills)


def _listed(stated: object, kind: type[StatedT], offer: Offer) -> list[StatedT]:
    if not isinstance(stated, Sequence) or isinstance(stated, (str, bytes)):
        offer.problems.append(f"stated a {type(stated).__name__} instead of a list of {kind.__name__}")
        return []
    items = list(cast("Sequence[object]", stated))
    wrong = sorted({type(item).__name__ for item in items if not isinstance(item, kind)})
    if wrong:
        offer.problems.append(f"stated {', '.join(wrong)} in a list of {kind.__name__}")
    return [item for item in items if isinstance(item, kind)]
