"""The bound: beyond it the oldest turns that are over are forgotten, each as a whole, and the chain says so."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence

from seam.journal_sqlite._links import FileState
from seam.journal_sqlite._presence import Presence
from seam.journal_sqlite._values import ValueFolder

LOW_WATER = 0.8
"""Part of the bound that is left when a round of forgetting ends, so that the next round is far."""
TURNS_AT_ONCE = 32
"""Turns in one transaction, so that appends do not wait long behind it."""


class Rotation:
    """Forgets turns. Lives in the writer's thread only."""

    def __init__(
        self, connection: sqlite3.Connection, presence: Presence, values: ValueFolder, max_bytes: int
    ) -> None:
        self._connection = connection
        self._presence = presence
        self._values = values
        self._high = max_bytes
        self._low = int(max_bytes * LOW_WATER)
        self._running = False

    def keep_within(self) -> None:
        """One step towards the bound, where it is passed.

        A turn that a living writer has open stays. Of a writer that is gone, what it left open is over too.
        """
        try:
            self._step()
        except (sqlite3.Error, OSError) as error:
            # a lock or a full disk: appends meet the same and tell their callers; the next append brings the next try
            logging.getLogger("seam.journal_sqlite").warning("forgetting old turns failed: %s", error)

    def _step(self) -> None:
        (weight,) = self._connection.execute("SELECT bytes FROM state").fetchone()
        self._running = weight > (self._low if self._running else self._high)
        if not self._running:
            return
        over = self._over()
        if not over:
            self._running = False
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            state = FileState.load(self._connection)
            for ordinal in over:
                if state.bytes <= self._low:
                    break
                self._forget(ordinal, state)
            self._trim(state)
            state.save(self._connection)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self.remove_unused()

    def _over(self) -> Sequence[int]:
        writers = [writer for (writer,) in self._connection.execute("SELECT DISTINCT writer FROM turns")]
        alive = [writer.decode() for writer in writers if self._presence.alive(writer.decode())]
        found = self._connection.execute(
            f"SELECT ordinal FROM turns WHERE state != 'open' OR writer NOT IN ({', '.join('?' * len(alive))})"
            " ORDER BY ordinal LIMIT ?",
            (*alive, TURNS_AT_ONCE),
        )
        return [ordinal for (ordinal,) in found]

    def _forget(self, ordinal: int, state: FileState) -> None:
        row = self._connection.execute(
            "SELECT turn, entries, head, bytes FROM turns WHERE ordinal = ?", (ordinal,)
        ).fetchone()
        if row is None:
            return  # another process was quicker
        turn, entries, head, weight = row
        state.add_link(self._connection, "forgotten", turn, entries, head)
        state.bytes -= weight
        moved = "SELECT id FROM entries WHERE turn = ? AND moved > 0"
        self._connection.execute(
            f"INSERT OR IGNORE INTO unused_values SELECT digest FROM moved_values WHERE entry IN ({moved})",
            (ordinal,),
        )
        self._connection.execute(f"DELETE FROM moved_values WHERE entry IN ({moved})", (ordinal,))
        self._connection.execute("DELETE FROM entries WHERE turn = ?", (ordinal,))
        self._connection.execute("DELETE FROM turns WHERE ordinal = ?", (ordinal,))

    def _trim(self, state: FileState) -> None:
        """Take links from the front up to the oldest turn that is left; a new link says up to where."""
        (oldest,) = self._connection.execute("SELECT min(ordinal) FROM turns").fetchone()
        through = (state.next_link if oldest is None else oldest) - 1
        if through <= state.base:
            return
        (link,) = self._connection.execute("SELECT link FROM links WHERE number = ?", (through,)).fetchone()
        state.add_link(self._connection, "trimmed", b"", through, link)
        state.base, state.base_link = through, link
        self._connection.execute("DELETE FROM links WHERE number <= ?", (through,))

    def remove_unused(self) -> None:
        """Remove value files that no entry needs any more.

        Raises:
            sqlite3.Error, OSError: not all could be removed; the rest stays listed.
        """
        if self._connection.execute("SELECT 1 FROM unused_values LIMIT 1").fetchone() is None:
            return
        self._connection.execute("BEGIN IMMEDIATE")  # nobody can begin to need one of them meanwhile
        try:
            for (digest,) in self._connection.execute(
                "SELECT digest FROM unused_values WHERE digest NOT IN (SELECT digest FROM moved_values)"
            ).fetchall():
                self._values.remove(digest)
            self._connection.execute("DELETE FROM unused_values")
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
