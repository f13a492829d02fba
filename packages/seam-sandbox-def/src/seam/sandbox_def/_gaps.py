"""What a runtime cannot stop, by name."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from seam.kernel import Value


class GapCode(StrEnum):
    """Names of the gaps that our runtimes can have. A runtime of a third party may add its own names."""

    PREEXISTING_HARD_LINKS = "preexisting-hard-links"
    METADATA_CHANGES = "metadata-changes"
    PROTECTED_INSIDE_WRITABLE = "protected-inside-writable"
    HIDDEN_NAMES_VISIBLE = "hidden-names-visible"
    FILE_FACTS_VISIBLE = "file-facts-visible"
    TRUNCATION = "truncation"
    RENAME_ACROSS_FOLDERS = "rename-across-folders"
    DEVICE_CONTROL = "device-control"
    UNIX_SOCKETS = "unix-sockets"
    ABSTRACT_SOCKETS = "abstract-sockets"
    DATAGRAM_NETWORK = "datagram-network"
    NETWORK_BY_PORT = "network-by-port"
    LISTENING = "listening"
    PROCESSES_VISIBLE = "processes-visible"
    SIGNALS_OUTSIDE = "signals-outside"
    DAEMONS_OUTLIVE = "daemons-outlive"
    SHARED_MEMORY = "shared-memory"
    SYSCALL_FILTER = "syscall-filter"
    HOST_PROC = "host-proc"
    PROCESS_LIMIT = "process-limit"
    MEMORY_LIMIT = "memory-limit"
    OTHER_LIMITS = "other-limits"
    TEMPORARY_SIZE = "temporary-size"
    WORKSPACE_SWAP = "workspace-swap"


class Gap(Value):
    """One thing that the policy promises and the runtime does not enforce on this machine.

    Attributes:
        code: its stable name, a `GapCode` or a third party's own word.
        explanation: one sentence for a person: what gets through, and when.
        remedy: what would close it, empty when nothing can.
    """

    code: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    explanation: str
    remedy: str = ""


CONSTANT_GAPS: tuple[Gap, ...] = (
    Gap(
        code=GapCode.PREEXISTING_HARD_LINKS,
        explanation="A file inside a writable root that is a hard link to a file outside can be written through it; "
        "no layer can tell the two names apart. Protected and hidden files are checked for such links.",
    ),
)
"""Gaps of every runtime that exists. They do not turn `full` into `partial`: no policy promises otherwise."""
