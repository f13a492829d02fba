"""From a wait status to the facts of an end."""

from __future__ import annotations

import os
import signal
from datetime import datetime

from seam.subprocess_def import Containment, Drain, ProcessExit, Survivor, Termination, UnknownSignal, Usage
from seam.subprocess_local._supervision import LeaderEnd
from seam.subprocess_local._wire import Event


def describe_exit(
    leader: LeaderEnd | None,
    usage: Event | None,
    *,
    termination: Termination | None,
    drain: Drain,
    survivors: tuple[Survivor, ...],
    containment: Containment,
    started_at: datetime,
    run_seconds: float,
) -> ProcessExit:
    """The end of a process as a value; a status that nobody knows stays unknown."""
    status = leader.status if leader else None
    unknown = leader.unknown if leader else "the process did not end, not even after SIGKILL"
    exit_code = signal_name = None
    if status is not None:
        if os.WIFSIGNALED(status):
            signal_name = name_of(os.WTERMSIG(status))
        else:
            exit_code = os.WEXITSTATUS(status)
    return ProcessExit.trusted(
        exit_code=exit_code,
        signal=signal_name,
        unknown=unknown,
        core_dumped=status is not None and os.WCOREDUMP(status),
        termination=termination,
        drain=drain,
        survivors=survivors,
        containment=containment,
        usage=None
        if usage is None or status is None
        else Usage.trusted(
            user_seconds=usage.user_us / 1e6,
            system_seconds=usage.system_us / 1e6,
            peak_memory_bytes=usage.peak_kib * 1024,
        ),
        started_at=started_at,
        run_seconds=run_seconds,
    )


def name_of(number: int) -> str:
    """`SIGKILL` for 9; real-time signals as `SIGRTMIN+n`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def signal_number(name: str) -> int:
    """9 for `SIGKILL`.

    Raises:
        UnknownSignal: this system has no such signal.
    """
    found = signal.Signals.__members__.get(name)
    if found is None:
        known = ", ".join(sorted(signal.Signals.__members__))
        raise UnknownSignal(f"there is no signal {name!r}; write one of {known}", signal=name)
    return found.value
