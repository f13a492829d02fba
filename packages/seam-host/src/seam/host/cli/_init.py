"""`seam init`: a first deployment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seam.host.cli._exits import Exit
from seam.host.cli._options import DEFAULT_DEPLOYMENT
from seam.host.cli._reporting import reported

EXAMPLE = "Example: seam init --use exec=local"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("init", epilog=EXAMPLE)(reported(init))


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="Where to write it.")] = DEFAULT_DEPLOYMENT,
    use: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=MECHANISM", help="Choose an implementer, where several are installed."),
    ] = None,
    workspace: Annotated[str, typer.Option(help="The workspace of the agent `default`.")] = ".",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Write a first deployment, made of what is installed.

    Every consumer that can work without options gets a row, and every key that it needs an implementer. What is
    installed and needs options, or lacks something, is written as a comment.
    """
    from seam.host._inventory import Inventory
    from seam.host._merge import read_deployment
    from seam.host._plan import make_plan
    from seam.host._starter import Starter, UnknownChoice, check_choices
    from seam.host._writing import write_new
    from seam.host.cli._screen import err, out

    chosen = _choices(use or [])
    inventory = Inventory.read()
    try:
        check_choices(inventory, chosen)
    except UnknownChoice as unknown:
        known = ", ".join(unknown.known) or "nothing"
        raise typer.BadParameter(
            f"nothing installed provides {unknown.mechanism!r} of {unknown.key!r}; installed: {known}",
            param_hint="--use",
        ) from None
    try:
        write_new(file, Starter(inventory, chosen).text(workspace), replace=force)
    except FileExistsError:
        err().print(f"seam: {file} is there already; --force replaces it", style="red")
        return Exit.ERROR
    except OSError as error:
        err().print(f"seam: {file} cannot be written: {error.strerror}", style="red")
        return Exit.ERROR
    made = make_plan(read_deployment(file), inventory)
    screen = out()
    screen.print(f"wrote {file}", style="green")
    for row in made.rows:
        screen.print(f"  {row.table} = {row.use}")
    if made.complete:
        screen.print(f"next: seam plan -d {file}, then seam schema -d {file}")
        return Exit.DONE
    for text in (*made.problems, *(str(problem) for row in made.rows for problem in row.problems)):
        screen.print(text, style="yellow")
    screen.print(f"not complete yet: seam plan -d {file} says what is missing", style="yellow")
    return Exit.INCOMPLETE


def _choices(given: list[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for item in given:
        key, equals, mechanism = item.partition("=")
        if not equals or not key or not mechanism:
            raise typer.BadParameter(f"{item!r} is not KEY=MECHANISM", param_hint="--use")
        chosen[key] = mechanism
    return chosen
