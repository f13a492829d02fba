"""A deployment as a value: what its layers say together, and which file and line says it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from seam.host._outcomes import HostError
from seam.kernel import Value

Section = Literal["implement", "consume", "process", "serve"]
"""Where a row stands: `[implement.*]`, `[consume.*]`, `[process.*]`, `[process.serve.*]`."""


class Location(Value):
    """A place in a deployment file.

    Attributes:
        file: the layer, absolute.
        line: 1-based; None where no line says it (a missing table, a missing file).
        path: dotted TOML path, for example `implement.exec.timeout`; empty for the file as a whole.
    """

    file: Path
    line: int | None = None
    path: str = ""

    @property
    def spot(self) -> str:
        """File and line."""
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.spot}: {self.path}" if self.path else self.spot


class Row(Value):
    """One row of a deployment, all layers merged.

    Attributes:
        section: where it stands.
        table: its table as written: `implement.exec`, `agents.reviewer.implement.sandbox_policy`, `process.serve.mcp`.
        name: the last part of the table: a service key for an implementer, a name of its own for a consumer.
        agent: the agent whose realm it belongs to, or None.
        use: mechanism or consumer; for `consume` and `serve` the row's name unless the row says otherwise.
        distribution: the distribution that is to provide it, where the row names one.
        optional: left out instead of rejecting the candidate.
        config: every key that is not a row word, as TOML gave it.
        where: the row's table in the last layer that has it.
        places: by dotted key (row words and config alike), the layer and line that decided its value.
    """

    section: Section
    table: str
    name: str
    agent: str | None = None
    use: str
    distribution: str | None = None
    optional: bool = False
    config: Mapping[str, object] = Field(default_factory=dict[str, object])
    where: Location
    places: Mapping[str, Location] = Field(default_factory=dict[str, Location])

    @property
    def key(self) -> str | None:
        """The service key that the row chooses an implementer for; None for a consumer or a door."""
        return self.name if self.section in ("implement", "process") else None

    @property
    def group(self) -> str:
        """The entry point group that its plugin is found in."""
        return "seam.consumer" if self.key is None else f"seam.implementer.{self.key}"

    def place(self, path: str) -> Location:
        """The location of a key, or of what is around it where it is not written; `path` may be dotted (`network.mode`)."""
        parts = path.split(".")
        for depth in range(len(parts), 0, -1):
            known = self.places.get(".".join(parts[:depth]))
            if known is not None:
                return known.model_copy(update={"path": ".".join([known.path, *parts[depth:]])})
        return self.where.model_copy(update={"path": f"{self.table}.{path}"})


class AgentRow(Value):
    """`[agents.NAME]`.

    Attributes:
        workspace: absolute; a relative one starts at the file that says it.
        call_hidden: hidden tools that this agent's callers were given.
        realm: the rows that replace an implementer for this agent only, merged over the deployment's row of the same key.
    """

    name: str
    workspace: str
    call_hidden: tuple[str, ...] = ()
    realm: tuple[Row, ...] = ()
    where: Location


class Deployment(Value):
    """What a deployment file and its layers say together.

    Attributes:
        path: the file that was asked for, absolute.
        layers: every file that was read, lowest first, the file itself last.
        agents: in listing order.
        rows: implementers and consumers for everybody, in listing order.
        process: rows that live as long as the process, doors excluded.
        serve: the doors, `[process.serve.*]`.
        removed: tables with `enabled = false`.
        mixed: why confined and unconfined tools stand beside each other, or None.
        tools: the folder of tool files; it need not exist.
        drain: seconds that turns of a retired generation may go on.
        prepare: seconds in which every plugin of a candidate must have come up.
        stop: seconds that stopping waits for open turns.
        debounce: seconds without a further change that end a burst of changes.
    """

    path: Path
    layers: tuple[Path, ...]
    agents: tuple[AgentRow, ...] = ()
    rows: tuple[Row, ...] = ()
    process: tuple[Row, ...] = ()
    serve: tuple[Row, ...] = ()
    removed: tuple[str, ...] = ()
    mixed: str | None = None
    tools: Path
    drain: float
    prepare: float
    stop: float
    debounce: float

    @property
    def every_row(self) -> tuple[Row, ...]:
        """All rows: of the process, for everybody, of the realms, doors."""
        realms = tuple(row for agent in self.agents for row in agent.realm)
        return (*self.process, *self.rows, *realms, *self.serve)


class DeploymentProblem(Value):
    """One thing that is wrong in a deployment.

    Attributes:
        where: file, line and path.
        text: what is wrong.
        remedy: what to do; may be empty.
    """

    where: Location
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" + (f"\n    {self.remedy}" if self.remedy else "")


class DeploymentError(HostError):
    """A deployment cannot be read; nothing was started. Facts: `path`, `problems` (tuple of DeploymentProblem)."""

    code = "DEPLOYMENT_INVALID"
    problems: tuple[DeploymentProblem, ...]
    path: Path


def deployment_error(path: Path, problems: tuple[DeploymentProblem, ...]) -> DeploymentError:
    """The error that carries these problems."""
    text = "\n  ".join(str(problem) for problem in problems)
    return DeploymentError(
        f"the deployment {path} cannot be used:\n  {text}", path=path, problems=tuple(problems)
    )
