"""From a deployment file to what the host works with: rows with their plugins, settings, the files to watch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seam.host._blueprint import Blueprint
from seam.host._slots import RowPlugin


@dataclass(frozen=True)
class Settings:
    """Times of the host, in seconds; fields of `[seam]`.

    Attributes:
        drain: how long turns of a retired generation may go on.
        prepare: in which every plugin of a candidate must have come up.
        stop: how long stopping waits for open turns.
        debounce: how long changes are collected before a reload.
    """

    drain: float
    prepare: float
    stop: float
    debounce: float


@dataclass(frozen=True)
class Reading:
    """One reading of a deployment.

    Attributes:
        process: process rows that are not doors.
        doors: process rows that let calls in.
        watched: files and folders whose change matters.
        installed: fingerprint by distribution name of what is installed; a change needs a new process.
    """

    path: Path
    settings: Settings
    blueprint: Blueprint
    process: tuple[RowPlugin, ...]
    doors: tuple[RowPlugin, ...]
    watched: tuple[Path, ...]
    installed: dict[str, str]
