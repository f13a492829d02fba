"""What `seam policy explain` does: a call that is judged and never run."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

import anyio
from pydantic import BaseModel, JsonValue

from seam.host._host import Host
from seam.host.cli._agents import chosen_agent
from seam.host.cli._approval import action_text
from seam.host.cli._calling import cli_access
from seam.host.cli._exits import Exit
from seam.host.cli._screen import out, print_json
from seam.host.cli._visible import visible
from seam.kernel import Context, NoConfig, Plugin
from seam.tools_def import (
    CallDecided,
    CallInfo,
    Decision,
    Outcome,
    Refused,
    ResolvedCall,
    Widen,
    before_call,
    outcome_text,
)

NAME = "seam policy explain"
VERDICTS = {"allow": "green", "ask": "yellow", "deny": "red"}


@dataclass
class Explanation:
    """What was found.

    Attributes:
        verdict: what would become of the call; None where it did not get as far as policy.
        decisions: who said what, as recorded.
        rules: what the permissions say about their rules.
    """

    outcome: Outcome
    info: CallInfo | None = None
    verdict: Literal["allow", "ask", "deny"] | None = None
    why: list[str] = field(default_factory=list[str])
    decisions: list[CallDecided] = field(default_factory=list[CallDecided])
    rules: JsonValue = None


def run_explain(path: Path, agent: str | None, tool: str, arguments: object, *, as_json: bool) -> int:
    """Explain; answer the exit code."""
    found = anyio.run(_explain, path, agent, tool, arguments)
    if as_json:
        print_json(_document(found))
    else:
        _show(found)
    return Exit.DONE if found.verdict == "allow" else Exit.REFUSED


async def _explain(path: Path, agent: str | None, tool: str, arguments: object) -> Explanation:
    judge = _Judge()
    async with Host.open(path) as host:
        # a listener above every generation: its denial is gathered with all other answers, and nothing can undo it
        host.root.load(judge.plugin(), name=NAME)
        await host.root.settle()
        actor, access = chosen_agent(host.turns, agent), cli_access()
        async with host.turns.open(actor.name, session=f"cli-{uuid.uuid4().hex}", access=access) as turn:
            outcome = await turn.call(tool, cast(JsonValue, arguments), call="explained")
        found = Explanation(outcome, judge.info)
        records = [entry.record for entry in await host.journal.read(turn.id)]
        found.decisions = [
            record for record in records if isinstance(record, CallDecided) and NAME not in record.by
        ]
        if judge.info is not None:
            found.verdict, found.why = conclude(judge.info, found.decisions)
            permissions = host.permissions(actor.name)
            if permissions is not None:
                found.rules = await permissions.explain(judge.info.resolved, actor, access)
    return found


class _Judge:
    """Denies every call, and keeps what it was told about it."""

    def __init__(self) -> None:
        self.info: CallInfo | None = None

    def plugin(self) -> Plugin[BaseModel]:
        """The plugin that listens."""

        async def set_up(ctx: Context, config: BaseModel) -> AsyncIterator[None]:
            ctx.on(before_call, self._deny)
            yield

        return Plugin[BaseModel](
            name=NAME,
            requires=(),
            optional=(),
            provides=(),
            config=NoConfig,
            set_up=set_up,
            module=__name__,
            doc="Denies what is only to be explained.",
        )

    def _deny(self, info: CallInfo) -> Decision:
        self.info = info
        return Decision(verdict="deny", reason="it was only to be explained")


def conclude(
    info: CallInfo, decisions: list[CallDecided]
) -> tuple[Literal["allow", "ask", "deny"], list[str]]:
    """What the chain would make of the decisions: deny beats ask beats allow; an allow waives `on-risk`, never `always`."""
    said = {
        verdict: [f"{d.by}: {d.reason}" for d in decisions if d.verdict == verdict] for verdict in VERDICTS
    }
    if said["deny"]:
        return "deny", said["deny"]
    declared = info.descriptor.requires_approval
    asks = list(said["ask"])
    if declared == "always":
        asks.append(f"{info.descriptor.name} always needs an approval")
    if not said["allow"]:
        if declared != "never" and info.resolved.effects.risky:
            asks.append(_risk(info.resolved))
        asks += [
            f"it asks for the wider mode {act.mode}"
            for act in info.resolved.actions
            if isinstance(act, Widen)
        ]
    return ("ask", asks) if asks else ("allow", said["allow"])


def _risk(resolved: ResolvedCall) -> str:
    if not resolved.effects.known:
        return "its effects are not known, and no rule allows it"
    return f"its effects ({', '.join(sorted(resolved.effects.kinds))}) are risky, and no rule allows it"


def _document(found: Explanation) -> dict[str, object]:
    refusal = found.outcome.model_dump(mode="json") if found.info is None else None
    return {
        "verdict": found.verdict,
        "why": found.why,
        "resolved": None if found.info is None else found.info.resolved.model_dump(mode="json"),
        "decisions": [decision.model_dump(mode="json") for decision in found.decisions],
        "rules": found.rules,
        "refused_before_policy": refusal,
    }


def _show(found: Explanation) -> None:
    screen = out()
    if found.info is None:
        if isinstance(found.outcome, Refused):
            screen.print(f"would not get as far as policy: refused by {found.outcome.policy}", style="red")
            screen.print(f"  {visible(found.outcome.reason)}")
        else:
            screen.print(
                f"would not get as far as policy: {visible(outcome_text(found.outcome))}", style="red"
            )
        return
    assert found.verdict is not None
    words = {"allow": "would run", "ask": "would be asked about", "deny": "would be refused"}
    screen.print(words[found.verdict], style=f"bold {VERDICTS[found.verdict]}")
    for why in found.why:
        screen.print(f"  because {visible(why)}")
    resolved = found.info.resolved
    screen.print("\nwhat it would do", style="dim")
    for line in visible(resolved.summary).splitlines():
        screen.print(f"  {line}")
    for action in resolved.actions:
        screen.print(f"  - {visible(action_text(action))}")
    if found.decisions:
        screen.print("\nwho said what", style="dim")
        for decision in found.decisions:
            screen.print(f"  {decision.verdict} by {visible(decision.by)}: {visible(decision.reason)}")
    if found.rules is not None:
        screen.print("\nthe rules that were looked at", style="dim")
        screen.print(visible(json.dumps(found.rules, indent=2, ensure_ascii=False)))
