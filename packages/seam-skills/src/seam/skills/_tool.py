"""The tool `skill`: shows one skill in view, bounded."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from seam.tools_def import CallContext, CallRefusal, Completed, ResolvedCall, Text, Tool, ToolResult, effects


class SkillParameters(BaseModel):
    """Parameters of `skill`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Name of the skill, as listed in the instructions.")


def skill_tool(limit: int) -> Tool:
    """The tool, which shows at most `limit` characters of a document."""

    async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
        parameters = cast(SkillParameters, resolved.plan)
        known = {entry.id for entry in context.skills}
        if parameters.name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise CallRefusal(
                "visibility", f"there is no skill {parameters.name!r} in view; there are: {there}"
            )
        document = await context.describe_skill(parameters.name)
        text = document.text
        cut = len(text) > limit
        if cut:
            text = f"{text[:limit]}\n[... {len(document.text) - limit} of {len(document.text)} characters left out ...]"
        if document.resources:
            text += "\nFiles of this skill:\n" + "\n".join(f"- {path}" for path in document.resources)
        return Completed(
            value={"name": document.id, "text": text, "cut": cut, "resources": list(document.resources)},
            content=(Text(text=text),),
        )

    return Tool(
        name="skill",
        description="Read a skill: instructions for a kind of task. Read it before you begin such a task.",
        parameters=SkillParameters,
        run=run,
        effects=effects("reads"),
        concurrency="parallel",
    )
