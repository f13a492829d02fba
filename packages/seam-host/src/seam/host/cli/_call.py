"""`seam call`: one call of one tool, through the whole chain."""

from __future__ import annotations

from typing import Annotated

import typer

from seam.host.cli._options import DEFAULT_DEPLOYMENT, AgentOption, DeploymentOption, JsonOption
from seam.host.cli._reporting import reported

EXAMPLE = """Example: seam call shell '{"command": "uname -a"}'"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("call", epilog=EXAMPLE, short_help="Call a tool.")(reported(call))


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name; `seam schema` lists them.")],
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Its arguments; - reads them from standard input.")
    ] = "{}",
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    agent: AgentOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Approve whatever would be asked; a denial by policy stays.")
    ] = False,
    unattended: Annotated[
        bool, typer.Option("--unattended", help="Ask nobody: what needs an approval is refused.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Call a tool of an agent, and print what a model would read.

    On a terminal the call's output is shown as it arrives, and you are asked where an approval is needed. Elsewhere
    nobody can be asked: what needs an approval is refused unless --yes is given. Ctrl-C ends the call and everything
    it started. The exit codes 10 to 14 say how the call ended (see seam --help).
    """
    from seam.host.cli._calling import CallOptions, run_call

    return run_call(
        CallOptions(
            tool=tool,
            arguments=parsed(arguments),
            deployment=deployment,
            agent=agent,
            yes=yes,
            unattended=unattended,
            as_json=as_json,
        )
    )


def parsed(arguments: str) -> object:
    """The JSON that was given, or that stands on standard input."""
    import json
    import sys

    text = sys.stdin.read() if arguments == "-" else arguments
    try:
        return json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint="JSON") from None
