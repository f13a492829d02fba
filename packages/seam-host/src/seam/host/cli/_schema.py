"""`seam schema`: what a model sees."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from seam.host.cli._exits import Exit
from seam.host.cli._options import DEFAULT_DEPLOYMENT, AgentOption, DeploymentOption
from seam.host.cli._reporting import reported

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from seam.tools_def import Descriptor

EXAMPLE = "Example: seam schema --format openai --pretty"


class SchemaFormat(StrEnum):
    """Whose spelling of a tool's schema."""

    SEAM = "seam"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    MCP = "mcp"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema", epilog=EXAMPLE, short_help="Print the tools of an agent, as a model sees them.")(
        reported(schema)
    )


def schema(
    deployment: DeploymentOption = DEFAULT_DEPLOYMENT,
    agent: AgentOption = None,
    form: Annotated[SchemaFormat, typer.Option("--format", help="Whose spelling.")] = SchemaFormat.SEAM,
    pretty: Annotated[bool, typer.Option("--pretty", help="Indent it for people.")] = False,
    hidden: Annotated[bool, typer.Option("--hidden", help="Hidden tools as well.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As always: the output is JSON.")] = False,
) -> int:
    """Print the tools of an agent, as a model sees them, with a digest over all of them.

    The text is canonical: the same tools give the same bytes, whatever stands behind them. Starts the deployment
    without its doors, and stops it.
    """
    import anyio

    return anyio.run(_print, deployment, agent, form, pretty, hidden)


async def _print(path: Path, agent: str | None, form: SchemaFormat, pretty: bool, hidden: bool) -> int:
    import json

    from seam.host._host import Host
    from seam.host.cli._agents import chosen_agent
    from seam.host.cli._screen import print_line
    from seam.host.cli._stopping import report_stop, stopped
    from seam.tools_def import canonical_json

    async with stopped(Host.open(path)) as (host, stop):
        name = chosen_agent(host.turns, agent).name
        tools = [tool for tool in host.catalogue.tools(name) if hidden or not tool.visibility.hidden]
        document = {
            "agent": name,
            "digest": host.catalogue.digest(name),
            "format": form.value,
            "tools": [spelt(tool, form) for tool in tools],
        }
    print_line(json.dumps(document, indent=2, ensure_ascii=False) if pretty else canonical_json(document))
    return report_stop(stop.report) or Exit.DONE


def spelt(tool: Descriptor, form: SchemaFormat) -> dict[str, JsonValue]:
    """A tool in the spelling of an API."""
    match form:
        case SchemaFormat.SEAM:
            return tool.model_schema()
        case SchemaFormat.OPENAI:
            return {"type": "function", "function": tool.model_schema()}
        case SchemaFormat.ANTHROPIC:
            return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        case SchemaFormat.MCP:
            return {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters,
                **({} if tool.output is None else {"outputSchema": tool.output}),
            }
