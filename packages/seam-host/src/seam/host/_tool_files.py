"""The convention folder `tools/`: each `<name>.py` or `<name>/` is a plugin that contributes its `@tool` functions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from seam.host._outcomes import RowProblem
from seam.host._slots import RowPlugin
from seam.host._source_folder import SourceFinder, content_digest
from seam.kernel import Context, NoConfig, Plugin
from seam.tools_def import PromptNote, Tool


@dataclass(frozen=True)
class ToolFile:
    """One entry of the folder.

    Attributes:
        name: the file's stem or the folder's name.
        path: what changes rebuild it: the file, or the whole folder.
        start: the file that is executed.
    """

    name: str
    path: Path
    start: Path


def tool_files(folder: Path) -> list[ToolFile]:
    """The entries of `tools/`, by name; names that start with `_` or `.` are not entries. A missing folder has none."""
    if not folder.is_dir():
        return []
    found: list[ToolFile] = []
    for path in sorted(folder.iterdir(), key=lambda p: p.name):
        if path.name.startswith(("_", ".")):
            continue
        if path.is_dir() and (path / "__init__.py").is_file():
            found.append(ToolFile(path.name, path, path / "__init__.py"))
        elif path.suffix == ".py" and path.is_file():
            found.append(ToolFile(path.stem, path, path))
    return found


class _Module:
    """A loaded file: importable while it is what the folder holds, or while an instance of it runs."""

    def __init__(self, finder: SourceFinder, digest: str, start: Path) -> None:
        self._finder = finder
        self.digest = digest
        self.module = finder.load(start)
        self._current = True
        self._running = 0

    def replaced(self) -> None:
        """The folder holds something else now."""
        self._current = False
        self._forget_if_unused()

    def started(self) -> None:
        """An instance runs."""
        self._running += 1

    def stopped(self) -> None:
        """An instance is gone."""
        self._running -= 1
        self._forget_if_unused()

    def _forget_if_unused(self) -> None:
        if not self._current and not self._running:
            self._finder.forget(self.module.__name__)


class ToolFileLoader:
    """Turns entries into rows; keeps what did not change, so that an unrelated reload carries it over."""

    def __init__(self, finder: SourceFinder) -> None:
        self._finder = finder
        self._loaded: dict[Path, tuple[_Module, RowPlugin]] = {}

    def rows(self, folder: Path) -> tuple[list[RowPlugin], list[RowProblem]]:
        """The rows of the folder, and a problem for each entry that cannot be loaded (with file and line where known)."""
        rows: list[RowPlugin] = []
        problems: list[RowProblem] = []
        entries = tool_files(folder)
        for entry in entries:
            try:
                rows.append(self._row(entry))
            except (Exception, SystemExit) as error:  # whatever the file's own code raises is about the file
                problems.append(_problem(entry, error))
        for path in set(self._loaded) - {entry.path for entry in entries}:
            self._loaded.pop(path)[0].replaced()
        return rows, problems

    def _row(self, entry: ToolFile) -> RowPlugin:
        digest = content_digest(entry.path)
        known = self._loaded.get(entry.path)
        if known is not None and known[0].digest == digest:
            return known[1]
        loaded = _Module(self._finder, digest, entry.start)
        try:
            plugin = _plugin(entry, loaded)
        except ValueError:
            loaded.replaced()
            raise
        row = RowPlugin(
            table=f"tools/{entry.path.name}",
            plugin=plugin,
            config={},
            distribution=f"{entry.path.name} {digest[:16]}",
            salt=digest,
        )
        if known is not None:
            known[0].replaced()
        self._loaded[entry.path] = (loaded, row)
        return row


def _plugin(entry: ToolFile, loaded: _Module) -> Plugin[BaseModel]:
    offered = [value for value in vars(loaded.module).values() if isinstance(value, (Tool, PromptNote))]
    if not any(isinstance(item, Tool) for item in offered):
        raise ValueError("defines no tool; write an async function with @tool(...) from seam.tools_def")

    async def set_up(ctx: Context, config: BaseModel) -> AsyncIterator[None]:
        loaded.started()
        try:
            for item in offered:
                ctx.contribute(item)
            yield
        finally:
            loaded.stopped()

    return Plugin[BaseModel](
        name=f"tools/{entry.name}",
        requires=(),
        optional=(),
        provides=(),
        config=NoConfig,
        set_up=set_up,
        module=loaded.module.__name__,
        doc=loaded.module.__doc__ or "",
    )


def _problem(entry: ToolFile, error: BaseException) -> RowProblem:
    place = str(entry.start)
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}:{error.lineno}"
    else:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename.startswith(str(entry.path)):
                place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
    return RowProblem(
        row=f"tools/{entry.path.name}",
        text=f"{place}: {type(error).__name__}: {error}",
        remedy="mend the file; the published generation runs on",
        kind="failed",
    )
