"""The journal of a deployment without the rest of it: to read it while nothing, or another process, runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from seam.host._inventory import Inventory
from seam.host._loading import check_config, load, row_paths
from seam.host._merge import read_deployment
from seam.host._outcomes import RowProblem
from seam.host._prepare import failed
from seam.host._process import ProcessRows
from seam.host._slots import RowPlugin
from seam.kernel import Fault, Kernel
from seam.tools_def import Journal

NO_JOURNAL = RowProblem(
    row="process.journal",
    key="journal",
    text="the deployment has no journal",
    remedy='add [process.journal] with use = "..."',
    kind="missing",
)


@asynccontextmanager
async def open_journal(path: Path) -> AsyncGenerator[Journal]:
    """Start the process rows that the journal needs, and nothing else: no generation, no door.

    Raises:
        DeploymentError: the file cannot be read as a deployment.
        RowError: the row has no plugin, or its configuration does not fit.
        PrepareFailed: there is no such row, or its plugin does not start.
    """
    rows = _needed(path)
    async with Kernel(on_fault=_told_by_problems) as kernel:
        await ProcessRows(kernel.root).start(rows)
        journal = kernel.root.get(Journal)
        if journal is None:
            raise failed([NO_JOURNAL])
        yield journal


def _needed(path: Path) -> list[RowPlugin]:
    deployment = read_deployment(path)
    inventory = Inventory.read()
    waiting = {Journal.service_key}
    seen: set[str] = set()
    found: list[RowPlugin] = []
    while waiting:
        key = waiting.pop()
        seen.add(key)
        for row in deployment.process:
            if row.key != key:
                continue
            provider = inventory.resolve(row)
            plugin = load(row, provider)
            config = {**row.config, **{name: str(file) for name, file in row_paths(row, plugin).items()}}
            check_config(row, plugin, config)
            found.append(RowPlugin(row.table, plugin, config, f"{provider}"))
            waiting |= {service.service_key for service in plugin.requires} - seen
    return found


def _told_by_problems(fault: Fault) -> None:
    """A plugin that does not start is a problem of its row, which `start` raises."""
