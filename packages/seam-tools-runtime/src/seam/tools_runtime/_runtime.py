"""The service behind `tools`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from seam.tools_def import (
    Catalogue,
    LeaseInvalid,
    OpenTurn,
    ProjectionRequest,
    Tools,
    TurnOpened,
    TurnOpening,
)
from seam.tools_runtime._aftermath import Aftermath
from seam.tools_runtime._catalogue import RuntimeCatalogue
from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._projection import Projector
from seam.tools_runtime._session import Session
from seam.tools_runtime._turn import RuntimeTurn
from seam.tools_runtime._workers import Workers


class Runtime(Tools):
    """Owns the tasks in which tools run, through the task group that it is given."""

    def __init__(self, tasks: TaskGroup, config: RuntimeConfig) -> None:
        self._config = config
        self._workers = Workers(tasks)
        self._aftermath = Aftermath(tasks, config.journal_timeout)
        self._projector = Projector(self._workers, config, maker=self)

    async def project(self, request: ProjectionRequest) -> Catalogue:
        return await self._projector.project(request)

    async def open(self, opening: TurnOpening) -> OpenTurn:
        catalogue = opening.catalogue
        if not isinstance(catalogue, RuntimeCatalogue) or catalogue.maker is not self:
            raise LeaseInvalid(
                f"the lease on generation {opening.lease.generation} is for a catalogue of another runtime; "
                "open the turn at the runtime that projected it",
                generation=opening.lease.generation,
            )
        opening.lease.check()
        session = Session(opening, catalogue, self._workers, self._config, self._aftermath)
        await session.write(
            TurnOpened.trusted(
                agent=opening.agent.name,
                session=opening.session,
                access=opening.access,
                generation=opening.lease.generation,
            )
        )
        return RuntimeTurn(session)

    def stop(self) -> None:
        """Tell everything that runs to stop; the task group waits for its end."""
        self._workers.stop("the runtime is stopping", self._config.grace)


@asynccontextmanager
async def open_runtime(config: RuntimeConfig) -> AsyncGenerator[Runtime]:
    """A runtime and its tasks. At the end what still runs is cancelled and waited for; code that ignores that keeps it open."""
    async with anyio.create_task_group() as tasks:
        runtime = Runtime(tasks, config)
        try:
            yield runtime
        finally:
            runtime.stop()
