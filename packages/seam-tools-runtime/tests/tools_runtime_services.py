"""Scripted services from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import anyio
from pydantic import JsonValue

from seam.tools_def import (
    CallContext,
    Completed,
    Outcome,
    SkillDocument,
    SkillEntry,
    SkillService,
    ToolSchema,
    ToolService,
    Visibility,
)

OBJECT: JsonValue = {"type": "object"}


def schema(name: str, **changes: object) -> ToolSchema:
    """A tool as a service states it."""
    base: dict[str, object] = {"name": name, "description": f"Does {name}.", "parameters": OBJECT}
    return ToolSchema.model_validate(base | changes)


class Provider(ToolService):
    """States what it is given and says in its results which provider answered."""

    description = "a scripted provider"

    def __init__(self, name: str, *tools: ToolSchema, answer: object = None) -> None:
        self.id = name
        self.stated: object = list(tools)
        self.answer = answer
        self.schema_reads = 0
        self.started = 0
        self.stopped = 0
        self.executed: list[tuple[str, str, JsonValue]] = []
        self.delay: float = 0
        self.broken: Exception | None = None

    async def start(self) -> None:
        self.started += 1

    async def stop(self) -> None:
        self.stopped += 1

    async def schema(self, owner: str) -> Sequence[ToolSchema]:
        self.schema_reads += 1
        await anyio.sleep(self.delay)
        if self.broken is not None:
            raise self.broken
        return cast("Sequence[ToolSchema]", self.stated)

    async def execute(self, owner: str, name: str, input: JsonValue, context: CallContext) -> Outcome:  # noqa: A002
        self.executed.append((owner, name, input))
        if self.answer is not None:
            return cast(Outcome, self.answer)
        return Completed(value=f"{self.id}.{name} for {owner}")


class Library(SkillService):
    """Skills of one provider."""

    description = "a scripted library"

    def __init__(self, name: str, *entries: str, visibility: Visibility | None = None) -> None:
        self.id = name
        self.stated: object = [
            SkillEntry(
                id=entry, name=entry, description=f"About {entry}.", visibility=visibility or Visibility()
            )
            for entry in entries
        ]
        self.described: list[str] = []
        self.hang = False
        self.answer: object = None

    async def catalog(self, owner: str) -> Sequence[SkillEntry]:
        return cast("Sequence[SkillEntry]", self.stated)

    async def describe(self, owner: str, skill_id: str) -> SkillDocument:
        self.described.append(skill_id)
        if self.hang:
            await anyio.sleep_forever()
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return cast(SkillDocument, self.answer)
        return SkillDocument(id=skill_id, text=f"{skill_id}, read {len(self.described)} times")
