"""The shape of one layer file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from seam.kernel import Seconds

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
"""What a row, an agent or a consumer is called."""

Duration = Annotated[Seconds, Field(gt=0, allow_inf_nan=False)]

ROW_WORDS = ("use", "distribution", "optional", "enabled")
"""Words of a row that are not configuration of its plugin."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RowTable(_Table):
    """A row in one layer: row words, and everything else for the plugin."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    use: Annotated[str, StringConstraints(min_length=1)] | None = None
    distribution: (
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")] | None
    ) = None
    optional: bool | None = None
    enabled: bool | None = None


class AgentTable(_Table):
    """`[agents.NAME]` in one layer."""

    workspace: Annotated[str, StringConstraints(min_length=1)] | None = None
    call_hidden: list[str] | None = None
    implement: dict[Name, RowTable] = Field(default_factory=dict[str, RowTable])


class ProcessTable(BaseModel):
    """`[process]` in one layer: the doors under `serve`, a row for each other word."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    # pydantic reads the type of further keys from here
    __pydantic_extra__: dict[Name, RowTable] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    serve: dict[Name, RowTable] = Field(default_factory=dict[str, RowTable])

    @property
    def rows(self) -> Mapping[str, RowTable]:
        """The rows that are not doors."""
        return self.__pydantic_extra__


class SeamTable(_Table):
    """`[seam]` in one layer."""

    extends: list[str] = Field(default_factory=list[str])
    mixed: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] | None = None
    tools: Annotated[str, StringConstraints(min_length=1)] | None = None
    drain: Duration | None = None
    prepare: Duration | None = None
    stop: Duration | None = None
    debounce: Duration | None = None


class LayerFile(_Table):
    """A whole layer file."""

    seam: SeamTable = SeamTable()
    agents: dict[Name, AgentTable] = Field(default_factory=dict[str, AgentTable])
    implement: dict[Name, RowTable] = Field(default_factory=dict[str, RowTable])
    consume: dict[Name, RowTable] = Field(default_factory=dict[str, RowTable])
    process: ProcessTable = Field(default_factory=ProcessTable)
