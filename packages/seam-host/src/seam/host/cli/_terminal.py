"""The person at the terminal: asked on standard error, answering on standard input."""

from __future__ import annotations

import os
import sys

import anyio

from seam.host.cli._screen import err


class TerminalClosed(Exception):
    """Standard input ended before an answer came."""


class Terminal:
    """One person. Several questions at once wait for each other."""

    def __init__(self) -> None:
        self._lock = anyio.Lock()
        self._left = b""

    @staticmethod
    def there() -> bool:
        """Whether somebody can be asked: both ends are a terminal."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def lock(self) -> anyio.Lock:
        """Held while one question is open."""
        return self._lock

    def say(self, text: str, style: str = "") -> None:
        """Print a paragraph."""
        err().print(text, style=style or None)

    async def read(self, prompt: str) -> str:
        """Ask for a line; cancelled without leaving a thread behind.

        Raises:
            TerminalClosed: the input ended (Ctrl-D).
        """
        sys.stderr.write(prompt)
        sys.stderr.flush()
        while b"\n" not in self._left:
            await anyio.wait_readable(sys.stdin.fileno())
            chunk = os.read(sys.stdin.fileno(), 4096)
            if not chunk:
                sys.stderr.write("\n")
                raise TerminalClosed
            self._left += chunk
        line, _, self._left = self._left.partition(b"\n")
        return line.decode(errors="replace").strip()
