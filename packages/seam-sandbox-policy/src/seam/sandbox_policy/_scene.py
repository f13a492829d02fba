"""The machine as one call of the policy sees it: every path is looked at once, and never remembered for the next."""

# Paths stay strings: they may hold any bytes, and resolving a policy must stay cheap.

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from seam.sandbox_policy._canonical import Places
from seam.sandbox_policy._memory import Memory


class Look:
    """One look at the file system. What it answers twice was the same both times, so that no rule is made of a
    path that another rule saw differently."""

    def __init__(self) -> None:
        self._facts: dict[str, os.stat_result | None] = {}
        self._real: dict[str, str] = {"": ""}

    def facts(self, path: str) -> os.stat_result | None:
        """As lstat(2), `None` where there is nothing, or nothing that the caller can see."""
        if path not in self._facts:
            try:
                self._facts[path] = os.lstat(path)
            except OSError:
                self._facts[path] = None
        return self._facts[path]

    def canonical(self, path: str) -> str:
        """Every symlink followed as far as the path exists; the rest is kept as it is written.

        Args:
            path: absolute, without `.` and `..`.
        """
        found = self._real.get(path)
        if found is None:
            parent, _, name = path.rpartition("/")
            above = self.canonical(parent)
            here = f"{above}/{name}"
            if above and self.facts(above) is None:
                self._facts[here] = None  # nothing can be below what is not there
            facts = self.facts(here)
            found = os.path.realpath(here) if facts is not None and stat.S_ISLNK(facts.st_mode) else here
            self._real[path] = found
        return found


@dataclass(frozen=True)
class Scene:
    """What the lists of one call are made of.

    Attributes:
        places: where `~` and relative paths start.
        memory: of the service.
        look: of this call.
    """

    places: Places
    memory: Memory
    look: Look = field(default_factory=Look)

    def expand(self, written: str) -> str:
        """An absolute path, see `expand`.

        Raises:
            BadPath: it cannot be one.
        """
        return self.memory.expand(written, self.places)
