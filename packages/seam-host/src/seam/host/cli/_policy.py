"""`seam policy explain`: what policy would say about a call."""

from __future__ import annotations

from typing import Annotated

import typer

from seam.host.cli._call import parsed
from seam.host.cli._options import DEFAULT_DEPLOYMENT, AgentOption, DeploymentOption, JsonOption
from seam.host.cli._reporting import reported

policy = typer.Typer(name="policy", help="Ask what is allowed.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    policy.callback()(_group)
    epilog = """Example: seam policy explain shell '{"command": "git push"}'"""
    policy.command("explain", epilog=epilog)(reported(explain))
    app.add_typer(policy)


def _group() -> None:
    """Ask what is allowed."""


def explain(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Its arguments; - reads them from standard input.")
    ] = "{}",
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    agent: AgentOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say whether a call would be allowed, asked about or denied, and by which rule. Nothing is run.

    The call goes through the chain up to its decision and is refused there; the journal says that it was asked for an
    explanation. Exit code 0: it would run; 11: it would be refused or asked about.
    """
    from seam.host.cli._explaining import run_explain

    return run_explain(deployment, agent, tool, parsed(arguments), as_json=as_json)
