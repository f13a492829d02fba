"""`seam doctor`: is this environment in order, and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seam.host.cli._exits import Exit
from seam.host.cli._options import DEFAULT_DEPLOYMENT, JsonOption
from seam.host.cli._reporting import reported

if TYPE_CHECKING:
    from seam.host._checks import Check
    from seam.host._inventory import Inventory

EXAMPLE = "Example: seam doctor --sandbox"
MARKS = {"fine": ("ok", "green"), "notice": ("!", "yellow"), "wrong": ("wrong", "red")}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog=EXAMPLE, short_help="Check this environment, and say how to mend it.")(
        reported(doctor)
    )


def doctor(
    deployment: Annotated[
        Path | None,
        typer.Option(
            "--deployment",
            "-d",
            metavar="FILE",
            envvar="SEAM_DEPLOYMENT",
            help="A deployment to look at as well; seam.toml where there is one.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Start the deployment (without its doors) and ask its plugins.")
    ] = False,
    sandbox: Annotated[
        bool,
        typer.Option(
            "--sandbox", help="Start the deployment and show what its sandbox enforces, by trying it."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Check this environment, and say how to mend it. Exit code 5 when something is wrong.

    Without --live or --sandbox nothing is started; plugins are imported only where a deployment names them.
    """
    from seam.host._checks import environment_checks
    from seam.host._inventory import Inventory
    from seam.host.cli._live_checks import Live, live_checks
    from seam.host.cli._screen import print_json

    inventory = Inventory.read()
    file = deployment or (DEFAULT_DEPLOYMENT if DEFAULT_DEPLOYMENT.exists() else None)
    checks = list(environment_checks(inventory))
    seen = Live()
    if file is not None:
        checks += _deployment_checks(file, inventory)
    if live or sandbox:
        seen = live_checks(file or DEFAULT_DEPLOYMENT, sandbox=sandbox)
        checks += seen.checks
    if as_json:
        print_json(
            {
                "checks": [check.model_dump(mode="json") for check in checks],
                "sandbox": [page.model_dump(mode="json") for page in seen.sandbox],
            }
        )
    else:
        _show(checks)
        for before, page in zip([None, *seen.sandbox], seen.sandbox, strict=False):
            page.show(before)
    return Exit.FINDINGS if any(check.state == "wrong" for check in checks) else Exit.DONE


def _deployment_checks(file: Path, inventory: Inventory) -> list[Check]:
    from seam.host._checks import Check
    from seam.host._merge import read_deployment
    from seam.host._plan import make_plan
    from seam.kernel import SeamError

    try:
        made = make_plan(read_deployment(file), inventory)
    except SeamError as error:
        return [Check(state="wrong", name="deployment", text=error.message)]
    found = [
        Check(
            state="notice" if row.state == "left out" else "wrong",
            name="deployment",
            text=f"{problem.row} ({problem.where}): {problem.text}",
            remedy=problem.remedy,
        )
        for row in made.rows
        for problem in row.problems
    ]
    found += [Check(state="wrong", name="deployment", text=text) for text in made.problems]
    return found or [Check(state="fine", name="deployment", text=f"{file}: every row has what it needs")]


def _show(checks: list[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    from seam.host.cli._screen import out

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        mark, style = MARKS[check.state]
        found = Text(check.text)
        if check.remedy:
            found.append(f"\n{check.remedy}", "bold")
        table.add_row(Text(mark, style), check.name, found)
    out().print(table)
