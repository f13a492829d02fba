"""The immutable fold of a generation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

import anyio

from seam.tools_def import (
    CapabilityUnavailable,
    Catalogue,
    Descriptor,
    ProjectionProblem,
    SkillDocument,
    SkillEntry,
    UnknownAgent,
    digest_of,
)
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._offer import BoundSkill
from seam.tools_runtime._workers import Workers


class Table:
    """What one agent could see, before access filters. Agents without anything of their own share one."""

    def __init__(
        self, tools: tuple[BoundTool, ...], skills: tuple[BoundSkill, ...], notes: tuple[str, ...]
    ) -> None:
        self.tools = tools
        self.skills = skills
        self.notes = notes
        self.by_name: Mapping[str, BoundTool] = MappingProxyType(
            {tool.descriptor.name: tool for tool in tools}
        )
        self.skill_by_id: Mapping[str, BoundSkill] = MappingProxyType(
            {skill.entry.id: skill for skill in skills}
        )
        self.descriptors: tuple[Descriptor, ...] = tuple(tool.descriptor for tool in tools)
        self.entries: tuple[SkillEntry, ...] = tuple(skill.entry for skill in skills)

    @cached_property
    def digest(self) -> str:
        """Over the model-facing schemas, in their order."""
        return digest_of([descriptor.model_schema() for descriptor in self.descriptors])


class Shelf:
    """Skill documents of one generation: each is fetched on demand, and the first one is kept."""

    def __init__(self, workers: Workers, config: RuntimeConfig) -> None:
        self._workers = workers
        self._config = config
        self._kept: dict[tuple[int, str], SkillDocument] = {}
        self._locks: dict[tuple[int, str], anyio.Lock] = {}

    async def fetch(self, skill: BoundSkill) -> SkillDocument:
        """The document.

        Raises:
            CapabilityUnavailable: the provider failed, did not answer in time, or answered with something else.
        """
        key = (id(skill.service), skill.entry.id)
        if key not in self._kept:
            async with self._locks.setdefault(key, anyio.Lock()):
                if key not in self._kept:
                    self._kept[key] = await self._ask(skill)
        return self._kept[key]

    async def _ask(self, skill: BoundSkill) -> SkillDocument:
        answers: list[object] = []

        async def step() -> None:
            answers.append(await skill.service.describe(skill.owner, skill.entry.id))

        seconds = skill.service.deadline or self._config.describe_timeout
        try:
            await self._workers.bounded(step, seconds=seconds, grace=self._config.grace)
        except Exception as error:  # whatever a provider raises means that the skill cannot be read now
            raise CapabilityUnavailable(
                f"skill {skill.entry.id!r} cannot be read: {skill.source}: {type(error).__name__}: {error}",
                reason=type(error).__name__,
                skill=skill.entry.id,
            ) from error
        return self._checked(skill, answers[0])

    def _checked(self, skill: BoundSkill, answer: object) -> SkillDocument:
        problem = None
        if not isinstance(answer, SkillDocument):
            problem = f"answered with a {type(answer).__name__}"
        elif answer.id != skill.entry.id:
            problem = f"answered with the skill {answer.id[:80]!r}"
        elif len(answer.text.encode("utf-8", "surrogatepass")) > self._config.document_bytes:
            problem = f"its text is larger than {self._config.document_bytes} bytes"
        if problem is None and isinstance(answer, SkillDocument):
            return answer
        raise CapabilityUnavailable(
            f"skill {skill.entry.id!r} cannot be read: {skill.source} {problem}",
            reason="invalid",
            skill=skill.entry.id,
        )


class RuntimeCatalogue(Catalogue):
    """A table for each agent.

    Attributes:
        maker: identity of the runtime that made it; a turn can be opened there only.
        shelf: documents of skills.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        left_out: tuple[ProjectionProblem, ...],
        maker: object,
        shelf: Shelf,
    ) -> None:
        self._tables = MappingProxyType(dict(tables))
        self._left_out = left_out
        self.maker = maker
        self.shelf = shelf

    @property
    def left_out(self) -> tuple[ProjectionProblem, ...]:
        return self._left_out

    def table(self, agent: str) -> Table:
        """Raises `UnknownAgent`."""
        try:
            return self._tables[agent]
        except KeyError:
            known = tuple(sorted(self._tables))
            raise UnknownAgent(
                f"this generation has no agent {agent!r}; it has {', '.join(known) or 'none'}",
                agent=agent,
                known=known,
            ) from None

    def tools(self, agent: str) -> tuple[Descriptor, ...]:
        return self.table(agent).descriptors

    def skills(self, agent: str) -> tuple[SkillEntry, ...]:
        return self.table(agent).entries

    def digest(self, agent: str) -> str:
        return self.table(agent).digest
