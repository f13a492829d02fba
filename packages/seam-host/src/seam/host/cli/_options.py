"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DeploymentOption = Annotated[
    Path,
    typer.Option(
        "--deployment",
        "-d",
        metavar="FILE",
        envvar="SEAM_DEPLOYMENT",
        help="The deployment file.",
        show_default=True,
    ),
]

AgentOption = Annotated[
    str | None,
    typer.Option(
        "--agent", "-a", metavar="NAME", help="The agent that acts; needed where several are declared."
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document for a program.")]

DEFAULT_DEPLOYMENT = Path("seam.toml")
