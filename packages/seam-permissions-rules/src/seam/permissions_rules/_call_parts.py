"""From a resolved call to its parts."""

from __future__ import annotations

from collections.abc import Sequence

from seam.permissions_rules._parts import ConnectPart, Part, PathPart, UnknownPart, WidenPart
from seam.permissions_rules._shell import ShellReader
from seam.permissions_rules._targets import absolute
from seam.permissions_rules._words import literal
from seam.tools_def import Connect, Read, ResolvedCall, Run, Widen, Write

READ_AS_BASH = ("bash", "sh", "dash", "ksh", "ash")
"""Dialects whose text the grammar of bash understands."""


class InvalidAction(Exception):
    """An action that no program could be given; the text is a sentence."""


def parts_of(resolved: ResolvedCall, workspace: str, reader: ShellReader) -> Sequence[Part]:
    """Everything that the call would do.

    Raises:
        InvalidAction: it holds a NUL byte.
    """
    parts: list[Part] = []
    for action in resolved.actions:
        match action:
            case Run():
                parts += _run(action, reader)
            case Read(path=path):
                parts.append(PathPart("read", absolute(_clean(path, "a path"), workspace), path))
            case Write(path=path):
                parts.append(PathPart("write", absolute(_clean(path, "a path"), workspace), path))
            case Connect(host=host, port=port):
                parts.append(ConnectPart(_clean(host, "a host"), port))
            case Widen(mode=mode):
                parts.append(WidenPart(mode))
    return parts


def _run(action: Run, reader: ShellReader) -> Sequence[Part]:
    workdir = _clean(action.workdir, "the working directory")
    if action.dialect == "argv":
        words = tuple(literal(_clean(word, "a word")) for word in action.argv)
        return reader.words(words, workdir)
    text = _clean(action.text, "the command")
    parts = list(reader.read(text, workdir))
    if action.dialect not in READ_AS_BASH:
        # what the grammar of bash finds may be denied, but another shell may find something else
        parts.append(UnknownPart(f"{action.dialect} is a shell that is not understood here", text))
    return parts


def _clean(text: str, what: str) -> str:
    if "\0" in text:
        raise InvalidAction(
            f"invalid command: {what} holds a NUL byte, which no program can be given; leave it out"
        )
    return text
