"""The control group of one command: made for its policy, joined by its launcher."""

from __future__ import annotations

import errno

from seam.sandbox_def import Finding, Policy, Reason, SandboxUnavailable
from seam.sandbox_landlock._cgroups import ControlGroups, Group
from seam.sandbox_landlock._message import Message

OWN_LACK = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that say nothing about the sandbox: this process or the system has nothing left to open a file with."""


def make_group(groups: ControlGroups, policy: Policy, runtime: str, *, runners: int) -> Group | None:
    """A control group for one command.

    Raises:
        SandboxUnavailable: one was possible at the probe and is not any more.
        OSError: this process has no descriptors left.
    """
    try:
        return groups.make(policy.limits, runners=runners)
    except OSError as error:
        if error.errno in OWN_LACK:
            raise
        finding = Finding(reason=Reason.NO_SPACE, detail=f"a control group cannot be made: {error}")
        raise SandboxUnavailable((finding,), runtime) from error


def enter_group(message: Message, group: Group | None) -> None:
    """Append the fields by which the launcher joins a group."""
    for door in group.doors if group else ():
        message.add("join", door)


def limit_layers(groups: ControlGroups) -> tuple[str, ...]:
    """Names of the layers that limit resources."""
    return ("rlimits", *(f"cgroup-{name}" for name in sorted(groups.limits)))
