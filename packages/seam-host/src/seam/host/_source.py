"""A deployment file, read again and again: each reading is complete and starts nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from seam.host._blueprint import Blueprint
from seam.host._deployment import Deployment, Row
from seam.host._inventory import Inventory, Provider, RowError
from seam.host._loading import ConfigRefused, check_config, load, row_paths
from seam.host._merge import read_deployment
from seam.host._outcomes import RowProblem
from seam.host._prepare import failed
from seam.host._reading import Reading, Settings
from seam.host._slots import RowPlugin
from seam.host._source_folder import SourceFinder, content_digest
from seam.host._tool_files import ToolFileLoader
from seam.kernel import deployment_paths
from seam.tools_def import Agent


class Source:
    """Reads one deployment.

    Args:
        path: the deployment file.
        finder: loads the files under `tools/`; installed and removed by the host.
    """

    def __init__(self, path: Path, finder: SourceFinder) -> None:
        self._path = path
        self._tools = ToolFileLoader(finder)

    def read(self) -> Reading:
        """Read the layers, find and load every plugin, check every configuration.

        Raises:
            DeploymentError: the files are not a deployment.
            PrepareFailed: with every row that has no plugin, or whose configuration does not fit.
        """
        deployment = read_deployment(self._path)
        rows = _Rows(Inventory.read())
        base = rows.all(deployment.rows)
        process, doors = rows.all(deployment.process), rows.all(deployment.serve)
        realms = {agent.name: rows.all(agent.realm) for agent in deployment.agents if agent.realm}
        files, broken = self._tools.rows(deployment.tools)
        problems = [*rows.problems, *broken]
        if problems:
            raise failed(problems)
        return Reading(
            path=deployment.path,
            settings=Settings(
                drain=deployment.drain,
                prepare=deployment.prepare,
                stop=deployment.stop,
                debounce=deployment.debounce,
            ),
            blueprint=Blueprint(
                agents=_agents(deployment),
                base=(*base, *files),
                realms=realms,
                left_out=tuple(rows.left_out),
                mixed=deployment.mixed,
            ),
            process=process,
            doors=doors,
            watched=(*deployment.layers, deployment.tools, *rows.watched),
            installed=rows.fingerprints,
        )


def _agents(deployment: Deployment) -> tuple[Agent, ...]:
    return tuple(
        Agent(name=agent.name, workspace=agent.workspace, call_hidden=frozenset(agent.call_hidden))
        for agent in deployment.agents
    )


class _Rows:
    """Turns rows into rows with plugins, and gathers what is wrong with any of them."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self.problems: list[RowProblem] = []
        self.left_out: list[RowProblem] = []
        self.watched: list[Path] = []
        self.fingerprints: dict[str, str] = {}

    def all(self, rows: Iterable[Row]) -> tuple[RowPlugin, ...]:
        """The rows that have a plugin; an optional one that has none is left out and said."""
        found = (self._try(row) for row in rows)
        return tuple(row for row in found if row is not None)

    def _try(self, row: Row) -> RowPlugin | None:
        try:
            return self._load(row)
        except ConfigRefused as error:
            problems = error.problems
        except RowError as error:
            problems = (error.problem,)
        (self.left_out if row.optional else self.problems).extend(problems)
        return None

    def _load(self, row: Row) -> RowPlugin:
        provider = self._inventory.resolve(row)
        self._remember(provider)
        plugin = load(row, provider)
        paths = row_paths(row, plugin)
        config = {**row.config, **{name: str(path) for name, path in paths.items()}}
        salt = ""
        for name, mark in deployment_paths(plugin.config).items():
            if mark.watched and name in paths:
                self.watched.append(paths[name])
                salt += content_digest(paths[name]) if paths[name].exists() else "absent"
        check_config(row, plugin, config)
        return RowPlugin(
            table=row.table,
            plugin=plugin,
            config=config,
            distribution=f"{provider} {provider.fingerprint}".strip(),
            optional=row.optional,
            salt=salt,
        )

    def _remember(self, provider: Provider) -> None:
        self.fingerprints[provider.distribution] = f"{provider.version} {provider.fingerprint}"
