"""Watch what a deployment is made of, and report changes in bursts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio
import watchfiles
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

Changes: TypeAlias = frozenset[Path]

STANDING = 0.5
"""Seconds in which the system's watches stand; nothing tells when they do."""


class Watcher:
    """Watches files and folders, also ones that do not exist yet.

    Args:
        debounce: seconds without a further change that end a burst.
        report: told each burst, and once without changes when a watch begins; watching goes on when it returns.
        trouble: told once when files must be polled, since the system gives no notification (its limit of watches is reached).
    """

    def __init__(
        self,
        debounce: float,
        report: Callable[[Changes], Awaitable[None]],
        trouble: Callable[[str], Awaitable[None]],
    ) -> None:
        self._debounce = debounce
        self._report = report
        self._trouble = trouble
        self._polling = False

    async def run(self, watched: Callable[[], Iterable[Path]]) -> None:
        """Watch for ever; what is watched is asked again after each burst, so a new layer or folder is watched from then on."""
        while True:
            await self._watch(frozenset(watched()), watched)

    async def _watch(self, paths: frozenset[Path], watched: Callable[[], Iterable[Path]]) -> None:
        send, receive = anyio.create_memory_object_stream[Path](max_buffer_size=10_000)
        stop = anyio.Event()
        # a folder is watched with all that is in it; a file, or what does not exist yet, through the folder above, since
        # editors replace files
        shallow = _Listening(_existing(path.parent for path in paths), False, paths, stop)
        deep = _Listening({path for path in paths if path.is_dir()}, True, paths, stop)
        async with send, receive, anyio.create_task_group() as group:
            group.start_soon(self._listen, shallow, send)
            group.start_soon(self._listen, deep, send)
            try:
                state = _with_folders(paths)
                # what changed before the watches stood is not told by them, so the first look does not wait for a change
                await self._report(await self._soon(receive))
                while _with_folders(watched()) == state:
                    await self._report(await self._burst(receive))
            finally:
                # the listeners wait in threads, which no cancellation reaches
                stop.set()
                group.cancel_scope.cancel()

    async def _soon(self, receive: MemoryObjectReceiveStream[Path]) -> Changes:
        with anyio.move_on_after(max(self._debounce, STANDING)):
            return await self._burst(receive)
        return frozenset()

    async def _burst(self, receive: MemoryObjectReceiveStream[Path]) -> Changes:
        found = {await receive.receive()}
        while True:
            with anyio.move_on_after(self._debounce) as quiet:
                found.add(await receive.receive())
            if quiet.cancelled_caught:
                return frozenset(found)

    async def _listen(self, what: _Listening, send: MemoryObjectSendStream[Path]) -> None:
        if not what.folders:
            return
        while True:
            try:
                async for changes in watchfiles.awatch(
                    *what.folders,
                    watch_filter=None,
                    step=20,
                    debounce=100,
                    stop_event=what.stop,
                    force_polling=self._polling,
                    recursive=what.recursive,
                ):
                    for _, name in changes:
                        if _concerns(Path(name), what.watched):
                            await send.send(Path(name))
                return
            except OSError as error:
                if self._polling:
                    raise
                self._polling = True
                await self._trouble(f"files cannot be watched ({error}); they are polled instead")


@dataclass(frozen=True)
class _Listening:
    folders: set[Path]
    recursive: bool
    watched: frozenset[Path]
    stop: anyio.Event


def _with_folders(paths: Iterable[Path]) -> frozenset[tuple[Path, bool]]:
    # a folder that comes into being, or goes, needs another watch
    return frozenset((path, path.is_dir()) for path in paths)


def _existing(folders: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    for folder in folders:
        current = folder
        while not current.is_dir():
            current = current.parent
        found.add(current)
    return found


def _concerns(path: Path, watched: frozenset[Path]) -> bool:
    if "__pycache__" in path.parts or path.name.endswith("~") or path.name.startswith(".#"):
        return False
    return any(path == item or item in path.parents for item in watched)
