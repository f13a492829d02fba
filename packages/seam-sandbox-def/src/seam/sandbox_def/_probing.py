"""Probing once: what a runtime found out here is remembered, in this process and in the next one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
from pydantic import BaseModel

from seam.sandbox_def._report import ProbeResult
from seam.sandbox_def._surroundings import Identity, boot_id, identities, surroundings
from seam.sandbox_def._verdicts import Verdicts


def verdict_folder(configured: Path | None) -> str:
    """Where results are kept: what is configured, else `$XDG_RUNTIME_DIR/seam`, else `~/.cache/seam`."""
    if configured is not None:
        return str(configured)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return f"{runtime}/seam" if runtime.startswith("/") else str(Path.home() / ".cache" / "seam")


def seconds_since_boot() -> float:
    """Seconds that count on while the machine sleeps (clock_gettime(2), `CLOCK_BOOTTIME`)."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True)
class Circumstances:
    """What the result of a probe depends on.

    Attributes:
        mechanism: of the runtime.
        config: of the runtime; another configuration is another probe.
        code: files of the runtime itself, each taken with everything in its folder: our version.
        runner: gives the files that are run to confine. They are looked at for every command.
    """

    mechanism: str
    config: BaseModel
    code: tuple[str, ...]
    runner: Callable[[], tuple[str, ...]]

    def key(self) -> str:
        """All of it as text, with the user, the namespaces and the settings of this machine."""
        own = sorted(str(path) for file in self.code for path in Path(file).parent.glob("*.py"))
        return json.dumps(
            [
                *(self.mechanism, self.config.model_dump(mode="json"), identities(own)),
                *(identities(self.runner()), surroundings()),
            ]
        )


@dataclass(frozen=True)
class _Known:
    result: ProbeResult
    until: float | None
    runner: tuple[Identity, ...]


class Probing:
    """Remembers the result of a probe: for this boot of the machine, as long as nothing that it depends on changes.

    A result with findings is believed for `retry` seconds only: what it found may be put right meanwhile, or have
    been the fault of a moment (a full disk, a busy machine).

    Args:
        circumstances: see `Circumstances`.
        attempt: really probes; never raises for what it finds.
        folder: where results are kept, see `verdict_folder`.
        retry: seconds.
        clock: seconds since boot.
    """

    def __init__(
        self,
        circumstances: Circumstances,
        attempt: Callable[[], Awaitable[ProbeResult]],
        *,
        folder: str,
        retry: float,
        clock: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self._circumstances = circumstances
        self._attempt = attempt
        self._retry = retry
        self._clock = clock
        boot = boot_id()
        self._verdicts = Verdicts(folder, boot) if boot else None
        self._lock = anyio.Lock()
        self._known: _Known | None = None

    async def known(self) -> ProbeResult:
        """The result, by memory, by record, or by probing now."""
        return self._remembered() or await self._settled(fresh=False)

    async def fresh(self) -> ProbeResult:
        """Probe now, whatever is known, and remember the result."""
        return await self._settled(fresh=True)

    async def _settled(self, *, fresh: bool) -> ProbeResult:
        async with self._lock:
            remembered = None if fresh else self._remembered()
            return remembered or await self._find(fresh=fresh)

    def _remembered(self) -> ProbeResult | None:
        known = self._known
        if known is None or known.runner != identities(self._circumstances.runner()):
            return None
        return known.result if known.until is None or self._clock() < known.until else None

    async def _find(self, *, fresh: bool) -> ProbeResult:
        # Taken before the attempt: a runner that is replaced meanwhile must not inherit the result.
        runner, key = identities(self._circumstances.runner()), self._circumstances.key()
        found = None if fresh or self._verdicts is None else self._verdicts.find(key, self._clock())
        if found is None:
            result = await self._attempt()
            until = self._clock() + self._retry if result.findings else None
            if self._verdicts is not None:
                self._verdicts.keep(key, result, until)
            found = result, until
        self._known = _Known(found[0], found[1], runner)
        return found[0]
