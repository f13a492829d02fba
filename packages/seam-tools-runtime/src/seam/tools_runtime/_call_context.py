"""What a tool is given during one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from seam.tools_def import (
    Access,
    Agent,
    CallContext,
    Content,
    Owner,
    Progress,
    QuestionPort,
    SkillDocument,
    SkillEntry,
    TurnEnded,
)

if TYPE_CHECKING:
    from seam.tools_runtime._call import Call


class LiveContext(CallContext):
    """Valid while its call runs."""

    __slots__ = ("_call",)

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def turn(self) -> str:
        return self._live().opening.turn

    @property
    def call(self) -> str:
        return self._live().id

    @property
    def agent(self) -> Agent:
        return self._live().opening.agent

    @property
    def owner(self) -> Owner:
        return self._live().session.owner

    @property
    def access(self) -> Access:
        return self._live().opening.access

    @property
    def questions(self) -> QuestionPort | None:
        return self._live().opening.questions

    @property
    def skills(self) -> tuple[SkillEntry, ...]:
        return self._live().session.view.skills

    async def describe_skill(self, skill: str) -> SkillDocument:
        return await self._live().session.describe_skill(skill)

    def progress(self, message: str, *, done: float | None = None, total: float | None = None) -> None:
        call = self._live()
        if call.sink is not None:
            call.show(Progress(call=call.id, kind="progress", text=message, done=done, total=total))

    def output(self, text: str, *, stream: str = "stdout") -> None:
        call = self._live()
        if call.sink is not None:
            call.show(Progress(call=call.id, kind="output", text=text, stream=stream))

    def keep(self, value: JsonValue, content: Sequence[Content]) -> None:
        self._live().kept = (value, tuple(content))

    def _live(self) -> Call:
        if self._call.over:
            turn = self._call.opening.turn
            raise TurnEnded(
                f"call {self._call.id!r} of turn {turn!r} is over; its context cannot be used any more",
                turn=turn,
            )
        return self._call
