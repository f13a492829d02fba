"""Which version of Landlock's interface this kernel has."""

from __future__ import annotations

import ctypes
import errno
import os

from seam.sandbox_def import Finding, Reason

_CREATE_RULESET = 444  # the same number on every architecture
_VERSION = 1


def landlock_abi() -> int | Finding:
    """The version, 1 or more, or why there is none. Source: landlock_create_ruleset(2)."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))
    if version > 0:
        return version
    error = ctypes.get_errno()
    if error == errno.EOPNOTSUPP:
        return Finding(reason=Reason.LANDLOCK_DISABLED, detail=os.strerror(error))
    return Finding(reason=Reason.NO_LANDLOCK, detail=os.strerror(error))
