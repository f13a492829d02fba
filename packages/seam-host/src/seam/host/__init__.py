"""Deployments that run: the embedding API. The command `seam` is built on it and uses nothing else.

Names are imported when they are first used: a command that only reads a deployment does not pay for what runs one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seam.host._deployment import Deployment, DeploymentError, DeploymentProblem
    from seam.host._host import Host
    from seam.host._merge import read_deployment
    from seam.host._outcomes import (
        HostError,
        HostStopped,
        PrepareFailed,
        ReloadOutcome,
        RollbackFailed,
        RowProblem,
        StopReport,
    )

__all__ = [
    "Deployment",
    "DeploymentError",
    "DeploymentProblem",
    "Host",
    "HostError",
    "HostStopped",
    "PrepareFailed",
    "ReloadOutcome",
    "RollbackFailed",
    "RowProblem",
    "StopReport",
    "read_deployment",
]

_PLACES = {
    "Deployment": "_deployment",
    "DeploymentError": "_deployment",
    "DeploymentProblem": "_deployment",
    "Host": "_host",
    "read_deployment": "_merge",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES.get(name, '_outcomes')}"), name)
