"""The embedding API: a deployment that runs."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar, cast

import anyio
from pydantic import JsonValue

from seam.host._control import GenerationControl
from seam.host._doors import Doors
from seam.host._gate import Gate
from seam.host._generation import Generation
from seam.host._outcomes import (
    HostStopped,
    PrepareFailed,
    ReloadOutcome,
    RollbackFailed,
    RowProblem,
    StopReport,
)
from seam.host._prepare import PreparedCandidate, Preparer, failed
from seam.host._process import ProcessRows, gate_plugin, process_digest, process_identities
from seam.host._reading import Reading
from seam.host._source import Source
from seam.host._source_folder import SourceFinder
from seam.host._watch import Changes, Watcher
from seam.kernel import Kernel, Scope, ScopeFacts, Service
from seam.tools_def import (
    Catalogue,
    Diagnostic,
    DoorClosed,
    GrantBook,
    Grants,
    Journal,
    Noted,
    Permissions,
    TurnGate,
)

ServiceT = TypeVar("ServiceT", bound=Service)
ReloadObserver = Callable[[ReloadOutcome], None]

NO_JOURNAL = RowProblem(
    row="process.journal",
    key="journal",
    text="nothing provides `journal`, and nothing runs unrecorded",
    remedy='add [process.journal] with use = "sqlite" (pip install seam-journal-sqlite) or use = "memory"',
    kind="missing",
)


class Host:
    """A running deployment. Made by `Host.open`; not to be used after its block.

    Example:
        async with Host.open("deployment.toml") as host:
            async with host.turns.open("default", session="s1", access=access) as turn:
                outcome = await turn.call("shell", {"command": "echo hello"})
    """

    def __init__(self, source: Source, reading: Reading, kernel: Kernel) -> None:
        self._source = source
        self._reading = reading
        self._kernel = kernel
        self._rows = ProcessRows(kernel.root)
        self._grants: Grants = GrantBook()
        self._sequence = f"host:{uuid.uuid4().hex}"
        self._control = GenerationControl(self._note, drain=reading.settings.drain)
        self._gate = Gate(self._control, self._grants, lambda: self.journal)
        self._preparer = Preparer(
            kernel.root, process_identities(reading.process), timeout=reading.settings.prepare
        )
        self._reload_observers: dict[object, ReloadObserver] = {}
        self._reloading = anyio.Lock()
        self._doors_open = False
        self._doors = Doors()
        self._stopped: StopReport | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls, path: str | Path, *, reload: bool = False, doors: bool = False
    ) -> AsyncGenerator[Host]:
        """Run a deployment for the length of the block.

        Args:
            path: the deployment file.
            reload: watch its layers and folders, and reload on a change.
            doors: start the `[process.serve.*]` rows.

        Raises:
            DeploymentError: the file cannot be read as a deployment; nothing was started.
            PrepareFailed: a row has no plugin, a plugin is pending or failed, names or schemas are wrong; all is unwound.
        """
        finder = SourceFinder()
        finder.install()
        body: Exception | None = None
        try:
            source = Source(Path(path), finder)
            reading = source.read()
            async with Kernel(on_fault=_kept_by_kernel) as kernel:
                host = cls(source, reading, kernel)
                async with anyio.create_task_group() as tasks:
                    try:
                        await host._start(tasks, reload=reload, doors=doors)
                        yield host
                    except Exception as error:
                        # raised again below: through the task groups it would arrive wrapped in groups of its own
                        body = error
                    finally:
                        with anyio.CancelScope(shield=True):
                            await host.stop()
                        tasks.cancel_scope.cancel()
        finally:
            finder.remove()
        if body is not None:
            raise body

    async def _start(self, tasks: anyio.abc.TaskGroup, *, reload: bool, doors: bool) -> None:
        self._control.run_in(tasks)
        self._kernel.root.load(
            gate_plugin(self._gate, self._doors, self._note), name="turns", distribution="seam-host"
        )
        await self._rows.start(self._reading.process)
        if self._kernel.root.get(Journal) is None:
            raise failed([NO_JOURNAL])
        outcome = await self._control.replace(self._candidate)
        assert outcome.kind == "published"  # anything else raised
        if doors:
            self._doors_open = True
            self._doors.opening(row.table for row in self._reading.doors)
            await self._rows.start(self._reading.doors)
        if reload:
            tasks.start_soon(self._watch)

    @property
    def turns(self) -> TurnGate:
        """Opens turns on the published generation."""
        return self._gate

    @property
    def journal(self) -> Journal:
        """The journal of the process."""
        found = self._kernel.root.get(Journal)
        if found is None:
            raise failed([NO_JOURNAL])
        return found

    @property
    def grants(self) -> Grants:
        """What persons granted beyond one call."""
        return self._grants

    @property
    def generation(self) -> int:
        """The number of the published generation."""
        return self._control.admit().number

    @property
    def left_out(self) -> tuple[RowProblem, ...]:
        """Optional rows that the published generation does not have, with the reason."""
        return self._control.admit().contents.left_out

    @property
    def catalogue(self) -> Catalogue:
        """What each agent could see in the published generation, before access filters."""
        return self._control.admit().contents.catalogue

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What plugins of the process and of the published generation want the operator to know."""
        scopes = (self._kernel.root, self._control.admit().contents.scope)
        return tuple(item for scope in scopes for _, item in scope.contributions(Diagnostic))

    async def doors_closed(self) -> tuple[DoorClosed, ...]:
        """Wait until every door has told that its other side is gone; for ever where no door was opened."""
        return await self._doors.closed()

    @property
    def reading(self) -> Reading:
        """The deployment as it was last read and published."""
        return self._reading

    def permissions(self, agent: str) -> Permissions | None:
        """The policy that the agent's calls go past."""
        return self._control.admit().permissions(agent)

    def service(self, agent: str, kind: type[ServiceT]) -> ServiceT | None:
        """A service as the agent's tools would get it: for reports (`seam doctor`), never for calling tools."""
        return self._control.admit().place(agent).get(kind)

    def describe(self) -> ScopeFacts:
        """Everything that runs, as data."""
        return self._kernel.root.describe()

    def living(self) -> tuple[Generation, ...]:
        """The published generation and those that still drain."""
        return self._control.living()

    def subscribe(self, observer: ReloadObserver) -> Callable[[], None]:
        """Be told the outcome of each reload, also of those that were refused; returns an idempotent disposer."""
        key = object()
        self._reload_observers[key] = observer

        def unsubscribe() -> None:
            self._reload_observers.pop(key, None)

        return unsubscribe

    async def reload(self, changed: tuple[str, ...] = ()) -> ReloadOutcome:
        """Read the deployment again and publish what changed. A refusal is an outcome: the old generation runs on.

        Raises:
            HostStopped: the host is stopping.
            RollbackFailed: a candidate could not be unwound; admission is closed.
        """
        async with self._reloading:
            outcome = (await self._try_reload()).model_copy(update={"changed": changed})
        if outcome.kind == "unchanged" and not changed:
            return outcome
        for observer in list(self._reload_observers.values()):
            observer(outcome)
        if outcome.kind in ("refused", "restart"):
            await self._note(
                f"reload.{outcome.kind}", "; ".join(outcome.problems), {"changed": list(changed)}
            )
        return outcome

    async def _try_reload(self) -> ReloadOutcome:
        number = self._control.number
        try:
            reading = self._source.read()
        except (
            Exception
        ) as error:  # bad TOML, a plugin that does not import, a broken tool file: all are refusals
            return ReloadOutcome(kind="refused", generation=number, problems=_problems(error))
        needs = self._needs_restart(reading)
        if needs:
            return ReloadOutcome(kind="restart", generation=number, problems=tuple(needs))
        before, self._reading = self._reading, reading
        try:
            return await self._control.replace(self._candidate)
        except PrepareFailed as error:
            self._reading = before
            return ReloadOutcome(kind="refused", generation=number, problems=_problems(error))
        except BaseException:
            self._reading = before
            raise

    def _needs_restart(self, reading: Reading) -> list[str]:
        reasons: list[str] = []
        for what, old, new in (
            ("process", self._reading.process, reading.process),
            ("process.serve", self._reading.doors, reading.doors),
        ):
            if process_digest(old) != process_digest(new):
                reasons.append(f"a [{what}] row changed; it lives as long as the process: restart")
        reasons += [
            f"the installed distribution {name} changed; its code is loaded already: restart"
            for name, fingerprint in reading.installed.items()
            if self._reading.installed.get(name, fingerprint) != fingerprint
        ]
        return reasons

    async def _candidate(self, published: Generation | None, number: int) -> PreparedCandidate:
        return await self._preparer(self._reading.blueprint, published, number)

    async def _watch(self) -> None:
        watcher = Watcher(self._reading.settings.debounce, self._on_changes, self._trouble)
        await watcher.run(lambda: self._reading.watched)

    async def _on_changes(self, changes: Changes) -> None:
        # a host that is stopping reloads nothing more; what cannot be unwound has closed admission and is in the record
        with contextlib.suppress(HostStopped, RollbackFailed):
            await self.reload(_names(changes, self._reading.path.parent))

    async def _trouble(self, text: str) -> None:
        await self._note("reload.trouble", text, {})

    async def _note(self, topic: str, text: str, data: dict[str, object]) -> None:
        await self.journal.append(
            self._sequence, Noted(topic=topic, text=text, data=cast("dict[str, JsonValue]", data))
        )

    async def stop(self) -> StopReport:
        """Close the doors, let turns finish within the budget, dispose of everything. Idempotent: the same answer again."""
        if self._stopped is None:
            errors = await self._rows.stop_doors(self._reading.doors) if self._doors_open else []
            report = await self._control.stop(budget=self._reading.settings.stop)
            self._stopped = report.model_copy(update={"errors": (*errors, *report.errors)})
        return self._stopped

    @property
    def root(self) -> Scope:
        """The root scope, for diagnosis."""
        return self._kernel.root


def _kept_by_kernel(fault: object) -> None:
    """Faults are kept on instances and in reports; nothing is printed from here."""


def _problems(error: Exception) -> tuple[str, ...]:
    if isinstance(error, PrepareFailed):
        return tuple(str(problem) for problem in error.problems)
    return (f"{error}",)


def _names(changes: Changes, base: Path) -> tuple[str, ...]:
    return tuple(
        sorted(str(path.relative_to(base)) if path.is_relative_to(base) else str(path) for path in changes)
    )
