"""The plugin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from seam.kernel import Context, WatchedPath, plugin
from seam.skills._folder import FolderSkills, read_folder
from seam.skills._tool import skill_tool
from seam.tools_def import GLOBAL, SeamIntegration


class SkillsConfig(BaseModel):
    """Where skills lie, and how much of one is shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: WatchedPath = Path("skills")
    """The folder; a relative one starts at the deployment file."""
    owner: str = GLOBAL
    """Whose skills they are: `global`, or an agent's name."""
    tool: bool = True
    """Whether the tool `skill` is offered; a second folder in one deployment sets this to false."""
    text_limit: int = Field(default=60_000, ge=1000)
    """Characters of a document that the tool shows at most."""


@plugin(requires=[SeamIntegration], config=SkillsConfig)
async def skills(ctx: Context, config: SkillsConfig) -> AsyncIterator[None]:
    """Offers the skills of a folder, and the tool that shows one."""
    reading = read_folder(config.path)
    for problem in reading.problems:
        ctx.contribute(problem)
    service = FolderSkills(f"skills:{config.path}", config.path, reading.skills)
    ctx[SeamIntegration].register_skill_service(config.owner, service, ctx=ctx)
    if config.tool:
        ctx.contribute(skill_tool(config.text_limit))
    yield
