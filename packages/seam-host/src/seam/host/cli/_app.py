"""The command line. Every command imports what it needs when it runs, so that `seam --help` is quick."""

from __future__ import annotations

from typing import Annotated

import typer

from seam.host.cli import (
    _call,
    _doctor,
    _graph,
    _init,
    _journal,
    _plan,
    _policy,
    _requirements,
    _schema,
    _serve,
)
from seam.host.cli._exits import EPILOG

app = typer.Typer(
    name="seam",
    help="Capabilities for AI agents, with exchangeable execution.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: quick, and the same in every terminal
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"seam {version('seam-host')}")
        raise typer.Exit


@app.callback()
def seam(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Capabilities for AI agents, with exchangeable execution."""


for module in (_init, _plan, _schema, _call, _serve, _policy, _journal, _doctor, _graph, _requirements):
    module.register(app)


def main() -> None:
    """The console script."""
    app()
