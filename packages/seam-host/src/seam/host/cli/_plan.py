"""`seam plan`: what would become of a deployment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seam.host.cli._exits import Exit
from seam.host.cli._options import DEFAULT_DEPLOYMENT, DeploymentOption, JsonOption
from seam.host.cli._reporting import reported

if TYPE_CHECKING:
    from seam.host._outcomes import RowProblem
    from seam.host._plan import Plan, PlannedRow

EXAMPLE = "Example: seam plan -d seam.toml"
STYLES = {
    "ready": "green",
    "pending": "yellow",
    "left out": "yellow",
    "missing": "red",
    "failed": "red",
    "invalid": "red",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan", epilog=EXAMPLE)(reported(plan))


def plan(deployment: DeploymentOption = DEFAULT_DEPLOYMENT, as_json: JsonOption = False) -> int:
    """Show who provides each row of a deployment, and what is missing. Starts nothing.

    The plugins that the deployment names are imported to see what they need. Exit code 4 when a row that is not
    optional is pending, missing, failed or invalid.
    """
    from seam.host._inventory import Inventory
    from seam.host._merge import read_deployment
    from seam.host._plan import make_plan
    from seam.host.cli._screen import print_json

    made = make_plan(read_deployment(deployment), Inventory.read())
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        _show(made)
    return Exit.DONE if made.complete else Exit.INCOMPLETE


def _show(made: Plan) -> None:
    from rich.table import Table
    from rich.text import Text

    from seam.host.cli._screen import out

    screen = out()
    screen.print(f"{_short(made.path)}", style="bold")
    for layer in made.layers[:-1]:
        screen.print(f"  over {_short(layer)}", style="dim")
    for agent, workspace in made.agents.items():
        screen.print(f"  agent {agent} in {workspace}")
    screen.print()
    table = Table(box=None, show_header=True, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("state", no_wrap=True)
    table.add_column("row", overflow="fold")
    table.add_column("provided by", overflow="fold")
    for row in made.rows:
        table.add_row(Text(row.state, STYLES[row.state]), row.table, _provider(row))
    screen.print(table)
    for row in made.rows:
        for problem in row.problems:
            _explain(problem, row)
    for text in made.problems:
        screen.print(f"\n{text}", style="red")
    for file in made.tool_files:
        screen.print(f"\n{_short(file)} is loaded when the deployment starts", style="dim")
    for removed in made.removed:
        screen.print(f"\n{removed} is taken out by enabled = false", style="dim")
    for problem in made.installed:
        screen.print(f"\ninstalled: {problem}", style="yellow")
    screen.print()
    words = ("complete", "green") if made.complete else ("not complete: it would not be published", "red")
    screen.print(words[0], style=words[1])


def _provider(row: PlannedRow) -> str:
    if row.distribution is None:
        return f"{row.use}: nothing"
    return f"{row.use} of {row.distribution} {row.version}"


def _explain(problem: RowProblem, row: PlannedRow) -> None:
    from seam.host.cli._screen import out

    screen = out()
    screen.print()
    screen.print(f"{problem.row} ({_short(problem.where)})", style=STYLES[row.state])
    screen.print(f"  {problem.text}")
    if problem.remedy:
        screen.print(f"  {problem.remedy}", style="bold")


def _short(place: Path | str) -> str:
    text, here = str(place), f"{Path.cwd()}/"
    return text.removeprefix(here)
