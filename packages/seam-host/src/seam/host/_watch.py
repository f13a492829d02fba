"""Watch what a deployment is made of, and report changes in bursts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import anyio
import watchfiles
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

Changes: TypeAlias = frozenset[Path]


class Watcher:
    """Watches files and folders, also ones that do not exist yet.

    Args:
        debounce: seconds without a further change that end a burst.
        report: told each burst; watching goes on when it returns.
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
        async with send, receive, anyio.create_task_group() as group:
            # a folder is watched with all that is in it; a file, or what does not exist yet, through the folder above,
            # since editors replace files
            group.start_soon(self._listen, _existing(path.parent for path in paths), False, paths, send)
            group.start_soon(self._listen, {path for path in paths if path.is_dir()}, True, paths, send)
            while _with_folders(watched()) == _with_folders(paths):
                await self._report(await self._burst(receive))
            group.cancel_scope.cancel()

    async def _burst(self, receive: MemoryObjectReceiveStream[Path]) -> Changes:
        found = {await receive.receive()}
        while True:
            with anyio.move_on_after(self._debounce) as quiet:
                found.add(await receive.receive())
            if quiet.cancelled_caught:
                return frozenset(found)

    async def _listen(
        self,
        folders: set[Path],
        recursive: bool,
        watched: frozenset[Path],
        send: MemoryObjectSendStream[Path],
    ) -> None:
        if not folders:
            return
        while True:
            try:
                async for changes in watchfiles.awatch(
                    *folders,
                    watch_filter=None,
                    step=20,
                    debounce=100,
                    force_polling=self._polling,
                    recursive=recursive,
                ):
                    for _, name in changes:
                        if _concerns(Path(name), watched):
                            await send.send(Path(name))
            except OSError as error:
                if self._polling:
                    raise
                self._polling = True
                await self._trouble(f"files cannot be watched ({error}); they are polled instead")


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
