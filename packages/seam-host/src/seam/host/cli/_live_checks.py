"""What a running deployment says about itself: left-out rows, what its plugins report, what its sandbox enforces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from pydantic import BaseModel, ConfigDict

from seam.host._checks import Check
from seam.host._host import Host
from seam.host.cli._screen import out
from seam.kernel import SeamError
from seam.sandbox_def import PathRule, PolicyReport, RuntimeReport, SandboxPolicy, SandboxRuntime


class SandboxPage(BaseModel):
    """What an agent's sandbox is, and does here."""

    model_config = ConfigDict(frozen=True)

    agent: str
    policy: PolicyReport | None
    runtime: RuntimeReport | None

    def show(self, before: SandboxPage | None) -> None:
        """Print it for a person; a runtime that says the same as on the page before is not repeated."""
        screen = out()
        screen.print(f"\nsandbox of agent {self.agent}", style="bold")
        if self.policy is not None:
            _show_policy(self.policy)
        if before is not None and self.runtime == before.runtime:
            screen.print(f"  runtime as for agent {before.agent}")
        elif self.runtime is not None:
            _show_runtime(self.runtime)


@dataclass
class Live:
    """What was found."""

    checks: list[Check] = field(default_factory=list[Check])
    sandbox: list[SandboxPage] = field(default_factory=list[SandboxPage])


def live_checks(path: Path, *, sandbox: bool) -> Live:
    """Start a deployment, ask, and stop it.

    Raises:
        SeamError: it cannot be started.
    """
    return anyio.run(_ask, path, sandbox)


async def _ask(path: Path, sandbox: bool) -> Live:
    found = Live()
    async with Host.open(path) as host:
        found.checks += [
            Check(
                state="notice", name="left out", text=f"{problem.row}: {problem.text}", remedy=problem.remedy
            )
            for problem in host.left_out
        ]
        found.checks += [
            Check(state="notice", name="plugin", text=f"{item.place}: {item.text}")
            for item in host.diagnostics
        ]
        if sandbox:
            for agent in host.turns.agents():
                await _ask_sandbox(host, agent.name, agent.workspace, found)
        report = await host.stop()
        found.checks += [Check(state="wrong", name="stopping", text=text) for text in report.errors]
    if not found.checks:
        found.checks.append(Check(state="fine", name="live", text="it started and stopped without a word"))
    return found


async def _ask_sandbox(host: Host, agent: str, workspace: str, found: Live) -> None:
    policy, runtime = host.service(agent, SandboxPolicy), host.service(agent, SandboxRuntime)
    if policy is None and runtime is None:
        text = f"agent {agent} has neither a policy nor a runtime: nothing confines its commands"
        found.checks.append(Check(state="notice", name="sandbox", text=text))
        return
    lists = None
    try:
        lists = None if policy is None else policy.report(workspace)
    except SeamError as error:
        found.checks.append(Check(state="wrong", name="sandbox", text=f"agent {agent}: {error.message}"))
    report = None if runtime is None else await runtime.report()
    found.sandbox.append(SandboxPage(agent=agent, policy=lists, runtime=report))
    if report is not None and not any(probe.usable for probe in report.probes):
        reasons = "; ".join(str(finding) for probe in report.probes for finding in probe.findings)
        found.checks.append(
            Check(
                state="wrong",
                name="sandbox",
                text=f"agent {agent}: no runtime can confine here",
                remedy=reasons,
            )
        )


def _show_policy(page: PolicyReport) -> None:
    screen = out()
    screen.print(f"  mode {page.mode}, at most {page.ceiling}; network {page.network}")
    for name, rules in (("writable", page.writable), ("protected", page.protected), ("hidden", page.hidden)):
        screen.print(f"  {name}", style="bold")
        for reason, paths in _by_reason(rules).items():
            screen.print(f"    {reason}: {', '.join(paths)}")
        if not rules:
            screen.print("    nothing")
    limits = ", ".join(
        f"{name} {value}" for name, value in page.limits.model_dump().items() if value is not None
    )
    screen.print(f"  limits: {limits}")


def _by_reason(rules: Iterable[PathRule]) -> dict[str, list[str]]:
    """Paths under their reason, as they were written; where a rule comes from stands behind it unless it is a default."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        source = "" if rule.source == "default" else f" (from the {rule.source})"
        found.setdefault(rule.reason, []).append(f"{rule.given or rule.path}{source}")
    return found


def _show_runtime(page: RuntimeReport) -> None:
    screen = out()
    for probe in page.probes:
        state, style = ("usable", "green") if probe.usable else ("not usable", "red")
        version = f" {probe.version}" if probe.version else ""
        runner = f" ({probe.runner})" if probe.runner else ""
        screen.print(f"  runtime {probe.runtime}{version}{runner}: {state}", style=style)
        if probe.features:
            screen.print(f"    has {', '.join(probe.features)}")
        for finding in probe.findings:
            screen.print(f"    {finding}", style="yellow")
    for mode in page.modes:
        enforced = mode.enforcement
        style = "green" if enforced.level == "full" else "yellow"
        layers = ", ".join(enforced.layers) or "nothing"
        screen.print(f"  {mode.mode}, network {mode.network}: {enforced.level} by {layers}", style=style)
        for gap in enforced.gaps:
            remedy = f" To close it: {gap.remedy}." if gap.remedy else ""
            screen.print(f"    not stopped: {gap.code}: {gap.explanation}{remedy}")
