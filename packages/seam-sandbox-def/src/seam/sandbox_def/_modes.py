"""Sandbox modes and network modes, from narrow to wide."""

from __future__ import annotations

from typing import Literal

Mode = Literal["read-only", "workspace-write", "full-access"]
"""What a command may do with files.

`read-only`: read what is not hidden, write nothing but its private temporary folder.
`workspace-write`: also write below the writable roots, except protected paths.
`full-access`: not confined at all; no runner is involved.
"""

Network = Literal["none", "allow-list", "full"]
"""What a command may reach: nothing outside, the listed hosts through a checking proxy, or everything."""

MODES: tuple[Mode, ...] = ("read-only", "workspace-write", "full-access")
"""Every mode, narrowest first."""

NETWORKS: tuple[Network, ...] = ("none", "allow-list", "full")
"""Every network mode, narrowest first."""


def is_wider(mode: Mode, than: Mode) -> bool:
    """Whether `mode` permits strictly more than `than`."""
    return MODES.index(mode) > MODES.index(than)


def narrower(first: Mode, second: Mode) -> Mode:
    """The mode of the two that permits less."""
    return first if MODES.index(first) <= MODES.index(second) else second


def narrower_network(first: Network, second: Network) -> Network:
    """The network mode of the two that permits less."""
    return first if NETWORKS.index(first) <= NETWORKS.index(second) else second
