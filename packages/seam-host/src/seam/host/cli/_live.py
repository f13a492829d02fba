"""What a call shows while it runs."""

from __future__ import annotations

import sys

from seam.host.cli._screen import err
from seam.host.cli._visible import printable
from seam.tools_def import Progress


class LiveOutput:
    """Writes output as it arrives, and progress beside it.

    Attributes:
        shown: what was written so far, so that a result need not repeat it.
    """

    def __init__(self) -> None:
        self.shown = ""
        self._line = ""

    def __call__(self, progress: Progress) -> None:
        """A `ProgressSink`."""
        if progress.kind == "output":
            text = printable(progress.text)
            stream = sys.stderr if progress.stream == "stderr" else sys.stdout
            stream.write(text)
            stream.flush()
            self.shown += text
            return
        of = "" if progress.total is None else f" of {progress.total:g}"
        done = "" if progress.done is None else f" ({progress.done:g}{of})"
        line = f"{printable(progress.text)}{done}"
        if line != self._line:
            self._line = line
            err().print(f"... {line}", style="dim")

    def rest_of(self, text: str) -> str:
        """What of a result has not been on the screen yet."""
        shown = self.shown.strip()
        if not shown or shown not in text:
            return text
        before, _, after = text.partition(shown)
        return "\n".join(part for part in (before.strip(), after.strip()) if part)
