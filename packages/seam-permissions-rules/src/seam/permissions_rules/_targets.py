"""Patterns over paths and network targets."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from dataclasses import dataclass
from functools import cached_property

from seam.permissions_rules._command_pattern import Match


def absolute(path: str, start: str) -> str:
    """A path of the world without `.` and `..`, by its text alone: what a symlink points to is the sandbox's business."""
    joined = posixpath.normpath(posixpath.join(start, path))
    return "/" + joined.lstrip("/") if joined.startswith("/") else joined


@dataclass(frozen=True)
class PathPattern:
    """`docs/**`: `*` and `?` stay within one folder, `**` goes through any number of them. Relative ones start at the workspace."""

    text: str

    def __post_init__(self) -> None:
        if not self.text or "\0" in self.text:
            raise ValueError("a path pattern is not empty and holds no NUL byte")
        if self.text.startswith("~"):
            raise ValueError(f"{self.text!r}: `~` means nothing in another world; write the path out")

    def match(self, path: str | None, workspace: str) -> Match:
        """Against an absolute path; None is one that only the run decides."""
        if path is None:
            return Match.MAYBE
        return Match.YES if self._expression(workspace).fullmatch(path) else Match.NO

    def _expression(self, workspace: str) -> re.Pattern[str]:
        return re.compile(_translated(absolute(self.text, workspace)), re.DOTALL)


def _translated(pattern: str) -> str:
    out = ""
    for part in re.split(r"(/\*\*/|/\*\*\Z|\*|\?)", pattern):
        match part:
            case "/**/":
                out += "/(?:.*/)?"
            case "/**":
                out += "(?:/.*)?"  # the folder itself, too
            case "*":
                out += "[^/]*"
            case "?":
                out += "[^/]"
            case _:
                out += re.escape(part)
    return out


@dataclass(frozen=True)
class HostPattern:
    """`*.example.org:443`; without a port it means every port. An IPv6 address stands in brackets."""

    text: str

    def __post_init__(self) -> None:
        if not self._parts:
            raise ValueError(
                f"{self.text!r} is not a host, or host:port; write `*.example.org:443`, `[::1]:80`"
            )

    @cached_property
    def _parts(self) -> tuple[str, int | None] | None:
        found = re.fullmatch(r"(\[[0-9a-fA-F:.%*]+\]|[^\s:/\[\]]+)(?::(\d{1,5}|\*))?", self.text)
        if found is None:
            return None
        host, port = found.groups()
        return host.strip("[]").lower().rstrip("."), int(port) if port and port != "*" else None

    def match(self, host: str | None, port: int | None) -> Match:
        """Against a target; None is what only the run decides."""
        assert self._parts is not None  # __post_init__
        wanted_host, wanted_port = self._parts
        if host is None:
            return Match.MAYBE
        if not fnmatch.fnmatchcase(host.strip("[]").lower().rstrip("."), wanted_host):
            return Match.NO
        if wanted_port is None:
            return Match.YES
        if port is None:
            return Match.MAYBE
        return Match.YES if port == wanted_port else Match.NO
