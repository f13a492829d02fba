"""`seam requirements`: the distributions that a deployment stands on."""

from __future__ import annotations

from typing import Annotated

import typer

from seam.host.cli._exits import Exit
from seam.host.cli._options import DEFAULT_DEPLOYMENT, DeploymentOption, JsonOption
from seam.host.cli._reporting import reported

EXAMPLE = "Example: seam requirements -d seam.toml > requirements.txt"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("requirements", epilog=EXAMPLE)(reported(requirements))


def requirements(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    pin: Annotated[bool, typer.Option(help="Pin the versions that are installed here.")] = True,
    as_json: JsonOption = False,
) -> int:
    """Print the distributions that a deployment needs, as lines for pip. Imports no plugin.

    A row whose provider is not installed counts with its `distribution`; without one nobody can know its name, and
    the exit code is 4.
    """
    from seam.host._merge import read_deployment
    from seam.host._requirements import required
    from seam.host.cli._screen import err, print_json, print_line

    found = required(read_deployment(deployment))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        for item in found.distributions:
            print_line(item.line if pin else item.name)
        for problem in found.problems:
            err().print(f"# {problem}", style="red")
    return Exit.INCOMPLETE if found.problems else Exit.DONE
