"""Landlock's access rights, by the version of its interface.

Source: landlock(7), `linux/landlock.h`.
"""

from __future__ import annotations

from dataclasses import dataclass

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_CHANGE_TREE = sum(1 << bit for bit in range(4, 13))
"""Remove and make entries of every kind."""
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

LIST = _READ_DIR
READ = _EXECUTE | _READ_FILE | _READ_DIR
WRITE = READ | _WRITE_FILE | _CHANGE_TREE | _REFER | _TRUNCATE
FILE = _EXECUTE | _READ_FILE
"""`READ` of something that is no folder."""
DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV

BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1

_SCOPE_ABSTRACT, _SCOPE_SIGNALS = 1 << 0, 1 << 1

NEWEST = 7
"""Newest interface version that these tables describe; later ones add rights that are not handled."""


@dataclass(frozen=True)
class Handled:
    """What a ruleset handles on a kernel: everything that it denies unless a rule allows it.

    Attributes:
        files: rights on files, a bit set.
        ports: rights on TCP ports, a bit set.
        scopes: what may not be reached outside the ruleset's domain, a bit set.
    """

    files: int
    ports: int
    scopes: int


def handled(abi: int, *, network: str) -> Handled:
    """The rights that interface version `abi` can handle.

    Args:
        abi: version, 1 or more.
        network: network mode of the policy; ports are left alone where it is `full`.
    """
    files = _EXECUTE | _WRITE_FILE | _READ_FILE | _READ_DIR | _CHANGE_TREE
    files |= _REFER if abi >= 2 else 0
    files |= _TRUNCATE if abi >= 3 else 0
    files |= _IOCTL_DEV if abi >= 5 else 0
    ports = BIND_TCP | CONNECT_TCP if abi >= 4 and network != "full" else 0
    scopes = _SCOPE_ABSTRACT | _SCOPE_SIGNALS if abi >= 6 else 0
    return Handled(files, ports, scopes)
