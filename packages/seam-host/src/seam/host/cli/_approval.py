"""Approvals at the terminal, and the blanket one of `--yes`."""

from __future__ import annotations

import getpass
import json
import os
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import anyio
from pydantic import JsonValue

from seam.host.cli._terminal import Terminal, TerminalClosed
from seam.host.cli._visible import visible
from seam.tools_def import (
    Action,
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    Connect,
    Deny,
    Edit,
    Expired,
    Read,
    Run,
    Widen,
    Write,
)

HELP = """  y  yes, run exactly this, once
  n  no; a reason may follow (n too risky)
  r  yes, and whatever the rule covers for the rest of the session (r 2 for the second rule)
  e  change the arguments ($VISUAL or $EDITOR, else a line of JSON); they are checked and judged again"""


def person() -> str:
    """Who sits at the terminal, for the record."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name in the environment and none in the user database (a bare container)
        return f"uid {os.getuid()}"


class ApproveAll(ApprovalPort):
    """`--yes`: everything that would be asked is approved, once, and the record says so."""

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Yes, once."""
        return Approve(by=f"{person()} with --yes")


class TerminalApproval(ApprovalPort):
    """Shows what would happen and asks."""

    def __init__(self, terminal: Terminal, edit: Callable[[str], str | None] | None = None) -> None:
        self._terminal = terminal
        self._edit = edit or edit_text

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask until there is an answer; the end of the input is none."""
        async with self._terminal.lock:
            self._show(request)
            try:
                while True:
                    given = await self._terminal.read(
                        "Run it? [y/n/e/?] " if not request.rules else "Run it? [y/n/r/e/?] "
                    )
                    answer = await self._answer(given, request)
                    if answer is not None:
                        return answer
            except TerminalClosed:
                return Expired(reason="the terminal was closed before an answer")

    async def _answer(self, given: str, request: ApprovalRequest) -> ApprovalAnswer | None:
        word, _, rest = given.partition(" ")
        match word.lower():
            case "y" | "yes":
                return Approve(by=person())
            case "n" | "no":
                return Deny(by=person(), reason=rest.strip())
            case "r" | "rule":
                return self._rule(rest.strip(), request.rules)
            case "e" | "edit":
                return await self._edited(request.resolved.arguments)
            case _:
                self._terminal.say(HELP)
                return None

    def _rule(self, choice: str, rules: tuple[str, ...]) -> Approve | None:
        if not rules:
            self._terminal.say("no rule is offered for this call; answer y, n or e", "yellow")
            return None
        if not choice and len(rules) == 1:
            return Approve(by=person(), grant="rule", rule=rules[0])
        if choice.isdecimal() and 1 <= int(choice) <= len(rules):
            return Approve(by=person(), grant="rule", rule=rules[int(choice) - 1])
        self._terminal.say(f"say which rule: r 1 to r {len(rules)}", "yellow")
        return None

    async def _edited(self, arguments: JsonValue) -> Edit | None:
        before = json.dumps(arguments, indent=2, ensure_ascii=False)
        if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
            after = await anyio.to_thread.run_sync(self._edit, before)
        else:
            after = await self._terminal.read("arguments as JSON on one line (empty: as they were): ")
        if not after or after.strip() == before:
            self._terminal.say("nothing was changed", "yellow")
            return None
        try:
            return Edit(by=person(), arguments=json.loads(after))
        except ValueError as error:
            self._terminal.say(f"that is not JSON: {error}", "yellow")
            return None

    def _show(self, request: ApprovalRequest) -> None:
        resolved, say = request.resolved, self._terminal.say
        say(f"\n{visible(resolved.tool)} wants to:", "bold")
        say(_indented(resolved.summary))
        for action in resolved.actions:
            say(f"  - {visible(action_text(action))}")
        for reason in request.reasons:
            say(f"  because {visible(reason)}", "yellow")
        for number, rule in enumerate(request.rules, start=1):
            say(f"  rule {number}: {visible(rule)}", "cyan")
        say(f"  agent {request.owner.agent}, call {visible(request.call)}, {resolved.digest[:19]}", "dim")


def action_text(action: Action) -> str:
    """An action in a few words."""
    match action:
        case Run():
            return f"run in {action.workdir}: {action.text or shlex.join(action.argv)}"
        case Read():
            return f"read {action.path}"
        case Write():
            return f"write {action.path}"
        case Connect():
            return f"connect to {action.host}" + ("" if action.port is None else f", port {action.port}")
        case Widen():
            return f"use the wider sandbox mode {action.mode}: {action.why}"


def edit_text(text: str) -> str | None:
    """Let the person change a text in her editor; None where the editor did not end well."""
    import subprocess

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="seam-edit-") as folder:
        file = Path(folder) / "arguments.json"
        file.write_text(text, encoding="utf-8")
        try:
            ended = subprocess.run([*shlex.split(editor), str(file)], check=False)
        except OSError:
            return None
        return file.read_text(encoding="utf-8") if ended.returncode == 0 else None


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in visible(text).splitlines())
