"""`seam graph`: a picture of a deployment."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from seam.host.cli._exits import Exit
from seam.host.cli._options import DEFAULT_DEPLOYMENT, DeploymentOption
from seam.host.cli._reporting import reported

EXAMPLE = "Example: seam graph --installed -o seam.html"


class GraphFormat(StrEnum):
    """How a graph is written."""

    MERMAID = "mermaid"
    HTML = "html"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("graph", epilog=EXAMPLE, short_help="Draw who uses and who provides what.")(reported(graph))


def graph(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    installed: Annotated[
        bool, typer.Option("--installed", help="Everything that is installed, instead of a deployment.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write it to a file; .html, .mmd and .json say the format."
        ),
    ] = None,
    form: Annotated[
        GraphFormat | None, typer.Option("--format", help="Default: by the file's name, else mermaid.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
) -> int:
    """Draw who uses which capability and who provides it, and what is missing.

    Mermaid text goes into documents; the HTML page stands alone and can be opened in a browser. Exit code 4 when
    something is missing or broken.
    """
    from seam.host._graph import deployment_graph, installed_graph
    from seam.host._graph_page import graph_page
    from seam.host._inventory import Inventory
    from seam.host._merge import read_deployment
    from seam.host._mermaid import mermaid
    from seam.host._plan import make_plan
    from seam.host._writing import write_new
    from seam.host.cli._screen import err, print_line

    inventory = Inventory.read()
    made = (
        installed_graph(inventory)
        if installed
        else deployment_graph(make_plan(read_deployment(deployment), inventory))
    )
    kind = GraphFormat.JSON if as_json else form or _by_name(output)
    match kind:
        case GraphFormat.HTML:
            text = graph_page(made)
        case GraphFormat.JSON:
            text = made.model_dump_json(indent=2) + "\n"
        case GraphFormat.MERMAID:
            text = mermaid(made)
    if output is None:
        print_line(text.removesuffix("\n"))
    else:
        try:
            write_new(output, text, replace=True)
        except OSError as error:
            err().print(f"seam: {output} cannot be written: {error.strerror}", style="red")
            return Exit.ERROR
    for problem in made.missing:
        err().print(f"{problem}", style="yellow")
    return Exit.INCOMPLETE if made.missing else Exit.DONE


def _by_name(output: Path | None) -> GraphFormat:
    suffix = "" if output is None else output.suffix
    return {".html": GraphFormat.HTML, ".json": GraphFormat.JSON}.get(suffix, GraphFormat.MERMAID)
