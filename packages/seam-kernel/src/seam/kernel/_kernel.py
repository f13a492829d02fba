"""The owner of everything: the root scope and the tasks of all plugins."""

from __future__ import annotations

from types import TracebackType

import anyio
from anyio.abc import TaskGroup
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seam.kernel._closing import shut_down
from seam.kernel._engine import Engine
from seam.kernel._errors import ContextInactive
from seam.kernel._fault import Fault, FaultBook, FaultSink, log_fault
from seam.kernel._place import Place
from seam.kernel._plugin import invalid_config
from seam.kernel._scope import Scope


class _Limits(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    grace: float = Field(gt=0, allow_inf_nan=False)
    abandon_after: float = Field(gt=0, allow_inf_nan=False)
    faults_kept: int = Field(ge=1)


class Kernel:
    """Owns the root scope; use it as an async context manager, once.

    Leaving it stops everything: children before parents, dependents before providers, each bounded by the grace.
    Failures of plugins never leave a kernel as exceptions; they are `faults`, and the sink hears of each at once.

    Args:
        grace: seconds that one plugin's clean-up may take before it is cancelled.
        abandon_after: further seconds that it may ignore its cancellation before the kernel goes on without it. No
            event loop can end such code: `stop` and `aclose` return and name it, but leaving the kernel must
            wait for its end.
        faults_kept: how many faults are kept, per instance and for the kernel; older ones are forgotten.
        on_fault: the sink; by default each fault is logged with its traceback to `seam.kernel`.

    Raises:
        InvalidConfig: a limit is not a positive, finite number.
    """

    def __init__(
        self,
        *,
        grace: float = 10.0,
        abandon_after: float = 2.0,
        faults_kept: int = 1000,
        on_fault: FaultSink = log_fault,
    ) -> None:
        try:
            limits = _Limits(grace=grace, abandon_after=abandon_after, faults_kept=faults_kept)
        except ValidationError as invalid:
            raise invalid_config("kernel", invalid) from None
        self._engine = Engine(
            grace=limits.grace,
            abandon_after=limits.abandon_after,
            faults=FaultBook(limits.faults_kept, on_fault),
        )
        self._root = Place(self._engine, "root", None, frozenset())
        self._tasks: TaskGroup | None = None

    @property
    def root(self) -> Scope:
        """The scope that lives as long as the kernel."""
        return self._root

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The latest contained failures of all plugins, oldest first."""
        return tuple(self._engine.faults.latest)

    async def __aenter__(self) -> Kernel:
        if self._tasks is not None:
            raise ContextInactive("a kernel runs once; make another one")
        self._tasks = await anyio.create_task_group().__aenter__()
        self._engine.open(self._tasks)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        with anyio.CancelScope(shield=True):
            await shut_down(self._engine, self._root)
        # What the body raised reaches the caller as it is; a task group would wrap it in an exception group. Only a
        # cancellation is the group's business: it is how the group ends the body when one of its tasks has crashed.
        if isinstance(error, anyio.get_cancelled_exc_class()):
            await self._tasks.__aexit__(kind, error, traceback)
        else:
            await self._tasks.__aexit__(None, None, None)
