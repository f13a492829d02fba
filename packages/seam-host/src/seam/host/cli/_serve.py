"""`seam serve`: keep a deployment running, with its doors open."""

from __future__ import annotations

from typing import Annotated

import typer

from seam.host.cli._options import DEFAULT_DEPLOYMENT, DeploymentOption
from seam.host.cli._reporting import reported

EXAMPLE = "Example: seam serve -d seam.toml"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve", epilog=EXAMPLE, short_help="Open the doors of a deployment.")(reported(serve))


def serve(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    reload: Annotated[
        bool, typer.Option(help="Watch the deployment and its folders, and reload on a change.")
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Report in JSON lines on standard error instead of text.")
    ] = False,
) -> int:
    """Open the doors of a deployment ([process.serve.*]) until Ctrl-C, a termination signal, or the end of every door.

    Standard output belongs to the doors; reports go to standard error. A clean end is exit code 0, also by a signal; 20
    means that stopping left something behind.
    """
    from seam.host.cli._serving import run_serve

    return run_serve(deployment, reload=reload, as_json=as_json)
