"""A bwrap that works here: with what, and in which shape; made by trying, or from the record of a trial."""

from __future__ import annotations

import os
from dataclasses import dataclass

from seam.sandbox_bwrap._profile import Shape
from seam.sandbox_bwrap._runner import Runner
from seam.sandbox_def import ProbeResult
from seam.sandbox_landlock import Launcher, landlock_abi


@dataclass(frozen=True)
class Ready:
    """What the probe found to work.

    Attributes:
        runner: path of bwrap.
        version: of bwrap.
        launcher: what applies the inner layers.
        shape: what this machine permits.
        abi: version of Landlock's interface, `None` where it is no layer.
    """

    runner: str
    version: str
    launcher: Launcher
    shape: Shape
    abi: int | None

    @property
    def features(self) -> tuple[str, ...]:
        """For `ProbeResult.features`; `ready` reads it back."""
        shape = self.shape
        found = [f"{self.launcher.kind}-launcher"]
        found += [f"landlock-{self.abi}"] if self.abi else []
        found += [
            name
            for name, there in (
                ("bind-fd", shape.bind_fd),
                ("disable-userns", shape.disable_userns),
                ("private-proc", shape.private_proc),
                ("network-namespace", shape.own_network),
            )
            if there
        ]
        return tuple(found)


def candidate(
    runner: Runner, launcher: Launcher, *, private_proc: bool, own_network: bool, landlock: bool
) -> Ready:
    """The strictest shape that a runner and the configuration permit."""
    abi = _abi(wanted=landlock)
    shape = Shape(
        private_proc=private_proc,
        own_network=own_network,
        bind_fd="--bind-fd" in runner.options,
        disable_userns="--disable-userns" in runner.options,
        root=os.geteuid() == 0,
        landlock=abi is not None,
    )
    return Ready(runner.path, runner.version, launcher, shape, abi)


def ready(result: ProbeResult, launcher: Launcher, *, landlock: bool) -> Ready:
    """What a result that says usable was about."""
    abi = _abi(wanted=landlock)
    shape = Shape(
        private_proc="private-proc" in result.features,
        own_network="network-namespace" in result.features,
        bind_fd="bind-fd" in result.features,
        disable_userns="disable-userns" in result.features,
        root=os.geteuid() == 0,
        landlock=abi is not None,
    )
    return Ready(result.runner, result.version, launcher, shape, abi)


def _abi(*, wanted: bool) -> int | None:
    abi = landlock_abi() if wanted else None
    return abi if isinstance(abi, int) else None
