"""A port for doors whose answers come from elsewhere: questions lie open under an id until somebody answers, or nobody waits any more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from seam.tools_def._errors import ApprovalAlreadyDecided, UnknownApproval
from seam.tools_def._ports import ApprovalAnswer, ApprovalPort, ApprovalRequest, Expired


@dataclass(eq=False)
class _Open:
    request: ApprovalRequest
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: ApprovalAnswer | None = None


class ApprovalDesk(ApprovalPort):
    """Keeps open questions, gives each to `notify`, and takes exactly one answer for each.

    Of two people who answer, the first decides and the other is told what was decided and by whom. An answer that comes when
    nobody waits any more is told so and starts nothing.

    Args:
        notify: called with each new question, in the event loop; must return at once. What it raises refuses the call.
        remembered: how many decided questions are kept, to tell those who come late.
    """

    def __init__(self, notify: Callable[[ApprovalRequest], None], *, remembered: int = 1000) -> None:
        self._notify = notify
        self._remembered = remembered
        self._open: dict[str, _Open] = {}
        self._decided: OrderedDict[str, tuple[str, str]] = OrderedDict()

    @property
    def pending(self) -> tuple[ApprovalRequest, ...]:
        """The questions that wait for an answer, oldest first."""
        return tuple(question.request for question in self._open.values())

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Lay the question open and wait; cancelled, it is closed as such."""
        question = self._open[request.approval] = _Open(request)
        try:
            self._notify(request)
            await question.answered.wait()
            assert question.answer is not None  # `answer` sets both
            return question.answer
        finally:
            if self._open.pop(request.approval, None) is not None and question.answer is None:
                self._remember(request.approval, "cancelled", "")

    def answer(self, approval: str, answer: ApprovalAnswer) -> None:
        """Decide a question.

        Raises:
            ApprovalAlreadyDecided: somebody was faster, or the one who asked is gone; nothing is started.
            UnknownApproval: there is no such question.
        """
        question = self._open.get(approval)
        if question is None or question.answer is not None:
            raise self._too_late(approval)
        question.answer = answer
        self._remember(approval, answer.kind, "" if isinstance(answer, Expired) else answer.by)
        question.answered.set()

    def _remember(self, approval: str, answer: str, by: str) -> None:
        self._decided[approval] = (answer, by)
        while len(self._decided) > self._remembered:
            self._decided.popitem(last=False)

    def _too_late(self, approval: str) -> ApprovalAlreadyDecided | UnknownApproval:
        if approval not in self._decided:
            return UnknownApproval(f"there is no open question {approval!r}", approval=approval)
        answer, by = self._decided[approval]
        said = {"approve": "approved", "edit": "approved with other arguments", "deny": "denied"}.get(answer)
        text = (
            f"already decided: {said} by {by}"
            if said
            else f"already over ({answer}): nobody waits for it any more"
        )
        return ApprovalAlreadyDecided(
            f"question {approval!r} is {text}; this answer starts nothing",
            approval=approval,
            answer=answer,
            by=by,
        )
