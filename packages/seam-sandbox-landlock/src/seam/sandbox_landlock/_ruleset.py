"""Fields of the launcher's message that make and enforce a Landlock ruleset."""

from __future__ import annotations

from collections.abc import Sequence

from seam.sandbox_def import Network
from seam.sandbox_landlock import _rights as rights
from seam.sandbox_landlock._message import Message


def open_ruleset(message: Message, network: Network, abi: int) -> None:
    """Append the field that makes a Landlock ruleset.

    Args:
        message: to append to.
        network: mode by which TCP ports are handled; `full` leaves them alone, also in a network of one's own.
        abi: version of the kernel's interface.
    """
    kept = rights.handled(abi, network=network)
    message.add("ruleset", f"{kept.files:x}:{kept.ports:x}:{kept.scopes:x}")


def add_paths(message: Message, abi: int, rules: Sequence[tuple[str, int]]) -> None:
    """Append a field for each pair of path and rights."""
    kept = rights.handled(abi, network="full").files
    for path, allowed in rules:
        message.add("path", f"{allowed & kept:x}:{path}")


def close_ruleset(message: Message, abi: int, rules: Sequence[tuple[str, int]], port: int = 0) -> None:
    """Append the last rules, and what enforces them all.

    Args:
        message: to append to.
        abi: version of the kernel's interface.
        rules: pairs of path and rights.
        port: TCP port that may be connected to, 0 for none.
    """
    add_paths(message, abi, rules)
    if port:
        message.add("port", f"{rights.CONNECT_TCP:x}:{port}")
    message.add("restrict")
