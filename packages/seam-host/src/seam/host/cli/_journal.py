"""`seam journal`: read the record of a deployment."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from seam.host.cli._options import DEFAULT_DEPLOYMENT, DeploymentOption, JsonOption
from seam.host.cli._reporting import reported


class OutcomeKind(StrEnum):
    """How a call ended."""

    COMPLETED = "completed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"


AgentFilter = Annotated[str | None, typer.Option("--agent", "-a", metavar="NAME", help="Of this agent.")]
SessionFilter = Annotated[str | None, typer.Option("--session", metavar="ID", help="Of this session.")]
ToolFilter = Annotated[str | None, typer.Option("--tool", metavar="NAME", help="With calls of this tool.")]
OutcomeFilter = Annotated[
    OutcomeKind | None,
    typer.Option("--outcome", help="With calls that ended so; unknown: started, never settled."),
]
SinceFilter = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Since then: 2h, 3d, or 2026-05-01T12:00 (UTC).")
]
UntilFilter = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Before then, likewise.")]
TurnArgument = Annotated[
    str, typer.Argument(metavar="[TURN]", help="Its id or the beginning of it; `last` is the newest.")
]

journal = typer.Typer(
    name="journal",
    help="Read the record of a deployment. Only its journal is started: nothing else runs, and nothing is written.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    journal.command("list", epilog="Example: seam journal list --since 2h --outcome refused")(
        reported(list_turns)
    )
    journal.command("show", epilog="Example: seam journal show last")(reported(show))
    journal.command("verify", epilog="Example: seam journal verify && echo untouched")(reported(verify))
    journal.command("export", epilog="Example: seam journal export --since 1d -o record.jsonl")(
        reported(export)
    )
    journal.command("tail", epilog="Example: seam journal tail -f")(reported(tail))
    app.add_typer(journal)


def list_turns(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    agent: AgentFilter = None,
    session: SessionFilter = None,
    tool: ToolFilter = None,
    outcome: OutcomeFilter = None,
    since: SinceFilter = None,
    until: UntilFilter = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="The newest so many.")] = 20,
    as_json: JsonOption = False,
) -> int:
    """List turns, the newest last."""
    from seam.host.cli._journal_reading import list_turns, query

    asked = query(
        agent=agent, session=session, tool=tool, outcome=outcome, since=since, until=until, limit=limit
    )
    return list_turns(deployment, asked, as_json=as_json)


def show(
    turn: TurnArgument = "last",
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write a timeline that a browser shows, instead of printing."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Show every entry of a turn."""
    from seam.host.cli._journal_reading import show_turn

    return show_turn(deployment, turn, html=html, as_json=as_json)


def verify(deployment: DeploymentOption = DEFAULT_DEPLOYMENT, as_json: JsonOption = False) -> int:
    """Check every chain: exit code 5 when an entry was changed or removed."""
    from seam.host.cli._journal_reading import verify_journal

    return verify_journal(deployment, as_json=as_json)


def export(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    agent: AgentFilter = None,
    session: SessionFilter = None,
    tool: ToolFilter = None,
    outcome: OutcomeFilter = None,
    since: SinceFilter = None,
    until: UntilFilter = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output."),
    ] = None,
) -> int:
    """Write entries as JSON, one a line, in the order of their time."""
    from seam.host.cli._journal_reading import export_entries, query

    asked = query(
        agent=agent, session=session, tool=tool, outcome=outcome, since=since, until=until, limit=None
    )
    return export_entries(deployment, asked, output)


def tail(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new entries, until Ctrl-C.")
    ] = False,
    since: SinceFilter = "10m",
    agent: AgentFilter = None,
    tool: ToolFilter = None,
    as_json: JsonOption = False,
) -> int:
    """Print what happened lately, also while another process writes."""
    from seam.host.cli._journal_reading import query, tail_entries

    asked = query(agent=agent, session=None, tool=tool, outcome=None, since=since, until=None, limit=None)
    return tail_entries(deployment, asked, follow=follow, as_json=as_json)
