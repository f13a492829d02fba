"""An existing registry of skills as a `SkillService`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar, cast

from seam.tools_def._services import SkillDocument, SkillEntry, SkillService

T = TypeVar("T")


class RegistrySkills(SkillService):
    """Adapts a registry that somebody has already; it never registers itself.

    `ctx[SeamIntegration].register_skill_service("global", RegistrySkills(...), ctx=ctx)` does.

    Args:
        id: of the service.
        description: for a person.
        entries: lists what the registry has, as entries; may be async. Asked once, in prepare.
        read: the text (or the whole document) of one skill by its id; may be async. Asked on demand; what it raises makes the
            skill unavailable.
        optional: whether a registry that is away is left out instead of rejecting the candidate.
        deadline: seconds that it may take to list or to read; None means the runtime's.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - a word of the contract
        description: str,
        *,
        entries: Callable[[], Iterable[SkillEntry] | Awaitable[Iterable[SkillEntry]]],
        read: Callable[[str], str | SkillDocument | Awaitable[str | SkillDocument]],
        optional: bool = False,
        deadline: float | None = None,
    ) -> None:
        self.id = id
        self.description = description
        self.optional = optional
        self.deadline = deadline
        self._entries = entries
        self._read = read

    async def catalog(self, owner: str) -> Sequence[SkillEntry]:
        """What the registry lists; the same for every owner."""
        return tuple(await _awaited(self._entries()))

    async def describe(self, owner: str, skill_id: str) -> SkillDocument:
        """What the registry reads."""
        document = await _awaited(self._read(skill_id))
        return SkillDocument(id=skill_id, text=document) if isinstance(document, str) else document


async def _awaited(answer: T | Awaitable[T]) -> T:
    return await cast("Awaitable[T]", answer) if inspect.isawaitable(answer) else cast(T, answer)
