"""What a test must not leave behind: child processes, threads, descriptors, temporary files."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

SETTLE_SECONDS = 2.0
"""How long a thread or process that is already ending may take to be gone."""

# Worker threads of the event loops end some seconds after they idle; they own nothing of ours.
_POOL_THREADS = ("AnyIO worker thread", "Trio thread", "asyncio_", "ThreadPoolExecutor")


@dataclass(frozen=True)
class Snapshot:
    """What this process owned at one moment."""

    children: frozenset[tuple[int, float]]
    threads: frozenset[str]
    descriptors: dict[int, str]
    temporary: frozenset[str]


def take() -> Snapshot:
    """Read what this process owns now."""
    return Snapshot(_children(), _threads(), _descriptors(), _temporary())


def _children() -> frozenset[tuple[int, float]]:
    found: set[tuple[int, float]] = set()
    for child in psutil.Process().children(recursive=True):
        try:
            if child.name() != "resource_tracker":
                found.add((child.pid, child.create_time()))
        except psutil.NoSuchProcess:
            continue  # gone between the listing and the look: no leak
    return frozenset(found)


def _threads() -> frozenset[str]:
    return frozenset(
        f"{thread.name}#{thread.ident}"
        for thread in threading.enumerate()
        if not thread.name.startswith(_POOL_THREADS)
    )


def _descriptors() -> dict[int, str]:
    found: dict[int, str] = {}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers, not paths
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115
        except FileNotFoundError:
            continue  # the descriptor of this very listing
    return found


def _temporary() -> frozenset[str]:
    return frozenset(p.name for p in Path(tempfile.gettempdir()).iterdir() if p.name.startswith("seam-"))


def compare(before: Snapshot, *, allowed: frozenset[str] = frozenset()) -> list[str]:
    """Name what is left now and was not there `before`; waits a moment for what is already ending."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        found = _differences(before, take(), allowed)
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.02)


def _differences(before: Snapshot, after: Snapshot, allowed: frozenset[str]) -> list[str]:
    found: list[str] = []
    if "children" not in allowed:
        found += [f"child process {pid}: {_describe(pid)}" for pid, _ in after.children - before.children]
    if "threads" not in allowed:
        found += [f"thread {name}" for name in after.threads - before.threads]
    if "descriptors" not in allowed:
        found += [
            f"descriptor {number} -> {target}"
            for number, target in after.descriptors.items()
            if before.descriptors.get(number) != target and not _of_the_runner(target)
        ]
    if "temporary" not in allowed:
        found += [f"temporary file {name}" for name in after.temporary - before.temporary]
    return found


def _of_the_runner(target: str) -> bool:
    # pytest's capture files and the interpreter's own handles come and go between set-up and tear-down
    return target.startswith(("/dev/null", "/proc/")) or "(deleted)" in target


def _describe(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline()) or psutil.Process(pid).name()
    except psutil.Error:
        return "(gone while it was named)"
