"""The seccomp program: what a confined command may not ask of the kernel, whatever else confines it.

Source: seccomp(2), `linux/seccomp.h`; the numbers of flags and families from the kernel's uapi headers.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from seam.sandbox_landlock import _bpf as bpf
from seam.sandbox_landlock._syscalls import Architecture

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_FORBIDDEN = _ERRNO | errno.EPERM
_UNKNOWN = _ERRNO | errno.ENOSYS

_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET and NEWTIME."""
_NEW_NAMESPACES_OF_CLONE = 0x7E020000
"""Without NEWTIME, whose bit belongs to the exit signal in clone(2)."""

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _SEQPACKET = 1, 5
_TYPE_BITS = 0xF  # the rest of the word is SOCK_NONBLOCK and SOCK_CLOEXEC
_TCP = 6
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423

_NEVER = (
    # other views of the file system, and names of files that no path rule sees
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "move_mount",
    "open_tree",
    "open_tree_attr",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_by_handle_at",
    "fanotify_init",
    "setns",
    # other processes' memory and descriptors
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "pidfd_getfd",
    "kcmp",
    # the kernel's own machinery
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "iopl",
    "ioperm",
    "lookup_dcookie",
    "syslog",
    # key rings are not in any namespace
    "keyctl",
    "add_key",
    "request_key",
    # the machine as a whole
    "acct",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "swapon",
    "swapoff",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "sethostname",
    "setdomainname",
    "vhangup",
)
_ABSENT = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Answered like a kernel that does not have them: clone3 hides its flags in memory, io_uring makes calls that
no filter sees. Programs know how to do without."""

_OTHER_PROCESS = (
    # call, argument that names the process
    ("setpriority", 1),
    ("sched_setaffinity", 0),
    ("sched_setattr", 0),
    ("sched_setparam", 0),
    ("sched_setscheduler", 0),
    ("ioprio_set", 1),
    ("migrate_pages", 0),
    ("move_pages", 0),
)
_SHARED_OBJECTS = ("shmget", "semget", "msgget", "mq_open")


@dataclass(frozen=True)
class FilterProfile:
    """What the filter depends on.

    Attributes:
        inet: which sockets of the internet families may be made: `all`, `tcp` (no UDP, no MPTCP) or `none`.
        own_processes: the command has a pid namespace of its own.
        own_ipc: the command has an ipc namespace of its own.
    """

    inet: str
    own_processes: bool
    own_ipc: bool


class Assembler:
    """Assembles programs for this machine, each once: it takes longer than starting the launcher.

    Args:
        architecture: of this machine.
    """

    def __init__(self, architecture: Architecture) -> None:
        self._architecture = architecture
        self._programs: dict[FilterProfile, bytes] = {}

    def program(self, profile: FilterProfile) -> bytes:
        """The program of a profile."""
        found = self._programs.get(profile)
        if found is None:
            found = self._programs[profile] = assemble(profile, self._architecture)
        return found


def assemble(profile: FilterProfile, architecture: Architecture) -> bytes:
    """The program as bytes of `struct sock_filter`, to be handed over by descriptor."""
    program = bpf.load(bpf.ARCHITECTURE_OFFSET) + bpf.if_equal(architecture.audit, 1) + bpf.give(_FORBIDDEN)
    program += bpf.load(bpf.NUMBER_OFFSET)
    if architecture.foreign_bit:
        program += bpf.unless_at_least(architecture.foreign_bit, 1) + bpf.give(_UNKNOWN)
    blocks = [(name, bpf.give(_FORBIDDEN)) for name in _NEVER]
    blocks += [(name, bpf.give(_UNKNOWN)) for name in _ABSENT]
    blocks += [
        ("clone", _forbid_bits(0, _NEW_NAMESPACES_OF_CLONE)),
        ("unshare", _forbid_bits(0, _NEW_NAMESPACES)),
        ("ioctl", _forbid_values(1, (_TIOCSTI, _TIOCLINUX, _TIOCSETD))),
        ("socket", _socket(profile)),
        ("socketpair", _socketpair()),
    ]
    if not profile.own_processes:
        blocks += [(name, _forbid_other_process(index)) for name, index in _OTHER_PROCESS]
        blocks.append(("prlimit64", _forbid_limits_of_others()))
    if not profile.own_ipc:
        blocks += [(name, bpf.give(_FORBIDDEN)) for name in _SHARED_OBJECTS]
    numbered = [(architecture.number(name), block) for name, block in blocks]
    return program + _search(sorted((number, block) for number, block in numbered if number is not None))


def _search(blocks: list[tuple[int, bytes]]) -> bytes:
    """A binary search over call numbers: the kernel walks the program once for every call there is when it is
    loaded, so a linear one would cost as much as the launcher itself."""
    if len(blocks) == 1:
        number, block = blocks[0]
        return bpf.unless_equal(number, bpf.length(block)) + block + bpf.give(_ALLOW)
    middle = len(blocks) // 2
    below, above = _search(blocks[:middle]), _search(blocks[middle:])
    return bpf.if_at_least(blocks[middle][0], bpf.length(below)) + below + above


def _forbid_bits(argument: int, bits: int) -> bytes:
    return (
        bpf.load(bpf.argument_offset(argument))
        + bpf.unless_any_bit(bits, 1)
        + bpf.give(_FORBIDDEN)
        + bpf.give(_ALLOW)
    )


def _forbid_values(argument: int, values: tuple[int, ...]) -> bytes:
    block = bpf.load(bpf.argument_offset(argument))
    for value in values:
        block += bpf.unless_equal(value, 1) + bpf.give(_FORBIDDEN)
    return block + bpf.give(_ALLOW)


def _forbid_other_process(argument: int) -> bytes:
    return (
        bpf.load(bpf.argument_offset(argument)) + bpf.if_equal(0, 1) + bpf.give(_FORBIDDEN) + bpf.give(_ALLOW)
    )


def _forbid_limits_of_others() -> bytes:
    """prlimit64 of another process, unless it only reads (no new limit: both halves of the pointer are 0)."""
    reads = bpf.load(bpf.argument_offset(2)) + bpf.unless_equal(0, 2)
    reads += bpf.load(bpf.argument_offset(2, high=True)) + bpf.if_equal(0, 1) + bpf.give(_FORBIDDEN)
    return bpf.load(bpf.argument_offset(0)) + bpf.if_equal(0, bpf.length(reads)) + reads + bpf.give(_ALLOW)


def _socket(profile: FilterProfile) -> bytes:
    """Families by allow-list. Never AF_UNIX: a filter cannot see which path it connects to."""
    block = bpf.load(bpf.argument_offset(0))
    if profile.inet == "all":
        route_only = bpf.load(bpf.argument_offset(2)) + bpf.unless_equal(0, 1) + bpf.give(_ALLOW)
        block += bpf.unless_equal(_INET, 1) + bpf.give(_ALLOW)
        block += bpf.unless_equal(_INET6, 1) + bpf.give(_ALLOW)
        block += bpf.unless_equal(_NETLINK, bpf.length(route_only)) + route_only
    elif profile.inet == "tcp":
        stream = bpf.load(bpf.argument_offset(1)) + bpf.mask(_TYPE_BITS) + bpf.if_equal(_STREAM, 1)
        stream += bpf.give(_FORBIDDEN) + bpf.load(bpf.argument_offset(2))
        stream += bpf.unless_equal(0, 1) + bpf.give(_ALLOW)
        stream += bpf.unless_equal(_TCP, 1) + bpf.give(_ALLOW) + bpf.give(_FORBIDDEN)
        block += bpf.unless_equal(_INET, bpf.length(stream)) + stream
        block += bpf.unless_equal(_INET6, bpf.length(stream)) + stream
    return block + bpf.give(_FORBIDDEN)


def _socketpair() -> bytes:
    """Connected pairs only: a datagram pair can be pointed at somebody else's socket afterwards."""
    return (
        bpf.load(bpf.argument_offset(1))
        + bpf.mask(_TYPE_BITS)
        + bpf.unless_equal(_STREAM, 1)
        + bpf.give(_ALLOW)
        + bpf.unless_equal(_SEQPACKET, 1)
        + bpf.give(_ALLOW)
        + bpf.give(_FORBIDDEN)
    )
