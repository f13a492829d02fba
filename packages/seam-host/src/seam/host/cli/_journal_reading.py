"""What the commands under `seam journal` do, through the methods of the definition alone."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import typer
from pydantic import TypeAdapter, ValidationError

from seam.host._journal_only import open_journal
from seam.host._writing import write_new
from seam.host.cli._entry_text import STYLES, entry_text
from seam.host.cli._exits import Exit
from seam.host.cli._interrupt import run_interruptible
from seam.host.cli._screen import err, out, print_json
from seam.host.cli._visible import visible
from seam.host.journal_timeline import timeline_page
from seam.kernel import Seconds
from seam.tools_def import Entry, Journal, JournalQuery, TurnSummary

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_SECONDS: TypeAdapter[float] = TypeAdapter(Seconds)


def query(
    *,
    agent: str | None,
    session: str | None,
    tool: str | None,
    outcome: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
) -> JournalQuery:
    """The query that the options ask for."""
    return JournalQuery.model_validate(
        {
            "agent": agent,
            "session": session,
            "tool": tool,
            "outcome": outcome,
            "since": _time(since, "--since"),
            "until": _time(until, "--until"),
            "limit": limit,
        }
    )


def _time(given: str | None, option: str) -> datetime | None:
    if given is None:
        return None
    try:
        return datetime.now(UTC) - timedelta(seconds=_SECONDS.validate_python(given))
    except ValidationError:
        pass  # not a duration: it must be a time
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is neither a duration (2h) nor a time (2026-05-01T12:00)", param_hint=option
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _with_journal(deployment: Path, use: Callable[[Journal], Awaitable[int]]) -> int:
    async def main() -> int:
        async with open_journal(deployment) as journal:
            return await use(journal)

    return anyio.run(main)


def list_turns(deployment: Path, asked: JournalQuery, *, as_json: bool) -> int:
    """Print turns."""

    async def use(journal: Journal) -> int:
        turns = await journal.turns(asked)
        if as_json:
            print_json([turn.model_dump(mode="json") for turn in turns])
        elif turns:
            _show_turns(turns)
        else:
            err().print(f"no turn matches; an entry of this journal {_lasts(journal)}", style="dim")
        return Exit.DONE

    return _with_journal(deployment, use)


def _lasts(journal: Journal) -> str:
    return f"survives this: {journal.durability}"


def _show_turns(turns: object) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("started (UTC)", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("calls", justify="right")
    table.add_column("agent", overflow="fold")
    table.add_column("turn", overflow="fold")
    for turn in cast("list[TurnSummary]", turns):
        state = Text(turn.state, STYLES.get(turn.state, ""))
        if turn.unsettled:
            state.append(f", {len(turn.unsettled)} unknown", "red")
        table.add_row(
            f"{turn.started:%Y-%m-%d %H:%M:%S}",
            state,
            str(turn.calls),
            visible(turn.agent),
            _short(turn.turn),
        )
    out().print(table)


def show_turn(deployment: Path, wanted: str, *, html: Path | None, as_json: bool) -> int:
    """Print the entries of one turn, or write them as a page."""

    async def use(journal: Journal) -> int:
        turn = await _find(journal, wanted)
        if turn is None:
            err().print(f"seam: no turn of this journal is or begins with {wanted!r}", style="red")
            return Exit.ERROR
        entries = await journal.read(turn)
        if html is not None:
            return _write_page(html, turn, entries)
        if as_json:
            print_json([entry.model_dump(mode="json") for entry in entries])
        else:
            out().print(turn, style="bold")
            for entry in entries:
                _print(entry, with_turn=False)
        return Exit.DONE

    return _with_journal(deployment, use)


def _write_page(file: Path, turn: str, entries: Sequence[Entry]) -> int:
    try:
        write_new(file, timeline_page(entries), replace=True)
    except OSError as error:
        err().print(f"seam: {file} cannot be written: {error.strerror}", style="red")
        return Exit.ERROR
    out().print(f"wrote {file}: the timeline of {turn}", style="green")
    return Exit.DONE


async def _find(journal: Journal, wanted: str) -> str | None:
    if wanted == "last":
        newest = await journal.turns(JournalQuery(limit=1))
        return newest[-1].turn if newest else None
    if await journal.read(wanted):
        return wanted
    found = [turn.turn for turn in await journal.turns(JournalQuery()) if turn.turn.startswith(wanted)]
    if len(found) > 1:
        raise typer.BadParameter(f"{len(found)} turns begin with {wanted!r}", param_hint="TURN")
    return found[0] if found else None


def verify_journal(deployment: Path, *, as_json: bool) -> int:
    """Print what was found."""

    async def use(journal: Journal) -> int:
        damage = await journal.verify()
        if as_json:
            print_json({"damage": [item.model_dump(mode="json") for item in damage]})
        for item in damage:
            err().print(f"{item.place}: {item.problem}", style="red")
        if not damage and not as_json:
            out().print("every chain is whole", style="green")
        return Exit.FINDINGS if damage else Exit.DONE

    return _with_journal(deployment, use)


def export_entries(deployment: Path, asked: JournalQuery, output: Path | None) -> int:
    """Write entries as JSON lines."""

    async def use(journal: Journal) -> int:
        target = sys.stdout if output is None else output.open("w", encoding="utf-8")
        count = 0
        try:
            async with aclosing(cast("AsyncGenerator[Entry]", journal.query(asked))) as entries:
                async for entry in entries:
                    target.write(entry.model_dump_json() + "\n")
                    count += 1
        finally:
            if output is not None:
                target.close()
        err().print(f"{count} entries", style="dim")
        return Exit.DONE

    try:
        return _with_journal(deployment, use)
    except OSError as error:
        err().print(f"seam: {output} cannot be written: {error.strerror}", style="red")
        return Exit.ERROR


def tail_entries(deployment: Path, asked: JournalQuery, *, follow: bool, as_json: bool) -> int:
    """Print entries, and new ones as they arrive."""

    async def main() -> int:
        async with open_journal(deployment) as journal:
            found = journal.follow(asked) if follow else journal.query(asked)
            async with aclosing(cast("AsyncGenerator[Entry]", found)) as entries:
                async for entry in entries:
                    if as_json:
                        sys.stdout.write(entry.model_dump_json() + "\n")
                        sys.stdout.flush()
                    else:
                        _print(entry, with_turn=True)
        return Exit.DONE

    code, interrupt = run_interruptible(main)
    return Exit.DONE if interrupt.signal is not None else code


def _print(entry: Entry, *, with_turn: bool) -> None:
    text, style = entry_text(entry)
    place = f"{_short(entry.turn)} " if with_turn else ""
    out().print(f"{entry.time:%H:%M:%S.%f}"[:12] + f" {place}{entry.sequence:>3} {text}", style=style or None)


def _short(turn: str) -> str:
    """Enough of an id to tell turns apart by eye."""
    name, _, rest = turn.rpartition("-" if "-" in turn else ":")
    return f"{name}-{rest[:8]}" if name else turn[:12]
