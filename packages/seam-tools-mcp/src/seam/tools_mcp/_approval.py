"""Approvals and questions through MCP elicitation.

Two ways lead to the person: a request back to the client on the connection (handshake-era protocol versions), or an answer
that asks for input and a repeated call that brings it (versions from 2026-07-28 on, where the server cannot ask). Both show
the same text and take the same answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import anyio
import mcp_types as types
from pydantic import JsonValue

from seam.tools_def import (
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    Deny,
    Expired,
    Question,
    QuestionAnswer,
    QuestionPort,
)

Elicit = Callable[[str, dict[str, object]], Awaitable[types.ElicitResult]]
"""Shows a message with a form and waits for the person."""

ONCE, SESSION, NO = "yes", "yes, for this session", "no"


class ElicitingApproval(ApprovalPort):
    """Asks the person in front of the client."""

    def __init__(self, elicit: Elicit, principal: str, timeout: float) -> None:
        self._elicit = elicit
        self._principal = principal
        self._timeout = timeout

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Show what would happen and why it is asked; no answer in time is no consent."""
        choices = [ONCE, SESSION, *(f"rule: {rule}" for rule in request.rules), NO]
        schema: dict[str, object] = {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": choices, "title": "Allow this?"}},
            "required": ["answer"],
        }
        answered: types.ElicitResult | None = None
        with anyio.move_on_after(self._timeout):
            answered = await self._elicit(_message(request), schema)
        if answered is None:
            return Expired()
        return self._read(answered)

    def _read(self, answered: types.ElicitResult) -> ApprovalAnswer:
        choice = (answered.content or {}).get("answer") if answered.action == "accept" else NO
        if choice == ONCE:
            return Approve(by=self._principal, grant="once")
        if choice == SESSION:
            return Approve(by=self._principal, grant="session")
        if isinstance(choice, str) and choice.startswith("rule: "):
            return Approve(by=self._principal, grant="rule", rule=choice.removeprefix("rule: "))
        if answered.action == "cancel":
            return Expired(reason="the question was closed without an answer")
        return Deny(by=self._principal)


class ElicitingQuestions(QuestionPort):
    """Asks the person for information."""

    def __init__(self, elicit: Elicit) -> None:
        self._elicit = elicit

    async def ask(self, question: Question) -> QuestionAnswer:
        """Show the question with its options."""
        field: dict[str, object] = {"type": "string"}
        if question.options:
            field["enum"] = list(question.options)
        schema: dict[str, object] = {
            "type": "object",
            "properties": {"answer": field},
            "required": ["answer"],
        }
        if isinstance(question.details, dict):
            schema = cast("dict[str, object]", question.details)
        answered = await self._elicit(question.text, schema)
        if answered.action != "accept":
            return QuestionAnswer(answered=False)
        content = cast("dict[str, JsonValue]", answered.content or {})
        return QuestionAnswer(
            answered=True, value=content if question.details is not None else content.get("answer")
        )


def _message(request: ApprovalRequest) -> str:
    reasons = "\n".join(f"- {reason}" for reason in request.reasons)
    return f"Allow {request.resolved.tool}?\n\n{request.resolved.summary}\n\nAsked because:\n{reasons}"
