"""What a candidate offers, gathered for the runtime's projection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from seam.host._slots import Slot
from seam.kernel import Instance, Scope
from seam.tools_def import (
    GLOBAL,
    Agent,
    NoteSource,
    ProjectionRequest,
    PromptNote,
    Registered,
    Tool,
    ToolSource,
)

ItemT = TypeVar("ItemT")


def projection(
    places: Mapping[str | None, Scope], slots: Mapping[Instance, Slot], agents: tuple[Agent, ...]
) -> ProjectionRequest:
    """Every contributed tool, registered service and note, in listing order; a realm's are owned by its agent."""
    replaced: dict[str, frozenset[str]] = {}
    for slot in slots.values():
        if slot.agent is not None:
            replaced[slot.agent] = replaced.get(slot.agent, frozenset()) | {_source(slot)}
    return ProjectionRequest(
        agents=agents,
        tools=tuple(
            ToolSource(tool=tool, source=source, owner=owner)
            for tool, source, owner in _offered(Tool, places, slots)
        ),
        services=tuple(
            # what is registered for everybody inside a realm is for everybody in it: its agent
            replace(item, source=source, owner=owner if item.owner == GLOBAL else item.owner)
            for item, source, owner in _offered(Registered, places, slots)
        ),
        notes=tuple(
            NoteSource(text=note.text, source=source, owner=owner)
            for note, source, owner in _offered(PromptNote, places, slots)
        ),
        replaced=replaced,
        optional=frozenset(_source(slot) for slot in slots.values() if slot.row.optional),
    )


def _source(slot: Slot) -> str:
    return f"plugin:{slot.row.table}"


def _offered(
    kind: type[ItemT], places: Mapping[str | None, Scope], slots: Mapping[Instance, Slot]
) -> Iterator[tuple[ItemT, str, str]]:
    for agent, scope in places.items():
        for instance, item in scope.contributions(kind):
            top = instance
            while top.parent is not None:
                top = top.parent
            yield item, _source(slots[top]), agent or GLOBAL
