"""What the two launchers are told: the one inside of bwrap, and the one that starts it."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from seam.sandbox_bwrap._mounts import PRIVATE
from seam.sandbox_bwrap._profile import LAUNCHER_FOLDER, Shape
from seam.sandbox_bwrap._ready import Ready
from seam.sandbox_def import InheritedBytes, Policy
from seam.sandbox_landlock import (
    ARCHITECTURES,
    STATUS,
    Assembler,
    FilterProfile,
    Group,
    Launcher,
    Message,
    close_ruleset,
    enter_group,
    inner_rules,
    open_ruleset,
)

_OUTER = 67
"""Descriptor of the message to the launcher that starts bwrap."""

PROXY_PORT = 3128
"""Port of the proxy on the loopback of the command's own network, where nothing else can be."""


class InnerMessages:
    """Makes the messages to the launcher inside; the filter programs are assembled once."""

    def __init__(self) -> None:
        self._assembler: Assembler | None = None

    def message(
        self,
        ready: Ready,
        shape: Shape,
        policy: Policy,
        cwd: str,
        env: Mapping[str, str],
        groups: frozenset[str],
    ) -> bytes:
        """Encode one.

        Args:
            ready: what works here.
            shape: what is wanted of it for this command.
            policy: one that confines.
            cwd: working directory of the command.
            env: its whole environment.
            groups: the limits that a control group enforces.

        Raises:
            ValueError: a value holds a NUL byte, or a name cannot be one.
        """
        message = Message(status=STATUS)
        message.add("close")
        message.limit(policy.limits, without=groups)
        message.add("cwd", cwd)
        if policy.network == "allow-list":
            message.add("listen", f"{PROXY_PORT}:{LAUNCHER_FOLDER}/proxy")
        if ready.abi is not None:
            open_ruleset(message, "full", ready.abi)
            close_ruleset(message, ready.abi, inner_rules(policy, (*PRIVATE, "/dev/shm")))
        message.add("caps")
        message.add("reap", "survivors" if shape.private_proc else "")
        # /tmp is the command's own anyway: the variable is set right only where somebody set it.
        message.environment({**env, "TMPDIR": "/tmp"} if "TMPDIR" in env else env)
        inet = "none" if policy.network == "none" and not shape.own_network else "all"
        profile = FilterProfile(inet=inet, own_processes=True, own_ipc=True)
        if self._assembler is None:
            self._assembler = Assembler(ARCHITECTURES[platform.machine()])
        return message.encode(self._assembler.program(profile))


def outer_launcher(
    launcher: Launcher, group: Group | None
) -> tuple[tuple[str, ...], tuple[InheritedBytes, ...]]:
    """What starts bwrap: it enters the control group, which cannot be written any more from inside, and keeps
    polite signals for the command."""
    message = Message(status=None)
    message.add("runner")
    enter_group(message, group)
    return (*launcher.argv, str(_OUTER), "--"), (
        InheritedBytes(number=_OUTER, data=launcher.code + message.encode()),
    )
