"""System call numbers that the filter and the launchers need.

Source: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and `scripts/syscall.tbl` (arm64).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

# name: (x86-64, arm64); None where the architecture does not have it
_TABLE: MappingProxyType[str, tuple[int | None, int | None]] = MappingProxyType(
    {
        "acct": (163, 89),
        "add_key": (248, 217),
        "bpf": (321, 280),
        "chroot": (161, 51),
        "clock_adjtime": (305, 266),
        "clock_settime": (227, 112),
        "clone": (56, 220),
        "clone3": (435, 435),
        "delete_module": (176, 106),
        "fanotify_init": (300, 262),
        "finit_module": (313, 273),
        "fsconfig": (431, 431),
        "fsmount": (432, 432),
        "fsopen": (430, 430),
        "fspick": (433, 433),
        "init_module": (175, 105),
        "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
        "io_uring_setup": (425, 425),
        "ioctl": (16, 29),
        "ioperm": (173, None),
        "iopl": (172, None),
        "ioprio_set": (251, 30),
        "kcmp": (312, 272),
        "kexec_file_load": (320, 294),
        "kexec_load": (246, 104),
        "keyctl": (250, 219),
        "lookup_dcookie": (212, 18),
        "migrate_pages": (256, 238),
        "mount": (165, 40),
        "mount_setattr": (442, 442),
        "move_mount": (429, 429),
        "move_pages": (279, 239),
        "mq_open": (240, 180),
        "msgget": (68, 186),
        "open_by_handle_at": (304, 265),
        "open_tree": (428, 428),
        "open_tree_attr": (467, 467),
        "perf_event_open": (298, 241),
        "pidfd_getfd": (438, 438),
        "pivot_root": (155, 41),
        "prlimit64": (302, 261),
        "process_madvise": (440, 440),
        "process_mrelease": (448, 448),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "quotactl": (179, 60),
        "quotactl_fd": (443, 443),
        "reboot": (169, 142),
        "request_key": (249, 218),
        "sched_setaffinity": (203, 122),
        "sched_setattr": (314, 274),
        "sched_setparam": (142, 118),
        "sched_setscheduler": (144, 119),
        "semget": (64, 190),
        "setdomainname": (171, 162),
        "sethostname": (170, 161),
        "setns": (308, 268),
        "setpriority": (141, 140),
        "settimeofday": (164, 170),
        "shmget": (29, 194),
        "socket": (41, 198),
        "socketpair": (53, 199),
        "swapoff": (168, 225),
        "swapon": (167, 224),
        "syslog": (103, 116),
        "umount2": (166, 39),
        "unshare": (272, 97),
        "userfaultfd": (323, 282),
        "vhangup": (153, 58),
    }
)


@dataclass(frozen=True)
class Architecture:
    """One machine type.

    Attributes:
        machine: as `platform.machine()` says.
        audit: its `AUDIT_ARCH_*` value, which the filter compares (linux/audit.h).
        column: where its numbers are in the table.
        foreign_bit: bit of a call number that means another calling convention (x32), 0 where there is none.
    """

    machine: str
    audit: int
    column: int
    foreign_bit: int

    def number(self, name: str) -> int | None:
        """The number of a call, `None` where this architecture does not have it."""
        return _TABLE[name][self.column]


ARCHITECTURES: MappingProxyType[str, Architecture] = MappingProxyType(
    {
        "x86_64": Architecture("x86_64", 0xC000003E, 0, 0x40000000),
        "aarch64": Architecture("aarch64", 0xC00000B7, 1, 0),
    }
)
"""The architectures that the filter knows, by the name of the machine."""
