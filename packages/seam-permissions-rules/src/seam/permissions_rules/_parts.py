"""What a call would do, taken apart: a rule speaks of one part, an allow needs all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seam.permissions_rules._words import Word, shown


@dataclass(frozen=True)
class CommandPart:
    """One simple command.

    Attributes:
        words: program and arguments.
        needed: whether an allow has to cover it; False for a wrapper whose inner command is known and counts instead.
        possible: it is not sure that it runs: words of another command, or a text among them, that may be one.
        tail: each of its words may be where the possible command begins.
        loose: then also a word that is not known may be its program.
        outer: the command that runs this one, with `offset` the place of its first word there; offset None: from a text.
    """

    words: tuple[Word, ...]
    needed: bool = True
    possible: bool = False
    tail: bool = False
    loose: bool = False
    outer: CommandPart | None = None
    offset: int | None = None

    @property
    def text(self) -> str:
        return shown(self.words)


@dataclass(frozen=True)
class PathPart:
    """A path that is read or written; `path` is absolute, or None where only the run decides.

    Attributes:
        relative: it was written relative to the working directory.
    """

    kind: Literal["read", "write"]
    path: str | None
    source: str
    needed: bool = True
    relative: bool = False

    @property
    def text(self) -> str:
        return f"{self.kind} {self.path or self.source}"


@dataclass(frozen=True)
class ConnectPart:
    """A network target."""

    host: str | None
    port: int | None
    needed: bool = True

    @property
    def text(self) -> str:
        return f"connect to {self.host or 'an unknown host'}" + (
            f":{self.port}" if self.port is not None else ""
        )


@dataclass(frozen=True)
class WidenPart:
    """A wider sandbox mode."""

    mode: str
    needed: bool = True

    @property
    def text(self) -> str:
        return f"widen to {self.mode}"


@dataclass(frozen=True)
class UnknownPart:
    """Something that cannot be understood.

    Attributes:
        why: a clause for a person.
        command: the command that is not understood, where a pattern that spells it out whole, without a wildcard, may cover
            it; otherwise only a rule for every call of the tool does.
    """

    why: str
    source: str
    needed: bool = True
    command: CommandPart | None = None

    @property
    def text(self) -> str:
        return self.source if len(self.source) <= SHOWN else self.source[:SHOWN] + "..."


SHOWN = 120
"""Characters of an unknown part that a person is shown."""

Part = CommandPart | PathPart | ConnectPart | WidenPart | UnknownPart
