"""What Landlock with seccomp leaves open, for one policy on one kernel."""

from __future__ import annotations

from types import MappingProxyType

from seam.sandbox_def import Gap, GapCode, Policy
from seam.sandbox_landlock import _carve as carve

_ALWAYS: MappingProxyType[GapCode, str] = MappingProxyType(
    {
        GapCode.METADATA_CHANGES: "mode, owner, times and extended attributes of the caller's own files outside can "
        "be changed; Landlock does not mediate them",
        GapCode.HIDDEN_NAMES_VISIBLE: "names of hidden files can be listed, their contents not read",
        GapCode.FILE_FACTS_VISIBLE: "size, times and mode of any file can be looked at",
        GapCode.PROCESSES_VISIBLE: "processes outside, their names and arguments, are visible in /proc",
        GapCode.DAEMONS_OUTLIVE: "how completely a tree of processes is ended depends on the subprocess runtime; "
        "there is no pid namespace",
    }
)
_SINCE: MappingProxyType[GapCode, tuple[int, str]] = MappingProxyType(
    {
        GapCode.RENAME_ACROSS_FOLDERS: (
            2,
            "files cannot be renamed or linked across folders, which is legal",
        ),
        GapCode.TRUNCATION: (3, "files outside can be emptied by truncation"),
        GapCode.DEVICE_CONTROL: (5, "devices that can be opened can be controlled by ioctl(2)"),
        GapCode.SIGNALS_OUTSIDE: (6, "processes outside of the same user can be signalled"),
    }
)
_NEWER = "use a kernel with Landlock ABI {} or newer"
_CGROUP = "run where a control group with this controller can be written"
_BWRAP = "use the bwrap runtime"


def landlock_gaps(
    policy: Policy, abi: int, groups: frozenset[str], *, root: bool, shared_memory: bool
) -> tuple[Gap, ...]:
    """Every gap of `policy`.

    Args:
        policy: one that confines.
        abi: version of the kernel's interface.
        groups: the limits that a control group enforces here.
        root: the caller is root.
        shared_memory: /dev/shm is open to the command.
    """
    found = [Gap(code=code, explanation=text, remedy=_BWRAP) for code, text in _ALWAYS.items()]
    found += [
        Gap(code=code, explanation=text, remedy=_NEWER.format(version))
        for code, (version, text) in _SINCE.items()
        if abi < version
    ]
    protected = carve.protected_inside_writable(policy)
    if protected:
        text = f"{len(protected)} protected paths lie inside a writable root and can be written: {', '.join(protected)}"
        found.append(Gap(code=GapCode.PROTECTED_INSIDE_WRITABLE, explanation=text, remedy=_BWRAP))
    if shared_memory:
        text = "named shared memory of the caller's other programs can be read and written"
        found.append(Gap(code=GapCode.SHARED_MEMORY, explanation=text, remedy="set shared_memory = false"))
    found += limit_gaps(policy, groups, root=root)
    if policy.limits.temporary_size is not None:
        text = "the size of the private temporary folder is not limited"
        found.append(Gap(code=GapCode.TEMPORARY_SIZE, explanation=text, remedy=_BWRAP))
    if policy.network == "allow-list":
        text = "the port of the proxy can be reached on every address"
        found.append(Gap(code=GapCode.NETWORK_BY_PORT, explanation=text, remedy=_BWRAP))
    return tuple(found)


def limit_gaps(policy: Policy, groups: frozenset[str], *, root: bool) -> list[Gap]:
    """Limits that hold only where a control group can be written."""
    found: list[Gap] = []
    if policy.limits.processes is not None and root and "processes" not in groups:
        text = "the number of processes is not limited: RLIMIT_NPROC does not bind root"
        found.append(Gap(code=GapCode.PROCESS_LIMIT, explanation=text, remedy=_CGROUP))
    if policy.limits.memory is not None and "memory" not in groups:
        text = "the memory limit binds each process by itself, not their sum"
        found.append(Gap(code=GapCode.MEMORY_LIMIT, explanation=text, remedy=_CGROUP))
    return found
