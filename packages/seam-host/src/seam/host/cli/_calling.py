"""What `seam call` does."""

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from seam.host._host import Host
from seam.host.cli._agents import chosen_agent
from seam.host.cli._approval import ApproveAll, TerminalApproval, person
from seam.host.cli._exits import Exit
from seam.host.cli._interrupt import run_interruptible
from seam.host.cli._live import LiveOutput
from seam.host.cli._questions import TerminalQuestions
from seam.host.cli._screen import err, print_json
from seam.host.cli._stopping import report_stop, stopped
from seam.host.cli._terminal import Terminal
from seam.host.cli._visible import printable
from seam.tools_def import Access, ApprovalPort, Completed, Outcome, Resource, outcome_text

CODES = {
    "completed": Exit.DONE,
    "refused": Exit.REFUSED,
    "cancelled": Exit.CANCELLED,
    "failed": Exit.FAILED,
    "unavailable": Exit.UNAVAILABLE,
}


@dataclass(frozen=True)
class CallOptions:
    """The command line."""

    tool: str
    arguments: object
    deployment: Path
    agent: str | None
    yes: bool
    unattended: bool
    as_json: bool


def cli_access() -> Access:
    """Who calls from a command line."""
    return Access(principal=person(), platform="cli")


def run_call(options: CallOptions) -> int:
    """Make the call; answer the exit code."""

    async def main() -> int:
        return await _call(options)

    code, interrupt = run_interruptible(main)
    if interrupt.signal is not None:
        err().print(
            f"seam: ended by {interrupt.signal.name}; what the call had started is ended", style="yellow"
        )
    return code


async def _call(options: CallOptions) -> int:
    live = LiveOutput() if sys.stdout.isatty() and not options.as_json else None
    async with stopped(Host.open(options.deployment)) as (host, stop):
        agent = chosen_agent(host.turns, options.agent)
        terminal = Terminal() if Terminal.there() and not options.unattended else None
        async with host.turns.open(
            agent.name,
            session=f"cli-{uuid.uuid4().hex}",
            access=cli_access(),
            approval=_approval(options, terminal),
            questions=None if terminal is None else TerminalQuestions(terminal),
        ) as turn:
            outcome = await turn.call(options.tool, cast(JsonValue, options.arguments), progress=live)
            number = turn.id
    if options.as_json:
        print_json({"turn": number, "tool": options.tool, "outcome": outcome.model_dump(mode="json")})
    else:
        _show(outcome, live)
    return code_of(outcome) or report_stop(stop.report)


def _approval(options: CallOptions, terminal: Terminal | None) -> ApprovalPort | None:
    if options.yes:
        return ApproveAll()
    return None if terminal is None else TerminalApproval(terminal)


def code_of(outcome: Outcome) -> int:
    """The exit code that says how a call ended."""
    if isinstance(outcome, Completed) and not outcome.success:
        return Exit.UNSUCCESSFUL
    return CODES[outcome.kind]


def _show(outcome: Outcome, live: LiveOutput | None) -> None:
    text = printable(outcome_text(outcome))
    rest = text if live is None else live.rest_of(text)
    if live is not None and live.shown and rest:
        if not live.shown.endswith("\n"):
            sys.stdout.write("\n")
        err().rule("result", style="dim", align="left")
    if rest:
        sys.stdout.write(rest if rest.endswith("\n") else f"{rest}\n")
    for item in outcome.content:
        if isinstance(item, Resource):
            size = "" if item.size is None else f", {item.size} bytes"
            err().print(f"{item.title or 'more'}: {item.path} ({item.media_type}{size})", style="dim")
    if not isinstance(outcome, Completed):
        return
    if not outcome.success:
        err().print("what it ran reports no success", style="yellow")
