"""What `seam serve` does."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from seam.host._host import Host
from seam.host._outcomes import ReloadOutcome
from seam.host.cli._exits import Exit
from seam.host.cli._interrupt import run_interruptible
from seam.host.cli._screen import err
from seam.host.cli._stopping import Stop, report_stop, stopped

STYLES = {"published": "green", "unchanged": "dim", "refused": "red", "restart": "yellow"}


class Reports:
    """Says on standard error what happens."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def say(self, event: str, text: str, style: str = "", **facts: object) -> None:
        """One report."""
        if self._as_json:
            sys.stderr.write(json.dumps({"event": event, "text": text, **facts}) + "\n")
            sys.stderr.flush()
        else:
            err().print(text, style=style or None)

    def reloaded(self, outcome: ReloadOutcome) -> None:
        """A reload ended."""
        facts = outcome.model_dump(mode="json")
        self.say(f"reload.{outcome.kind}", reload_text(outcome), STYLES[outcome.kind], outcome=facts)


def reload_text(outcome: ReloadOutcome) -> str:
    """A reload in a few lines."""
    changed = ", ".join(outcome.changed) or "a request"
    match outcome.kind:
        case "published":
            rows = [
                f"{word} {', '.join(names)}"
                for word, names in (("rebuilt", outcome.rebuilt), ("removed", outcome.removed))
                if names
            ]
            rows += [f"{len(outcome.carried)} carried over"] if outcome.carried else []
            left = [f"\n  left out: {problem}" for problem in outcome.left_out]
            return (
                f"generation {outcome.generation} after {changed} in {outcome.seconds:.2f} s: {'; '.join(rows)}"
                + "".join(left)
            )
        case "unchanged":
            return f"nothing to reload after {changed}; generation {outcome.generation} stays"
        case "refused":
            return (
                f"not reloaded after {changed}; generation {outcome.generation} runs on:\n  "
                + "\n  ".join(outcome.problems)
            )
        case "restart":
            return (
                f"{changed} needs a new process; generation {outcome.generation} runs on:\n  "
                + "\n  ".join(outcome.problems)
            )


def run_serve(path: Path, *, reload: bool, as_json: bool) -> int:
    """Serve until something ends it; answer the exit code."""
    reports = Reports(as_json)
    stop = Stop()

    async def main() -> int:
        nonlocal stop
        async with stopped(Host.open(path, reload=reload, doors=True)) as (host, stop):
            return await _serve(host, reports)

    code, interrupt = run_interruptible(main)
    if interrupt.signal is not None:
        reports.say("stopped", f"stopped by {interrupt.signal.name}")
        code = Exit.DONE
    return code or report_stop(stop.report)


async def _serve(host: Host, reports: Reports) -> int:
    host.subscribe(reports.reloaded)
    for problem in host.left_out:
        reports.say("left_out", f"left out: {problem}", "yellow", problem=problem.model_dump(mode="json"))
    for item in host.diagnostics:
        reports.say("diagnostic", f"{item.place}: {item.text}", "yellow")
    doors = [row.table for row in host.reading.doors]
    agents = ", ".join(agent.name for agent in host.turns.agents())
    if not doors:
        reports.say("error", "the deployment has no door: add a [process.serve.NAME] row", "red")
        return Exit.INCOMPLETE
    reports.say("serving", f"generation {host.generation} for {agents}; doors: {', '.join(doors)}", "green")
    closed = await host.doors_closed()
    for door in closed:
        reports.say(
            "door.closed", f"{door.door}: {door.reason}", "red" if door.failed else "", failed=door.failed
        )
    return Exit.ERROR if any(door.failed for door in closed) else Exit.DONE
