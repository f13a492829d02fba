"""A turn that answers what the test says."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from seam.tools_def import (
    Agent,
    CallItem,
    Descriptor,
    Outcome,
    ProgressSink,
    SkillDocument,
    SkillEntry,
    Turn,
    effects,
)

PARAMETERS: JsonValue = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class ScriptedTurn(Turn):
    """Has the tool `echo`; every call gets the next outcome."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.calls: list[tuple[str, JsonValue]] = []

    @property
    def id(self) -> str:
        return "t1"

    @property
    def generation(self) -> int:
        return 1

    @property
    def agent(self) -> Agent:
        return Agent(name="default", workspace="/ws")

    @property
    def tools(self) -> tuple[Descriptor, ...]:
        return (
            Descriptor(
                name="echo",
                description="Say it again.",
                parameters=PARAMETERS,
                effects=effects(),
                source="plugin:x",
            ),
        )

    @property
    def skills(self) -> tuple[SkillEntry, ...]:
        return ()

    async def call(
        self,
        tool: str,
        arguments: JsonValue,
        *,
        call: str | None = None,
        progress: ProgressSink | None = None,
    ) -> Outcome:
        self.calls.append((tool, arguments))
        return self.outcomes.pop(0)

    async def call_many(
        self, calls: Sequence[CallItem], *, progress: ProgressSink | None = None
    ) -> tuple[Outcome, ...]:
        raise AssertionError("frameworks call one by one")

    async def describe_skill(self, skill: str) -> SkillDocument:
        raise AssertionError("there are no skills")

    def instructions(self, *, limit: int | None = None) -> str:
        return "echo repeats."

    async def fail(self, reason: str) -> None:
        raise AssertionError("nothing fails a turn here")
